/*
 * ondeck: a mutex of one byte that does not collapse under contention, and its condition variable.
 * docs/c.md of the project is the manual.
 *
 * Written by cbindgen from the source in Rust; the inlined functions at the end are written by
 * hand. Do not edit: ONDECK_WRITE_HEADER=1 cargo test -p ondeck-capi --test header
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#ifndef ONDECK_H
#define ONDECK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__linux__) && !defined(__LP64__) &&                                                    \
    (!defined(__GLIBC__) || (defined(_TIME_BITS) && _TIME_BITS == 64))
#error "on 32 bits ondeck takes times as glibc has them without _TIME_BITS=64"
#endif

#if defined(_WIN32)
/* As in MinGW's <time.h>. The monotonic clock is that of QueryPerformanceCounter. */
#ifndef CLOCK_REALTIME
#define CLOCK_REALTIME 0
#endif
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 1
#endif
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

/*
 The number of the ABI of the inlined paths, which `ondeck_abi()` returns too. It is the number
 in the name of the parking table: where a program was compiled with another one, no library is
 found that has its table, and the linker or the loader says so.
 */
#define ONDECK_ABI 6

/*
 The number of bits of an address's hash: the parking table begins with 2 to the power of this
 unlock modes.
 */
#define ONDECK_BUCKET_BITS 10

/*
 An address is multiplied by this, modulo 2 to the power of 64. The upper bits are its bucket.
 */
#define ONDECK_BUCKET_FACTOR 11400714819323198485ull

/*
 The unlock mode with which an inlined unlock is done.
 */
#define ONDECK_UNLOCK_QUIET 0

/*
 A mutex: one byte. It begins as `ONDECK_MUTEX_INIT`, which is zero; so memory that is all zeros
 has free mutexes in it, and a static one needs no initializer. It has no other resources: it may
 be freed without `ondeck_mutex_destroy` while no thread uses it, and by a thread that has just
 unlocked it.

 It is of one process, and not recursive: a thread that locks it twice waits for ever. The thread
 that has locked it unlocks it. A copy of it is another mutex.
 */
typedef struct ondeck_mutex_t {
  /*
   0 while it is free. For the functions of this header only.
   */
  uint8_t byte;
} ondeck_mutex_t;

/*
 A condition variable for `ondeck_mutex_t`: one byte. It begins as `ONDECK_COND_INIT`, which is
 zero; so memory that is all zeros has condition variables in it, and a static one needs no
 initializer. It may be freed when no thread waits, and by a thread that it has notified last.

 It is of one process. Its waiters may use different mutexes, even at the same time. A copy of it
 is another one.
 */
typedef struct ondeck_cond_t {
  /*
   0 while no thread waits. For the functions of this header only.
   */
  uint8_t byte;
} ondeck_cond_t;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/*
 The number of the ABI that this library has: `ONDECK_ABI` of the header that belongs to it.

 For programs that load the library by dlopen(3). Others are refused by the linker or the loader
 if they were compiled with another one.
 */
uint32_t ondeck_abi(void) ONDECK_NOTHROW;

/*
 The version of this library, as "0.1.0".
 */
const char *ondeck_version(void) ONDECK_NOTHROW;

/*
 Does now what locks otherwise do when they first need it: registers the process with
 membarrier(2), has the parking table wiped in children of forks, measures the rate of the clock.

 No program has to call this. It is for those that cannot have one slow unlock or wait. Any
 thread may call it, at any time, and more than once. It takes microseconds in a process with one
 thread, and milliseconds in others.
 */
void ondeck_prepare(void) ONDECK_NOTHROW;

/*
 Makes a mutex free, whatever was there before.

 As an assignment of `ONDECK_MUTEX_INIT`; for memory that is used again under ThreadSanitizer,
 which is told so.

 Safety: `mutex` points to memory for one, which no thread uses.
 */
void ondeck_mutex_init(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Says that a mutex is not used any more. Returns 0, or EBUSY if it is locked: then it is still a
 mutex.

 Frees nothing, because a mutex has nothing but its byte.

 Safety: `mutex` points to a mutex.
 */
int ondeck_mutex_destroy(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Waits until the mutex is the calling thread's. Returns 0, always.

 Everything before an unlock happens before what follows the next lock. Not a cancellation point;
 a signal that the thread handles does not end it.

 Safety: `mutex` points to a mutex that the calling thread has not locked.
 */
int ondeck_mutex_lock(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Locks the mutex if it is free. Returns 0, or EBUSY if a thread has it.

 Safety: `mutex` points to a mutex.
 */
ONDECK_MUST_USE int ondeck_mutex_trylock(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 As `ondeck_mutex_clocklock` with `CLOCK_REALTIME`.

 Safety: As for `ondeck_mutex_clocklock`.
 */
ONDECK_MUST_USE
int ondeck_mutex_timedlock(struct ondeck_mutex_t *mutex,
                           const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Waits until the mutex is the calling thread's, or until the clock is at `deadline`, an absolute
 time.

 `clock` is `CLOCK_MONOTONIC` or `CLOCK_REALTIME`. A free mutex is locked even if the deadline
 has passed. If the real time is set while the thread waits, it notices within a second.

 Returns 0; ETIMEDOUT; or EINVAL if the clock is another one, or if the mutex is not free and the
 nanoseconds of the deadline are not between 0 and 999,999,999. The mutex is the caller's after a
 0 only.

 Safety: `mutex` points to a mutex that the calling thread has not locked, `deadline` to a time.
 */
ONDECK_MUST_USE
int ondeck_mutex_clocklock(struct ondeck_mutex_t *mutex,
                           int clock,
                           const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Unlocks the mutex. Returns 0, always.

 The mutex is not touched after another thread can have locked it: that thread may unlock and
 free it.

 Safety: `mutex` points to a mutex that the calling thread has locked.
 */
int ondeck_mutex_unlock(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 The rest of an inlined lock, which has found the mutex locked.

 Safety: As for `ondeck_mutex_lock`.
 */
void ondeck_mutex_lock_contended(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 The whole of an unlock, for an inlined one that has found another unlock mode than
 `ONDECK_UNLOCK_QUIET`.

 Safety: As for `ondeck_mutex_unlock`.
 */
void ondeck_mutex_unlock_contended(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 The rest of an inlined unlock, which has stored 0 and then found another unlock mode than
 `ONDECK_UNLOCK_QUIET`. The mutex may be gone by now: `mutex` is an address.
 */
void ondeck_mutex_unlocked(const struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Makes a condition variable that no thread waits for, whatever was there before: as an assignment
 of `ONDECK_COND_INIT`.

 Safety: `cond` points to memory for one, which no thread uses.
 */
void ondeck_cond_init(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Says that a condition variable is not used any more. Returns 0, or EBUSY if a thread waits: then
 it is still one.

 Safety: `cond` points to a condition variable.
 */
int ondeck_cond_destroy(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Unlocks the mutex, sleeps until the thread is notified, and locks the mutex again. Returns 0,
 always.

 The caller's condition may have changed again before it has the mutex: wait in a loop that asks
 for it. No cancellation point.

 Safety: `cond` points to a condition variable, `mutex` to a mutex that the calling thread has locked.
 */
int ondeck_cond_wait(struct ondeck_cond_t *cond, struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 As `ondeck_cond_clockwait` with `CLOCK_REALTIME`.

 Safety: As for `ondeck_cond_clockwait`.
 */
int ondeck_cond_timedwait(struct ondeck_cond_t *cond,
                          struct ondeck_mutex_t *mutex,
                          const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Unlocks the mutex, sleeps until the thread is notified or the clock is at `deadline`, an
 absolute time, and locks the mutex again, however long that takes.

 `clock` is `CLOCK_MONOTONIC` or `CLOCK_REALTIME`. A wait by `CLOCK_REALTIME` for more than a
 second may return 0 after each second although the thread was not notified: so that a clock that
 is set meanwhile is noticed.

 Returns 0; ETIMEDOUT, and the thread has not used up a notification; or EINVAL if the clock is
 another one or the nanoseconds of the deadline are not between 0 and 999,999,999: then the mutex
 was never unlocked. The mutex is the caller's in each case.

 Safety: As for `ondeck_cond_wait`; `deadline` points to a time.
 */
int ondeck_cond_clockwait(struct ondeck_cond_t *cond,
                          struct ondeck_mutex_t *mutex,
                          int clock,
                          const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Notifies one waiter, if there is one. Returns 0, always. A load if no thread waits.

 Safety: `cond` points to a condition variable.
 */
int ondeck_cond_signal(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Notifies every waiter. Returns 0, always. A load if no thread waits.

 Safety: `cond` points to a condition variable.
 */
int ondeck_cond_broadcast(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 The rest of an inlined signal, which has found that threads may wait.

 Safety: As for `ondeck_cond_signal`.
 */
void ondeck_cond_signal_waiters(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 The rest of an inlined broadcast, which has found that threads may wait.

 Safety: As for `ondeck_cond_broadcast`.
 */
void ondeck_cond_broadcast_waiters(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

#ifdef __cplusplus
}  // extern "C"
#endif  /* __cplusplus */

#endif  /* ONDECK_H */

/*
 * What follows takes the place of calls of functions above, by the same names. A program that takes
 * the address of one gets the library's function. With ONDECK_NO_INLINE, and on other systems than
 * 64-bit Linux, every lock and unlock is a call.
 */
#if defined(__SANITIZE_THREAD__)
#define ONDECK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ONDECK_TSAN 1
#endif
#endif

#if defined(ONDECK_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#ifdef __cplusplus
#define ONDECK_NOEXCEPT ONDECK_NOTHROW
extern "C" {
#else
/* A definition in C has no attributes behind its parameters. */
#define ONDECK_NOEXCEPT
#endif

#if defined(ONDECK_TSAN)
/*
 * ThreadSanitizer is told of each lock and unlock. It cannot see into the library, which has not
 * been compiled for it, so nothing is inlined: each lock and unlock is a call.
 */
static __inline__ void ondeck_tsan_mutex_init(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    const ondeck_mutex_t unlocked = ONDECK_MUTEX_INIT;
    *mutex = unlocked;
    __tsan_mutex_create(mutex, 0);
}

static __inline__ int ondeck_tsan_mutex_destroy(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    int error = ondeck_mutex_destroy(mutex);
    if (error == 0)
        __tsan_mutex_destroy(mutex, 0);
    return error;
}

static __inline__ int ondeck_tsan_mutex_lock(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_lock(mutex, 0);
    ondeck_mutex_lock(mutex);
    __tsan_mutex_post_lock(mutex, 0, 0);
    return 0;
}

/* The end of an attempt, which may have failed. */
static __inline__ int ondeck_tsan_attempted(ondeck_mutex_t *mutex, int error) ONDECK_NOEXCEPT
{
    unsigned failed = error == 0 ? 0 : __tsan_mutex_try_lock_failed;
    __tsan_mutex_post_lock(mutex, __tsan_mutex_try_lock | failed, 0);
    return error;
}

static __inline__ int ondeck_tsan_mutex_trylock(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_lock(mutex, __tsan_mutex_try_lock);
    return ondeck_tsan_attempted(mutex, ondeck_mutex_trylock(mutex));
}

static __inline__ int ondeck_tsan_mutex_timedlock(ondeck_mutex_t *mutex,
                                                  const struct timespec *deadline) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_lock(mutex, __tsan_mutex_try_lock);
    return ondeck_tsan_attempted(mutex, ondeck_mutex_timedlock(mutex, deadline));
}

static __inline__ int ondeck_tsan_mutex_clocklock(ondeck_mutex_t *mutex, int clock,
                                                  const struct timespec *deadline) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_lock(mutex, __tsan_mutex_try_lock);
    return ondeck_tsan_attempted(mutex, ondeck_mutex_clocklock(mutex, clock, deadline));
}

static __inline__ int ondeck_tsan_mutex_unlock(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_unlock(mutex, 0);
    ondeck_mutex_unlock(mutex);
    __tsan_mutex_post_unlock(mutex, 0);
    return 0;
}

/* The mutex is unlocked during a wait. Every function that waits returns with the mutex locked. */
static __inline__ void ondeck_tsan_waits(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_unlock(mutex, 0);
    __tsan_mutex_post_unlock(mutex, 0);
}

static __inline__ int ondeck_tsan_waited(ondeck_mutex_t *mutex, int error) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_lock(mutex, 0);
    __tsan_mutex_post_lock(mutex, 0, 0);
    return error;
}

static __inline__ int ondeck_tsan_cond_wait(ondeck_cond_t *cond,
                                            ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    ondeck_tsan_waits(mutex);
    return ondeck_tsan_waited(mutex, ondeck_cond_wait(cond, mutex));
}

static __inline__ int ondeck_tsan_cond_timedwait(ondeck_cond_t *cond, ondeck_mutex_t *mutex,
                                                 const struct timespec *deadline) ONDECK_NOEXCEPT
{
    ondeck_tsan_waits(mutex);
    return ondeck_tsan_waited(mutex, ondeck_cond_timedwait(cond, mutex, deadline));
}

static __inline__ int ondeck_tsan_cond_clockwait(ondeck_cond_t *cond, ondeck_mutex_t *mutex,
                                                 int clock,
                                                 const struct timespec *deadline) ONDECK_NOEXCEPT
{
    ondeck_tsan_waits(mutex);
    return ondeck_tsan_waited(mutex, ondeck_cond_clockwait(cond, mutex, clock, deadline));
}

#define ondeck_mutex_init ondeck_tsan_mutex_init
#define ondeck_mutex_destroy ondeck_tsan_mutex_destroy
#define ondeck_mutex_lock ondeck_tsan_mutex_lock
#define ondeck_mutex_trylock ondeck_tsan_mutex_trylock
#define ondeck_mutex_timedlock ondeck_tsan_mutex_timedlock
#define ondeck_mutex_clocklock ondeck_tsan_mutex_clocklock
#define ondeck_mutex_unlock ondeck_tsan_mutex_unlock
#define ondeck_cond_wait ondeck_tsan_cond_wait
#define ondeck_cond_timedwait ondeck_tsan_cond_timedwait
#define ondeck_cond_clockwait ondeck_tsan_cond_clockwait

#elif defined(__GNUC__) && !defined(ONDECK_NO_INLINE) && defined(__linux__) &&                     \
    defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
/* The definition is for inlining only, in C and in C++: no function of this name is ever made of
 * it. */
#define ONDECK_INLINE                                                                              \
    extern __inline__ __attribute__((__gnu_inline__, __always_inline__, __artificial__))

/*
 * The ABI of the inlined paths, number ONDECK_ABI. The reference to the table, whose name has that
 * number, is what a linker or a loader refuses if the library has another.
 */

/*
 * The unlock mode of the mutex's bucket. The table's address comes from the global offset table,
 * also in a program that is not position-independent: a plain reference would have the linker copy
 * the table into the program.
 */
ONDECK_INLINE const uintptr_t *ondeck_unlock_mode(const ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    const uintptr_t *modes;
#if defined(__x86_64__)
    __asm__("movq ondeck_parking_table_6@GOTPCREL(%%rip), %0" : "=r"(modes));
#else
    __asm__("adrp %0, :got:ondeck_parking_table_6\n\tldr %0, [%0, :got_lo12:ondeck_parking_table_6]"
            : "=r"(modes));
#endif
    return modes +
           (((uint64_t)(uintptr_t)mutex * ONDECK_BUCKET_FACTOR) >> (64 - ONDECK_BUCKET_BITS));
}

/* An exchange of the byte. Acquire: pairs with the store of an unlock. */
ONDECK_INLINE int ondeck_mutex_lock(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    if (__builtin_expect(__atomic_exchange_n(&mutex->byte, 1, __ATOMIC_ACQUIRE) != 0, 0))
        ondeck_mutex_lock_contended(mutex);
    return 0;
}

ONDECK_INLINE int ondeck_mutex_trylock(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    return __atomic_exchange_n(&mutex->byte, 1, __ATOMIC_ACQUIRE) == 0 ? 0 : EBUSY;
}

/*
 * A store between two readings of the unlock mode, and no fence but the compiler's.
 *
 * The mode is ONDECK_UNLOCK_QUIET unless a waiting thread asks something of an unlock of the bucket.
 * Between the store and the second reading the protocol needs a fence, so that an unlock and a
 * thread that asks do not miss each other. The thread that asks makes it for both sides before it
 * sleeps for long, with membarrier(2): that makes this thread's store visible to it, or its request
 * visible to the second reading. If the kernel refuses membarrier, that thread looks at the lock
 * again from time to time.
 *
 * If the mode has another value at first, the unlock may owe a handoff in place of the store: the
 * library does all of it.
 *
 * Behind the store the mutex is not touched any more: another thread may have freed it. The address
 * is used.
 */
ONDECK_INLINE int ondeck_mutex_unlock(ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    const uintptr_t *mode = ondeck_unlock_mode(mutex);
    if (__builtin_expect(__atomic_load_n(mode, __ATOMIC_RELAXED) != ONDECK_UNLOCK_QUIET, 0)) {
        ondeck_mutex_unlock_contended(mutex);
        return 0;
    }
    __atomic_store_n(&mutex->byte, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(mode, __ATOMIC_RELAXED) != ONDECK_UNLOCK_QUIET, 0))
        ondeck_mutex_unlocked(mutex);
    return 0;
}

/*
 * A load where no thread waits. Relaxed: a waiter writes the byte before it unlocks its mutex, so
 * every thread that has locked that mutex since reads it.
 */
ONDECK_INLINE int ondeck_cond_signal(ondeck_cond_t *cond) ONDECK_NOEXCEPT
{
    if (__atomic_load_n(&cond->byte, __ATOMIC_RELAXED) != 0)
        ondeck_cond_signal_waiters(cond);
    return 0;
}

ONDECK_INLINE int ondeck_cond_broadcast(ondeck_cond_t *cond) ONDECK_NOEXCEPT
{
    if (__atomic_load_n(&cond->byte, __ATOMIC_RELAXED) != 0)
        ondeck_cond_broadcast_waiters(cond);
    return 0;
}

#endif

#ifdef __cplusplus
}
#endif
