#if !defined(__linux__) || !defined(__LP64__)
#error "ondeck runs on 64-bit Linux only"
#endif

/* <time.h> has it only in C11, in C++, and for programs that ask for POSIX. */
struct timespec;

/* A mutex that is free, and a condition variable that no thread waits for. */
#define ONDECK_MUTEX_INIT { 0 }
#define ONDECK_COND_INIT { 0 }

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
