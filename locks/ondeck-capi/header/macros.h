#if defined(__linux__) && !defined(__LP64__) &&                                                    \
    (!defined(__GLIBC__) || (defined(_TIME_BITS) && _TIME_BITS == 64))
#error "on 32 bits ondeck takes times as glibc has them without _TIME_BITS=64"
#endif

#if defined(_WIN32)
/* As in MinGW's <time.h>. The monotonic clock is QueryPerformanceCounter. */
#ifndef CLOCK_REALTIME
#define CLOCK_REALTIME 0
#endif
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif
#endif

/* <time.h> has it only in C11, in C++, and for programs that ask for POSIX. */
struct timespec;

/* Initial values: locks that are free, and that no thread waits for. */
#define ONDECK_MUTEX_INIT { 0 }
#define ONDECK_COND_INIT { 0 }
#define ONDECK_RWLOCK_INIT { 0 }
#define ONDECK_SEM_INIT(permits) { (uint32_t)(permits) * ONDECK_SEM_PERMIT }
#define ONDECK_ONCE_INIT { 0 }
#define ONDECK_BARRIER_INIT(threads) { 0, (uint32_t)(threads) }

#if defined(__cplusplus) && __cplusplus >= 201103L
#define ONDECK_NOTHROW noexcept
#elif defined(__GNUC__)
#define ONDECK_NOTHROW __attribute__((__nothrow__))
#else
#define ONDECK_NOTHROW
#endif

#if defined(__GNUC__)
#define ONDECK_MUST_USE __attribute__((__warn_unused_result__))
#else
#define ONDECK_MUST_USE
#endif
