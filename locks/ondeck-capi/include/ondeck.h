/*
 * ondeck: a mutex of one byte that does not collapse under contention, its condition variable, a
 * reader-writer lock, a semaphore, a once and a barrier.
 * docs/c.md of the project is the manual.
 *
 * cbindgen writes what is between the two marks from the Rust source; the rest is written by hand.
 * Not to be edited there: ONDECK_WRITE_HEADER=1 cargo test -p ondeck-capi --test header
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

/* cbindgen from here. */

/*
 The number of the ABI of the inlined paths, which `ondeck_abi()` also returns. It is part of the
 name of the parking table: if a program was compiled with another number, the linker or the
 loader fails to find its table and reports that.
 */
#define ONDECK_ABI 6

/*
 The number of bits of an address's hash: the parking table begins with 2 to the power of this
 unlock modes.
 */
#define ONDECK_BUCKET_BITS 10

/*
 The hash of an address is its product with this number, modulo 2 to the power of 64. The upper
 bits of the hash select the bucket.
 */
#define ONDECK_BUCKET_FACTOR 11400714819323198485ull

/*
 The unlock mode in which an inlined unlock needs no call of the library.
 */
#define ONDECK_UNLOCK_QUIET 0

/*
 The word of a reader-writer lock that a thread writes, and no thread waits for.
 */
#define ONDECK_RWLOCK_WRITER 1

/*
 One reader in the word of a reader-writer lock.
 */
#define ONDECK_RWLOCK_READER 256

/*
 If one of these bits of the word is set, the library reads.
 */
#define ONDECK_RWLOCK_CLOSED 2147483713

/*
 If this bit of the word is set, the library unlocks a read: the word may not count it.
 */
#define ONDECK_RWLOCK_BIASED 64

/*
 A reader that leaves, and finds `ONDECK_RWLOCK_LAST` in these bits of the word, has to wake a
 writer.
 */
#define ONDECK_RWLOCK_LEAVING 4294967072

/*
 See `ONDECK_RWLOCK_LEAVING`.
 */
#define ONDECK_RWLOCK_LAST 288

/*
 One permit in the word of a semaphore. A word that is less, as a signed number, has none for an
 arriving thread.
 */
#define ONDECK_SEM_PERMIT 4

/*
 If this bit of the word is set, threads wait for permits.
 */
#define ONDECK_SEM_WAITED 1

/*
 The number of permits that a semaphore can have.
 */
#define ONDECK_SEM_MOST 536870911

/*
 The bit of a once's byte that is set when it is done.
 */
#define ONDECK_ONCE_DONE 1

/*
 What a wait returns in the one thread of each round that arrives last.
 */
#define ONDECK_BARRIER_LAST -1

/*
 What a thread has, in calls of programs compiled with `ONDECK_STATS`: a mutex.
 */
#define ONDECK_STATS_MUTEX 0

/*
 The same: a read lock, or the upgradable one.
 */
#define ONDECK_STATS_READ 1

/*
 The same: a write lock.
 */
#define ONDECK_STATS_WRITE 2

/*
 The same: a permit, which is not held.
 */
#define ONDECK_STATS_PERMIT 3

/*
 A mutex: one byte. Its initial value is `ONDECK_MUTEX_INIT`, which is zero, so zeroed memory is
 a free mutex and a static one needs no initializer. It has no other resources: it may be freed
 without `ondeck_mutex_destroy` while no thread uses it, also by a thread that has just unlocked
 it.

 It must not be shared between processes. It is not recursive: a thread that locks it twice waits
 forever. Only the thread that locked it may unlock it. A copy of it is another mutex.
 */
typedef struct ondeck_mutex_t {
  /*
   0 while it is free. Private to the functions of this header.
   */
  uint8_t byte;
} ondeck_mutex_t;

/*
 A condition variable for `ondeck_mutex_t`: one byte. Its initial value is `ONDECK_COND_INIT`,
 which is zero, so zeroed memory is a valid condition variable and a static one needs no
 initializer. It may be freed when no thread waits, also by the thread that it notified last.

 It must not be shared between processes. Its waiters may use different mutexes, even at the same
 time. A copy of it is another condition variable.
 */
typedef struct ondeck_cond_t {
  /*
   0 while no thread waits. Private to the functions of this header.
   */
  uint8_t byte;
} ondeck_cond_t;

/*
 A reader-writer lock: four bytes. Its initial value is `ONDECK_RWLOCK_INIT`, which is zero, so a
 static one needs no initializer. It may be freed by a thread that has just unlocked it, if no
 other uses it.

 It must not be shared between processes. A writer that waits keeps later readers out, so a
 thread that has a read lock must not take another. One thread may hold it as upgradable, beside
 readers, and then become the writer. Only the thread that locked it may unlock it.
 */
typedef struct ondeck_rwlock_t {
  /*
   0 while it is free. Private to the functions of this header.
   */
  uint32_t word;
} ondeck_rwlock_t;

/*
 A counting semaphore: four bytes. Its initial value is `ONDECK_SEM_INIT(permits)`. It has no
 other resources, and may be freed by a thread that has acquired, if no other uses it.

 It must not be shared between processes. It has `ONDECK_SEM_MOST` permits at most.
 */
typedef struct ondeck_sem_t {
  /*
   Private to the functions of this header.
   */
  uint32_t word;
} ondeck_sem_t;

/*
 An initialization that runs once: one byte. Its initial value is `ONDECK_ONCE_INIT`, which is
 zero, so a static one needs no initializer. It must not be shared between processes.
 */
typedef struct ondeck_once_t {
  /*
   Private to the functions of this header.
   */
  uint8_t byte;
} ondeck_once_t;

/*
 A place where threads wait for each other, round after round: eight bytes. Its initial value is
 `ONDECK_BARRIER_INIT(threads)`; with 0 or 1 no thread waits. It may be freed as soon as one wait
 of its last round has returned. It must not be shared between processes.
 */
typedef struct ondeck_barrier_t {
  /*
   Private to the functions of this header.
   */
  uint32_t arrived;
  /*
   Private to the functions of this header.
   */
  uint32_t total;
} ondeck_barrier_t;

/*
 The numbers of a lock. Times are in nanoseconds. A site is the address of an instruction, or
 null if that is not known.
 */
typedef struct ondeck_lock_stats_t {
  /*
   Its name; empty if it has none.
   */
  const char *name;
  /*
   Its address.
   */
  const void *lock;
  /*
   Where a thread had to wait first.
   */
  const void *site;
  /*
   Acquisitions that had to wait.
   */
  uint64_t waits;
  /*
   Waits that ended at a deadline without the lock.
   */
  uint64_t gave_up;
  /*
   The sum of all waits.
   */
  uint64_t waited;
  /*
   The median of the waits, or up to an eighth more.
   */
  uint64_t p50;
  /*
   The wait that one in a hundred exceeds, or up to an eighth more.
   */
  uint64_t p99;
  /*
   The longest wait.
   */
  uint64_t longest_wait;
  /*
   The longest hold; 0 if the program is not compiled with `ONDECK_STATS`.
   */
  uint64_t longest_hold;
  /*
   Where that hold began.
   */
  const void *longest_hold_site;
  /*
   The thread that holds it now, by `pthread_self` of Linux; 0 if that is not known.
   */
  size_t holder;
  /*
   How long it has held it.
   */
  uint64_t held_for;
  /*
   Threads that wait now.
   */
  uint32_t waiting;
  /*
   "Mutex", "RwLock" or "Semaphore".
   */
  const char *kind;
} ondeck_lock_stats_t;

/*
 A long hold of a lock, or a long wait for it.
 */
typedef struct ondeck_event_t {
  /*
   The lock's name; empty if it has none.
   */
  const char *name;
  /*
   The address at which the lock was.
   */
  const void *lock;
  /*
   Where the thread locked it, or waited for it.
   */
  const void *site;
  /*
   After a hold, where a thread waits for it; after a wait, where the thread had locked it that
   held it at the beginning. Null if that is not known.
   */
  const void *other;
  /*
   Nanoseconds.
   */
  uint64_t duration;
  /*
   The warnings of this kind that were not given since the last one.
   */
  uint64_t suppressed;
} ondeck_event_t;

/*
 A program's function for warnings.
 */
typedef void (*ondeck_warned_t)(const struct ondeck_event_t *event);

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/*
 Returns the number of this library's ABI: `ONDECK_ABI` of the matching header.

 For programs that load the library by dlopen(3). The linker or the loader refuses any other
 program that was compiled with another number.
 */
uint32_t ondeck_abi(void) ONDECK_NOTHROW;

/*
 Returns the version of this library, such as "0.1.0".
 */
const char *ondeck_version(void) ONDECK_NOTHROW;

/*
 Prepares now what locks otherwise prepare at their first need: registers the process with
 membarrier(2), has the kernel wipe the parking table in children of forks, and measures the rate
 of the clock.

 No program has to call this. It is for programs that cannot afford one slow unlock or wait. Any
 thread may call it, at any time, and more than once. It takes microseconds in a process with one
 thread, and milliseconds in others.
 */
void ondeck_prepare(void) ONDECK_NOTHROW;

/*
 Initializes a free mutex, regardless of the previous contents.

 The same as assigning `ONDECK_MUTEX_INIT`, but also informs ThreadSanitizer, which has to know
 when memory is reused.

 Safety: `mutex` points to memory for a mutex, which no thread uses.
 */
void ondeck_mutex_init(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Ends the use of a mutex. Returns 0, or EBUSY if it is locked: the mutex then stays usable.

 Frees nothing, because a mutex consists of its byte only. Its name is taken away.

 Safety: `mutex` points to a mutex.
 */
int ondeck_mutex_destroy(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Locks the mutex, waiting until it is free. Returns 0, always.

 Everything before an unlock happens before everything after the next lock. Not a cancellation
 point. A signal handler that runs during the wait does not end it.

 Safety: `mutex` points to a mutex that the calling thread has not locked.
 */
int ondeck_mutex_lock(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Locks the mutex if it is free. Returns 0, or EBUSY if it is locked.

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
 Locks the mutex, waiting until it is free or until the clock reaches `deadline`, an absolute
 time.

 `clock` is `CLOCK_MONOTONIC` or `CLOCK_REALTIME`. A free mutex is locked even if the deadline
 has passed. If the real time is set during the wait, the thread notices within a second.

 Returns 0; ETIMEDOUT; or EINVAL if the clock is another one, or if the mutex is not free and the
 nanoseconds of the deadline are not between 0 and 999,999,999. The caller holds the mutex only
 after a 0.

 Safety: `mutex` points to a mutex that the calling thread has not locked, `deadline` to a time.
 */
ONDECK_MUST_USE
int ondeck_mutex_clocklock(struct ondeck_mutex_t *mutex,
                           int clock,
                           const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Unlocks the mutex. Returns 0, always.

 The mutex is not accessed after another thread may have locked it: that thread may unlock and
 free it.

 Safety: `mutex` points to a mutex that the calling thread has locked.
 */
int ondeck_mutex_unlock(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Completes an inlined lock that has found the mutex locked.

 Safety: As for `ondeck_mutex_lock`.
 */
void ondeck_mutex_lock_contended(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Unlocks the mutex for an inlined unlock that has found an unlock mode other than
 `ONDECK_UNLOCK_QUIET`, and has not stored yet.

 Safety: As for `ondeck_mutex_unlock`.
 */
void ondeck_mutex_unlock_contended(struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Completes an inlined unlock that has stored 0 and then found an unlock mode other than
 `ONDECK_UNLOCK_QUIET`. The mutex may be freed already: `mutex` is only an address.
 */
void ondeck_mutex_unlocked(const struct ondeck_mutex_t *mutex) ONDECK_NOTHROW;

/*
 Initializes a condition variable without waiters, regardless of the previous contents: the same
 as assigning `ONDECK_COND_INIT`.

 Safety: `cond` points to memory for a condition variable, which no thread uses.
 */
void ondeck_cond_init(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Ends the use of a condition variable. Returns 0, or EBUSY if a thread waits: the condition
 variable then stays usable.

 Safety: `cond` points to a condition variable.
 */
int ondeck_cond_destroy(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Unlocks the mutex, sleeps until the thread is notified, and locks the mutex again. Returns 0,
 always.

 The condition may have changed again before the caller has locked the mutex, so wait in a loop
 that tests it. Not a cancellation point.

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
 second may return 0 after each second although the thread was not notified. This lets it notice
 that the clock was set during the wait.

 Returns 0; ETIMEDOUT, in which case the thread has consumed no notification; or EINVAL if the
 clock is another one or the nanoseconds of the deadline are not between 0 and 999,999,999, in
 which case the mutex was never unlocked. The caller holds the mutex in each case.

 Safety: As for `ondeck_cond_wait`; `deadline` points to a time.
 */
int ondeck_cond_clockwait(struct ondeck_cond_t *cond,
                          struct ondeck_mutex_t *mutex,
                          int clock,
                          const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Notifies one waiter, if there is one. Returns 0, always. Only a load if no thread waits.

 Safety: `cond` points to a condition variable.
 */
int ondeck_cond_signal(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Notifies every waiter. Returns 0, always. Only a load if no thread waits.

 Safety: `cond` points to a condition variable.
 */
int ondeck_cond_broadcast(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Completes an inlined signal that has found that threads may wait.

 Safety: As for `ondeck_cond_signal`.
 */
void ondeck_cond_signal_waiters(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Completes an inlined broadcast that has found that threads may wait.

 Safety: As for `ondeck_cond_broadcast`.
 */
void ondeck_cond_broadcast_waiters(struct ondeck_cond_t *cond) ONDECK_NOTHROW;

/*
 Initializes a free lock, regardless of the previous contents.

 Safety: `lock` points to memory for a lock, which no thread uses.
 */
void ondeck_rwlock_init(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Ends the use of a lock, and takes its name away. Returns 0, or EBUSY if it is locked: it then
 stays usable.

 Safety: `lock` points to a lock.
 */
int ondeck_rwlock_destroy(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Waits for a read lock. Returns 0, or EAGAIN if 2^23 are held.

 Safety: `lock` points to a lock that the calling thread has not locked.
 */
int ondeck_rwlock_rdlock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Takes a read lock if there is no writer. Returns 0, EBUSY, or EAGAIN if 2^23 are held.

 Safety: `lock` points to a lock.
 */
ONDECK_MUST_USE int ondeck_rwlock_tryrdlock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_rdlock`, until a deadline as that of `ondeck_mutex_clocklock`. Returns 0,
 EAGAIN, ETIMEDOUT or EINVAL.

 Safety: As for `ondeck_rwlock_rdlock`; `deadline` points to a time.
 */
ONDECK_MUST_USE
int ondeck_rwlock_clockrdlock(struct ondeck_rwlock_t *lock,
                              int clock,
                              const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Unlocks a read lock. Returns 0, always.

 Safety: The calling thread has a read lock.
 */
int ondeck_rwlock_rdunlock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Waits for the write lock. Returns 0, always.

 Safety: `lock` points to a lock that the calling thread has not locked.
 */
int ondeck_rwlock_wrlock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Takes the write lock if no thread holds the lock. Returns 0 or EBUSY.

 Safety: `lock` points to a lock.
 */
ONDECK_MUST_USE int ondeck_rwlock_trywrlock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_wrlock`, until a deadline. Returns 0, ETIMEDOUT or EINVAL.

 Safety: As for `ondeck_rwlock_wrlock`; `deadline` points to a time.
 */
ONDECK_MUST_USE
int ondeck_rwlock_clockwrlock(struct ondeck_rwlock_t *lock,
                              int clock,
                              const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Unlocks the write lock. Returns 0, always.

 Safety: The calling thread has the write lock.
 */
int ondeck_rwlock_wrunlock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Waits for the upgradable read lock: beside readers, at most one thread has it. Returns 0, or
 EAGAIN if 2^23 read locks are held.

 Safety: `lock` points to a lock that the calling thread has not locked.
 */
int ondeck_rwlock_uplock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Takes the upgradable read lock if no thread writes or has it. Returns 0, EBUSY, or EAGAIN if
 2^23 read locks are held.

 Safety: `lock` points to a lock.
 */
ONDECK_MUST_USE int ondeck_rwlock_tryuplock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_uplock`, until a deadline. Returns 0, EAGAIN, ETIMEDOUT or EINVAL.

 Safety: As for `ondeck_rwlock_uplock`; `deadline` points to a time.
 */
ONDECK_MUST_USE
int ondeck_rwlock_clockuplock(struct ondeck_rwlock_t *lock,
                              int clock,
                              const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Unlocks the upgradable read lock. Returns 0, always.

 Safety: The calling thread has the upgradable read lock.
 */
int ondeck_rwlock_upunlock(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Turns the upgradable read lock into the write lock, after all readers have left. No other writer
 comes in between. Returns 0, always.

 Safety: As for `ondeck_rwlock_upunlock`.
 */
int ondeck_rwlock_upgrade(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_upgrade`, if there are no readers. Returns 0, or EBUSY: the thread then still
 has the upgradable read lock.

 Safety: As for `ondeck_rwlock_upunlock`.
 */
ONDECK_MUST_USE int ondeck_rwlock_tryupgrade(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_upgrade`, until a deadline. Returns 0; or ETIMEDOUT or EINVAL: the thread then
 still has the upgradable read lock.

 Safety: As for `ondeck_rwlock_upunlock`; `deadline` points to a time.
 */
ONDECK_MUST_USE
int ondeck_rwlock_clockupgrade(struct ondeck_rwlock_t *lock,
                               int clock,
                               const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Turns the write lock into a read lock. No writer comes in between. Returns 0, always.

 Safety: As for `ondeck_rwlock_wrunlock`.
 */
int ondeck_rwlock_downgrade(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Turns the write lock into the upgradable read lock. No writer comes in between. Returns 0,
 always.

 Safety: As for `ondeck_rwlock_wrunlock`.
 */
int ondeck_rwlock_downgrade_to_up(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Turns the upgradable read lock into a read lock. Returns 0, always.

 Safety: As for `ondeck_rwlock_upunlock`.
 */
int ondeck_rwlock_downgrade_up(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_rdlock`, after an inlined attempt has failed.

 Safety: As for `ondeck_rwlock_rdlock`.
 */
int ondeck_rwlock_rdlock_contended(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_wrlock`, after an inlined attempt has found another word than 0.

 Safety: As for `ondeck_rwlock_wrlock`.
 */
void ondeck_rwlock_wrlock_contended(struct ondeck_rwlock_t *lock, uint32_t found) ONDECK_NOTHROW;

/*
 As `ondeck_rwlock_wrunlock`, after an inlined attempt has failed.

 Safety: As for `ondeck_rwlock_wrunlock`.
 */
void ondeck_rwlock_wrunlock_contended(struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Completes an inlined unlock of the last read lock beside a writer that sleeps. The lock may be
 freed already: `lock` is only an address.
 */
void ondeck_rwlock_rdunlocked(const struct ondeck_rwlock_t *lock) ONDECK_NOTHROW;

/*
 Initializes a semaphore, regardless of the previous contents. Returns 0, or EINVAL if there are
 too many permits.

 Safety: `sem` points to memory for a semaphore, which no thread uses.
 */
int ondeck_sem_init(struct ondeck_sem_t *sem, unsigned int permits) ONDECK_NOTHROW;

/*
 Waits for a permit. Returns 0, always.

 Safety: `sem` points to a semaphore.
 */
int ondeck_sem_wait(struct ondeck_sem_t *sem) ONDECK_NOTHROW;

/*
 Acquires a permit if there is one. Returns 0, or EAGAIN as sem_trywait(3) does.

 Safety: `sem` points to a semaphore.
 */
ONDECK_MUST_USE int ondeck_sem_trywait(struct ondeck_sem_t *sem) ONDECK_NOTHROW;

/*
 As `ondeck_sem_wait`, until a deadline as that of `ondeck_mutex_clocklock`. Returns 0, ETIMEDOUT
 or EINVAL.

 Safety: `sem` points to a semaphore, `deadline` to a time.
 */
ONDECK_MUST_USE
int ondeck_sem_clockwait(struct ondeck_sem_t *sem,
                         int clock,
                         const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 Releases a permit. Returns 0, or EOVERFLOW if there are `ONDECK_SEM_MOST` free ones. Everything
 before it happens before what follows an acquisition of that permit. The semaphore is not
 accessed after another thread may have acquired the permit.

 Safety: `sem` points to a semaphore.
 */
int ondeck_sem_post(struct ondeck_sem_t *sem) ONDECK_NOTHROW;

/*
 As `ondeck_sem_post`, for several permits in one step: all or, if they are too many, none.

 Safety: `sem` points to a semaphore.
 */
int ondeck_sem_post_many(struct ondeck_sem_t *sem, unsigned int permits) ONDECK_NOTHROW;

/*
 Returns 1 if the caller is to run the initialization, and then to call `ondeck_once_end` or
 `ondeck_once_abandon`. Returns 0 if it is done: everything before its end then happened before.
 Waits while another thread runs it.

 Safety: `once` points to a once, whose initialization the calling thread does not run.
 */
ONDECK_MUST_USE int ondeck_once_begin(struct ondeck_once_t *once) ONDECK_NOTHROW;

/*
 Ends the initialization: it is done, for ever.

 Safety: `ondeck_once_begin` has returned 1, and the initialization has not ended.
 */
void ondeck_once_end(struct ondeck_once_t *once) ONDECK_NOTHROW;

/*
 Gives the initialization up: the next caller of `ondeck_once_begin`, or one that waits, is to
 run it.

 Safety: As for `ondeck_once_end`.
 */
void ondeck_once_abandon(struct ondeck_once_t *once) ONDECK_NOTHROW;

/*
 Initializes a barrier, regardless of the previous contents.

 Safety: `barrier` points to memory for a barrier, which no thread uses.
 */
void ondeck_barrier_init(struct ondeck_barrier_t *barrier, unsigned int threads) ONDECK_NOTHROW;

/*
 Waits until all threads of the round have arrived. Returns `ONDECK_BARRIER_LAST` in the thread
 that arrived last, 0 in the others. Everything before the waits of a round happens before they
 return.

 Safety: `barrier` points to a barrier.
 */
int ondeck_barrier_wait(struct ondeck_barrier_t *barrier) ONDECK_NOTHROW;

/*
 As `ondeck_barrier_wait`, until a deadline as that of `ondeck_mutex_clocklock`. It may also
 return ETIMEDOUT, in which case the thread counts as not having arrived, or EINVAL.

 Safety: `barrier` points to a barrier, `deadline` to a time.
 */
ONDECK_MUST_USE
int ondeck_barrier_clockwait(struct ondeck_barrier_t *barrier,
                             int clock,
                             const struct timespec *deadline)
ONDECK_NOTHROW;

/*
 As `ondeck_barrier_wait`, but the other threads wait until the one that arrived last, in which
 this returns `ONDECK_BARRIER_LAST`, calls `ondeck_barrier_end`. Not in a round in which a thread
 calls `ondeck_barrier_clockwait`.

 Safety: `barrier` points to a barrier.
 */
ONDECK_MUST_USE int ondeck_barrier_meet(struct ondeck_barrier_t *barrier) ONDECK_NOTHROW;

/*
 Counts a number of threads as arrived, which do not wait. Sets `round` for
 `ondeck_barrier_wait_end`. If it returns `ONDECK_BARRIER_LAST` and not 0, they were the last:
 the caller is to call `ondeck_barrier_end`. Not in a round in which a thread calls
 `ondeck_barrier_clockwait`: it could time out before that end.

 Safety: `barrier` points to a barrier, `round` to a number.
 */
ONDECK_MUST_USE
int ondeck_barrier_arrive(struct ondeck_barrier_t *barrier,
                          unsigned int threads,
                          unsigned int *round)
ONDECK_NOTHROW;

/*
 Makes this round and all later ones need one thread less. Returns what `ondeck_barrier_arrive`
 does. Not in a round in which a thread calls `ondeck_barrier_clockwait`.

 Safety: `barrier` points to a barrier.
 */
ONDECK_MUST_USE int ondeck_barrier_leave(struct ondeck_barrier_t *barrier) ONDECK_NOTHROW;

/*
 Ends a round: once, after one of the three functions above returned `ONDECK_BARRIER_LAST`.

 Safety: `barrier` points to a barrier.
 */
void ondeck_barrier_end(struct ondeck_barrier_t *barrier) ONDECK_NOTHROW;

/*
 Waits for the end of a round that `ondeck_barrier_arrive` has set. Everything before the
 arrivals of that round, and before its `ondeck_barrier_end`, happens before this returns. Call
 it before the next round may end.

 Safety: `barrier` points to a barrier.
 */
void ondeck_barrier_wait_end(struct ondeck_barrier_t *barrier, unsigned int round) ONDECK_NOTHROW;

/*
 Names the mutex in statistics and warnings, or takes its name away if `name` is null. Returns 0,
 or ENOMEM if the table of 1,024 names has no room.

 The string is not copied: it stays as long as the process. `ondeck_mutex_init` and
 `ondeck_mutex_destroy` take the name away; a mutex that ends without ondeck_mutex_destroy leaves
 its name to the next one in the same memory.

 Safety: `name` is null or points to a string that is never changed or freed.
 */
int ondeck_mutex_name(const struct ondeck_mutex_t *mutex, const char *name) ONDECK_NOTHROW;

/*
 As `ondeck_mutex_name`, for a reader-writer lock.

 Safety: As for `ondeck_mutex_name`.
 */
int ondeck_rwlock_name(const struct ondeck_rwlock_t *lock, const char *name) ONDECK_NOTHROW;

/*
 As `ondeck_mutex_name`, for a semaphore, whose name only `ondeck_sem_init` takes away.

 Safety: As for `ondeck_mutex_name`.
 */
int ondeck_sem_name(const struct ondeck_sem_t *sem, const char *name) ONDECK_NOTHROW;

/*
 For programs compiled with `ONDECK_STATS`: the thread is about to acquire, at the instruction
 `site`, and to call `ondeck_stats_acquired`.
 */
void ondeck_stats_acquires(const void *site) ONDECK_NOTHROW;

/*
 For programs compiled with `ONDECK_STATS`: the thread has acquired, unless `error` is not 0.
 */
void ondeck_stats_acquired(const void *lock, int what, const void *site, int error) ONDECK_NOTHROW;

/*
 For programs compiled with `ONDECK_STATS`: the thread is about to unlock.
 */
void ondeck_stats_unlocks(const void *lock, int what) ONDECK_NOTHROW;

/*
 For programs compiled with `ONDECK_STATS`: the thread has unlocked, and `goes_on` unless it
 waits now.
 */
void ondeck_stats_unlocked(int goes_on) ONDECK_NOTHROW;

/*
 Counts the waits for locks from now on. See docs/stats.md.
 */
void ondeck_stats_enable(void) ONDECK_NOTHROW;

/*
 Stops counting. The numbers stay.
 */
void ondeck_stats_disable(void) ONDECK_NOTHROW;

/*
 Calls `seen` for each lock that a thread has waited for, with `argument`.

 Safety: `seen` may be called with `argument`.
 */
void ondeck_stats_each(void (*seen)(const struct ondeck_lock_stats_t *stats, void *argument),
                       void *argument)
ONDECK_NOTHROW;

/*
 Writes a line for each lock that a thread has waited for, as snprintf writes: at most `size`
 bytes with the zero byte. Returns the length of the whole text.

 Safety: `buffer` points to `size` bytes; it may be null if that is 0.
 */
size_t ondeck_stats_text(char *buffer, size_t size) ONDECK_NOTHROW;

/*
 As `ondeck_stats_text`, in the text format of Prometheus.

 Safety: As for `ondeck_stats_text`.
 */
size_t ondeck_stats_prometheus(char *buffer, size_t size) ONDECK_NOTHROW;

/*
 Writes a place of these statistics as snprintf writes: the name of the file that has the
 instruction and its offset there, for addr2line, or its address if that is not known; "??" for
 null. Returns the length of the whole text.

 Safety: As for `ondeck_stats_text`.
 */
size_t ondeck_stats_site(const void *place, char *buffer, size_t size) ONDECK_NOTHROW;

/*
 Enables statistics, and has `handler` called after a thread has held a lock for `nanoseconds`
 or longer, when it holds no lock any more. Null ends that. Only in programs compiled with
 `ONDECK_STATS`; docs/stats.md says when it is not called.
 */
void ondeck_on_long_hold(uint64_t nanoseconds, ondeck_warned_t handler) ONDECK_NOTHROW;

/*
 As `ondeck_on_long_hold`, for waits of `nanoseconds` or longer.
 */
void ondeck_on_long_wait(uint64_t nanoseconds, ondeck_warned_t handler) ONDECK_NOTHROW;

#ifdef __cplusplus
}  // extern "C"
#endif  /* __cplusplus */

/* cbindgen to here. */

/*
 * Inlined versions of functions above, under the same names. The address of such a function is
 * still the address of the library's function. With ONDECK_NO_INLINE or ONDECK_STATS, and on
 * systems other than 64-bit Linux, every lock and unlock is a call.
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
/* C does not allow attributes after the parameters of a definition. */
#define ONDECK_NOEXCEPT
#endif

#if defined(ONDECK_TSAN)
/*
 * Reports each lock and unlock to ThreadSanitizer, which cannot see into the library because the
 * library was not compiled for it. Nothing is inlined: each lock and unlock is a call.
 */
#define ONDECK_TSAN_READ __tsan_mutex_read_lock
#define ONDECK_TSAN_TRY __tsan_mutex_try_lock
#define ONDECK_TSAN_TRY_READ (ONDECK_TSAN_TRY | ONDECK_TSAN_READ)

/* A function that takes a lock, or fails. */
#define ONDECK_TSAN_LOCKS(type, name, flags, parameters, arguments)                                \
    static __inline__ int ondeck_tsan_##name parameters ONDECK_NOEXCEPT                            \
    {                                                                                              \
        int error;                                                                                 \
        __tsan_mutex_pre_lock(lock, flags);                                                        \
        error = ondeck_##name arguments;                                                           \
        __tsan_mutex_post_lock(lock, (flags) | (error ? __tsan_mutex_try_lock_failed : 0), 0);     \
        return error;                                                                              \
    }
#define ONDECK_TSAN_LOCK(type, name, flags)                                                        \
    ONDECK_TSAN_LOCKS(type, name, flags, (type * lock), (lock))
#define ONDECK_TSAN_CLOCKLOCK(type, name, flags)                                                   \
    ONDECK_TSAN_LOCKS(type, name, flags,                                                           \
                      (type * lock, int clock, const struct timespec *deadline),                   \
                      (lock, clock, deadline))
#define ONDECK_TSAN_UNLOCK(type, name, flags)                                                      \
    static __inline__ int ondeck_tsan_##name(type *lock) ONDECK_NOEXCEPT                           \
    {                                                                                              \
        __tsan_mutex_pre_unlock(lock, flags);                                                      \
        ondeck_##name(lock);                                                                       \
        __tsan_mutex_post_unlock(lock, flags);                                                     \
        return 0;                                                                                  \
    }
#define ONDECK_TSAN_LIFE(type, kind)                                                               \
    static __inline__ void ondeck_tsan_##kind##_init(type *lock) ONDECK_NOEXCEPT                   \
    {                                                                                              \
        ondeck_##kind##_init(lock);                                                                \
        __tsan_mutex_create(lock, 0);                                                              \
    }                                                                                              \
    static __inline__ int ondeck_tsan_##kind##_destroy(type *lock) ONDECK_NOEXCEPT                 \
    {                                                                                              \
        int error = ondeck_##kind##_destroy(lock);                                                 \
        if (error == 0)                                                                            \
            __tsan_mutex_destroy(lock, 0);                                                         \
        return error;                                                                              \
    }

ONDECK_TSAN_LIFE(ondeck_mutex_t, mutex)
ONDECK_TSAN_LOCK(ondeck_mutex_t, mutex_lock, 0)
ONDECK_TSAN_LOCK(ondeck_mutex_t, mutex_trylock, ONDECK_TSAN_TRY)
ONDECK_TSAN_LOCKS(ondeck_mutex_t, mutex_timedlock, ONDECK_TSAN_TRY,
                  (ondeck_mutex_t * lock, const struct timespec *deadline), (lock, deadline))
ONDECK_TSAN_CLOCKLOCK(ondeck_mutex_t, mutex_clocklock, ONDECK_TSAN_TRY)
ONDECK_TSAN_UNLOCK(ondeck_mutex_t, mutex_unlock, 0)
ONDECK_TSAN_LIFE(ondeck_rwlock_t, rwlock)
ONDECK_TSAN_LOCK(ondeck_rwlock_t, rwlock_rdlock, ONDECK_TSAN_READ)
ONDECK_TSAN_LOCK(ondeck_rwlock_t, rwlock_tryrdlock, ONDECK_TSAN_TRY_READ)
ONDECK_TSAN_CLOCKLOCK(ondeck_rwlock_t, rwlock_clockrdlock, ONDECK_TSAN_TRY_READ)
ONDECK_TSAN_UNLOCK(ondeck_rwlock_t, rwlock_rdunlock, ONDECK_TSAN_READ)
ONDECK_TSAN_LOCK(ondeck_rwlock_t, rwlock_wrlock, 0)
ONDECK_TSAN_LOCK(ondeck_rwlock_t, rwlock_trywrlock, ONDECK_TSAN_TRY)
ONDECK_TSAN_CLOCKLOCK(ondeck_rwlock_t, rwlock_clockwrlock, ONDECK_TSAN_TRY)
ONDECK_TSAN_UNLOCK(ondeck_rwlock_t, rwlock_wrunlock, 0)
/* To ThreadSanitizer the upgradable reader is a reader. */
ONDECK_TSAN_LOCK(ondeck_rwlock_t, rwlock_uplock, ONDECK_TSAN_READ)
ONDECK_TSAN_LOCK(ondeck_rwlock_t, rwlock_tryuplock, ONDECK_TSAN_TRY_READ)
ONDECK_TSAN_CLOCKLOCK(ondeck_rwlock_t, rwlock_clockuplock, ONDECK_TSAN_TRY_READ)
ONDECK_TSAN_UNLOCK(ondeck_rwlock_t, rwlock_upunlock, ONDECK_TSAN_READ)

/* The lock is unlocked in one way, and then locked in the other. */
static __inline__ void ondeck_tsan_unlocks(void *lock, unsigned flags) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_unlock(lock, flags);
    __tsan_mutex_post_unlock(lock, flags);
}

static __inline__ int ondeck_tsan_locked(void *lock, unsigned flags, int error) ONDECK_NOEXCEPT
{
    __tsan_mutex_pre_lock(lock, flags);
    __tsan_mutex_post_lock(lock, flags, 0);
    return error;
}

static __inline__ int ondeck_tsan_upgraded(ondeck_rwlock_t *lock, int error) ONDECK_NOEXCEPT
{
    if (error != 0)
        return error;
    ondeck_tsan_unlocks(lock, ONDECK_TSAN_READ);
    return ondeck_tsan_locked(lock, ONDECK_TSAN_TRY, 0);
}

/* The mutex is unlocked during a wait. Every function that waits returns with the mutex locked. */
static __inline__ int ondeck_tsan_cond_wait(ondeck_cond_t *cond,
                                            ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    ondeck_tsan_unlocks(mutex, 0);
    return ondeck_tsan_locked(mutex, 0, ondeck_cond_wait(cond, mutex));
}

static __inline__ int ondeck_tsan_cond_timedwait(ondeck_cond_t *cond, ondeck_mutex_t *mutex,
                                                 const struct timespec *deadline) ONDECK_NOEXCEPT
{
    ondeck_tsan_unlocks(mutex, 0);
    return ondeck_tsan_locked(mutex, 0, ondeck_cond_timedwait(cond, mutex, deadline));
}

static __inline__ int ondeck_tsan_cond_clockwait(ondeck_cond_t *cond, ondeck_mutex_t *mutex,
                                                 int clock,
                                                 const struct timespec *deadline) ONDECK_NOEXCEPT
{
    ondeck_tsan_unlocks(mutex, 0);
    return ondeck_tsan_locked(mutex, 0, ondeck_cond_clockwait(cond, mutex, clock, deadline));
}

static __inline__ int ondeck_tsan_rwlock_upgrade(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    return ondeck_tsan_upgraded(lock, ondeck_rwlock_upgrade(lock));
}

static __inline__ int ondeck_tsan_rwlock_tryupgrade(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    return ondeck_tsan_upgraded(lock, ondeck_rwlock_tryupgrade(lock));
}

static __inline__ int ondeck_tsan_rwlock_clockupgrade(
    ondeck_rwlock_t *lock, int clock, const struct timespec *deadline) ONDECK_NOEXCEPT
{
    return ondeck_tsan_upgraded(lock, ondeck_rwlock_clockupgrade(lock, clock, deadline));
}

static __inline__ int ondeck_tsan_rwlock_downgrade(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    ondeck_tsan_unlocks(lock, 0);
    return ondeck_tsan_locked(lock, ONDECK_TSAN_TRY_READ, ondeck_rwlock_downgrade(lock));
}

static __inline__ int ondeck_tsan_rwlock_downgrade_to_up(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    ondeck_tsan_unlocks(lock, 0);
    return ondeck_tsan_locked(lock, ONDECK_TSAN_TRY_READ, ondeck_rwlock_downgrade_to_up(lock));
}

/* What orders threads, and is no lock. */
#define ONDECK_TSAN_ORDERS(name, releases, acquires, parameters, arguments)                        \
    static __inline__ int ondeck_tsan_##name parameters ONDECK_NOEXCEPT                            \
    {                                                                                              \
        int found;                                                                                 \
        if (releases)                                                                              \
            __tsan_release(object);                                                                \
        found = ondeck_##name arguments;                                                           \
        if (acquires)                                                                              \
            __tsan_acquire(object);                                                                \
        return found;                                                                              \
    }

ONDECK_TSAN_ORDERS(sem_wait, 0, 1, (ondeck_sem_t * object), (object))
ONDECK_TSAN_ORDERS(sem_trywait, 0, found == 0, (ondeck_sem_t * object), (object))
ONDECK_TSAN_ORDERS(sem_clockwait, 0, found == 0,
                   (ondeck_sem_t * object, int clock, const struct timespec *deadline),
                   (object, clock, deadline))
ONDECK_TSAN_ORDERS(sem_post, 1, 0, (ondeck_sem_t * object), (object))
ONDECK_TSAN_ORDERS(sem_post_many, 1, 0, (ondeck_sem_t * object, unsigned permits),
                   (object, permits))
ONDECK_TSAN_ORDERS(once_begin, 0, 1, (ondeck_once_t * object), (object))
ONDECK_TSAN_ORDERS(barrier_wait, 1, 1, (ondeck_barrier_t * object), (object))
ONDECK_TSAN_ORDERS(barrier_clockwait, 1, found <= 0,
                   (ondeck_barrier_t * object, int clock, const struct timespec *deadline),
                   (object, clock, deadline))
ONDECK_TSAN_ORDERS(barrier_meet, 1, 1, (ondeck_barrier_t * object), (object))
ONDECK_TSAN_ORDERS(barrier_arrive, 1, found != 0,
                   (ondeck_barrier_t * object, unsigned threads, unsigned *round),
                   (object, threads, round))
ONDECK_TSAN_ORDERS(barrier_leave, 1, found != 0, (ondeck_barrier_t * object), (object))

static __inline__ void ondeck_tsan_barrier_end(ondeck_barrier_t *barrier) ONDECK_NOEXCEPT
{
    __tsan_release(barrier);
    ondeck_barrier_end(barrier);
}

static __inline__ void ondeck_tsan_barrier_wait_end(ondeck_barrier_t *barrier,
                                                    unsigned round) ONDECK_NOEXCEPT
{
    ondeck_barrier_wait_end(barrier, round);
    __tsan_acquire(barrier);
}

static __inline__ void ondeck_tsan_once_end(ondeck_once_t *once) ONDECK_NOEXCEPT
{
    __tsan_release(once);
    ondeck_once_end(once);
}

static __inline__ void ondeck_tsan_once_abandon(ondeck_once_t *once) ONDECK_NOEXCEPT
{
    __tsan_release(once);
    ondeck_once_abandon(once);
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
#define ondeck_rwlock_init ondeck_tsan_rwlock_init
#define ondeck_rwlock_destroy ondeck_tsan_rwlock_destroy
#define ondeck_rwlock_rdlock ondeck_tsan_rwlock_rdlock
#define ondeck_rwlock_tryrdlock ondeck_tsan_rwlock_tryrdlock
#define ondeck_rwlock_clockrdlock ondeck_tsan_rwlock_clockrdlock
#define ondeck_rwlock_rdunlock ondeck_tsan_rwlock_rdunlock
#define ondeck_rwlock_wrlock ondeck_tsan_rwlock_wrlock
#define ondeck_rwlock_trywrlock ondeck_tsan_rwlock_trywrlock
#define ondeck_rwlock_clockwrlock ondeck_tsan_rwlock_clockwrlock
#define ondeck_rwlock_wrunlock ondeck_tsan_rwlock_wrunlock
#define ondeck_rwlock_uplock ondeck_tsan_rwlock_uplock
#define ondeck_rwlock_tryuplock ondeck_tsan_rwlock_tryuplock
#define ondeck_rwlock_clockuplock ondeck_tsan_rwlock_clockuplock
#define ondeck_rwlock_upunlock ondeck_tsan_rwlock_upunlock
#define ondeck_rwlock_upgrade ondeck_tsan_rwlock_upgrade
#define ondeck_rwlock_tryupgrade ondeck_tsan_rwlock_tryupgrade
#define ondeck_rwlock_clockupgrade ondeck_tsan_rwlock_clockupgrade
#define ondeck_rwlock_downgrade ondeck_tsan_rwlock_downgrade
#define ondeck_rwlock_downgrade_to_up ondeck_tsan_rwlock_downgrade_to_up
#define ondeck_sem_wait ondeck_tsan_sem_wait
#define ondeck_sem_trywait ondeck_tsan_sem_trywait
#define ondeck_sem_clockwait ondeck_tsan_sem_clockwait
#define ondeck_sem_post ondeck_tsan_sem_post
#define ondeck_sem_post_many ondeck_tsan_sem_post_many
#define ondeck_once_begin ondeck_tsan_once_begin
#define ondeck_once_end ondeck_tsan_once_end
#define ondeck_once_abandon ondeck_tsan_once_abandon
#define ondeck_barrier_wait ondeck_tsan_barrier_wait
#define ondeck_barrier_clockwait ondeck_tsan_barrier_clockwait
#define ondeck_barrier_meet ondeck_tsan_barrier_meet
#define ondeck_barrier_arrive ondeck_tsan_barrier_arrive
#define ondeck_barrier_leave ondeck_tsan_barrier_leave
#define ondeck_barrier_end ondeck_tsan_barrier_end
#define ondeck_barrier_wait_end ondeck_tsan_barrier_wait_end

#elif defined(ONDECK_STATS)
/*
 * Each lock and unlock is a call, which the library can count and time. `site` becomes the address
 * of the program's instruction.
 */
#if defined(__GNUC__)
#define ONDECK_COUNTED static __inline__ __attribute__((__always_inline__, __unused__))
#else
#define ONDECK_COUNTED static __inline
#endif
#if defined(__GNUC__) && defined(__x86_64__)
#define ONDECK_SITE(site) __asm__ __volatile__("leaq 0(%%rip), %0" : "=r"(site))
#elif defined(__GNUC__) && defined(__aarch64__)
#define ONDECK_SITE(site) __asm__ __volatile__("adr %0, ." : "=r"(site))
#else
#define ONDECK_SITE(site) ((site) = 0)
#endif

/* Acquires by a call. `after` follows it. */
#define ONDECK_COUNTS(name, what, parameters, arguments, after)                                    \
    ONDECK_COUNTED int ondeck_counted_##name parameters ONDECK_NOEXCEPT                            \
    {                                                                                              \
        const void *site;                                                                          \
        int error;                                                                                 \
        ONDECK_SITE(site);                                                                         \
        ondeck_stats_acquires(site);                                                               \
        error = ondeck_##name arguments;                                                           \
        after;                                                                                     \
        ondeck_stats_acquired(lock, what, site, error);                                            \
        return error;                                                                              \
    }
#define ONDECK_COUNTS_LOCK(name, type, what)                                                       \
    ONDECK_COUNTS(name, what, (type * lock), (lock), (void)0)
#define ONDECK_COUNTS_CLOCKLOCK(name, type, what)                                                  \
    ONDECK_COUNTS(name, what, (type * lock, int clock, const struct timespec *deadline),           \
                  (lock, clock, deadline), (void)0)
#define ONDECK_COUNTS_UNLOCK(name, type, what)                                                     \
    ONDECK_COUNTED int ondeck_counted_##name(type *lock) ONDECK_NOEXCEPT                           \
    {                                                                                              \
        ondeck_stats_unlocks(lock, what);                                                          \
        ondeck_##name(lock);                                                                       \
        ondeck_stats_unlocked(1);                                                                  \
        return 0;                                                                                  \
    }

ONDECK_COUNTED void ondeck_counted_end(const void *lock, int what, int error) ONDECK_NOEXCEPT
{
    if (error == 0) {
        ondeck_stats_unlocks(lock, what);
        ondeck_stats_unlocked(0);
    }
}

/* A lock that is held in another way from now on counts as another hold. */
#define ONDECK_COUNTS_CHANGE(name, from, to)                                                       \
    ONDECK_COUNTS(name, to, (ondeck_rwlock_t * lock), (lock),                                      \
                  ondeck_counted_end(lock, from, error))

ONDECK_COUNTS_LOCK(mutex_lock, ondeck_mutex_t, ONDECK_STATS_MUTEX)
ONDECK_COUNTS_LOCK(mutex_trylock, ondeck_mutex_t, ONDECK_STATS_MUTEX)
ONDECK_COUNTS(mutex_timedlock, ONDECK_STATS_MUTEX,
              (ondeck_mutex_t * lock, const struct timespec *deadline), (lock, deadline), (void)0)
ONDECK_COUNTS_CLOCKLOCK(mutex_clocklock, ondeck_mutex_t, ONDECK_STATS_MUTEX)
ONDECK_COUNTS_UNLOCK(mutex_unlock, ondeck_mutex_t, ONDECK_STATS_MUTEX)
ONDECK_COUNTS_LOCK(rwlock_rdlock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_LOCK(rwlock_tryrdlock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_CLOCKLOCK(rwlock_clockrdlock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_UNLOCK(rwlock_rdunlock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_LOCK(rwlock_wrlock, ondeck_rwlock_t, ONDECK_STATS_WRITE)
ONDECK_COUNTS_LOCK(rwlock_trywrlock, ondeck_rwlock_t, ONDECK_STATS_WRITE)
ONDECK_COUNTS_CLOCKLOCK(rwlock_clockwrlock, ondeck_rwlock_t, ONDECK_STATS_WRITE)
ONDECK_COUNTS_UNLOCK(rwlock_wrunlock, ondeck_rwlock_t, ONDECK_STATS_WRITE)
ONDECK_COUNTS_LOCK(rwlock_uplock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_LOCK(rwlock_tryuplock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_CLOCKLOCK(rwlock_clockuplock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_UNLOCK(rwlock_upunlock, ondeck_rwlock_t, ONDECK_STATS_READ)
ONDECK_COUNTS_CHANGE(rwlock_upgrade, ONDECK_STATS_READ, ONDECK_STATS_WRITE)
ONDECK_COUNTS_CHANGE(rwlock_tryupgrade, ONDECK_STATS_READ, ONDECK_STATS_WRITE)
ONDECK_COUNTS(rwlock_clockupgrade, ONDECK_STATS_WRITE,
              (ondeck_rwlock_t * lock, int clock, const struct timespec *deadline),
              (lock, clock, deadline), ondeck_counted_end(lock, ONDECK_STATS_READ, error))
ONDECK_COUNTS_CHANGE(rwlock_downgrade, ONDECK_STATS_WRITE, ONDECK_STATS_READ)
ONDECK_COUNTS_CHANGE(rwlock_downgrade_to_up, ONDECK_STATS_WRITE, ONDECK_STATS_READ)
ONDECK_COUNTS_LOCK(sem_wait, ondeck_sem_t, ONDECK_STATS_PERMIT)
ONDECK_COUNTS_CLOCKLOCK(sem_clockwait, ondeck_sem_t, ONDECK_STATS_PERMIT)

/* The mutex is unlocked during a wait. Every function that waits returns with the mutex locked. */
ONDECK_COUNTED int ondeck_counted_cond_clockwait(ondeck_cond_t *cond, ondeck_mutex_t *mutex,
                                                 int clock,
                                                 const struct timespec *deadline) ONDECK_NOEXCEPT
{
    const void *site;
    int error;
    ONDECK_SITE(site);
    ondeck_counted_end(mutex, ONDECK_STATS_MUTEX, 0);
    error = deadline ? ondeck_cond_clockwait(cond, mutex, clock, deadline)
                     : ondeck_cond_wait(cond, mutex);
    ondeck_stats_acquired(mutex, ONDECK_STATS_MUTEX, site, 0);
    return error;
}

/*
 * With parentheses, because the compiler may refuse what must be inlined through a pointer. The
 * address of a function is still that of the library's, which counts waits, and no holds.
 */
#define ondeck_mutex_lock(...) ondeck_counted_mutex_lock(__VA_ARGS__)
#define ondeck_mutex_trylock(...) ondeck_counted_mutex_trylock(__VA_ARGS__)
#define ondeck_mutex_timedlock(...) ondeck_counted_mutex_timedlock(__VA_ARGS__)
#define ondeck_mutex_clocklock(...) ondeck_counted_mutex_clocklock(__VA_ARGS__)
#define ondeck_mutex_unlock(...) ondeck_counted_mutex_unlock(__VA_ARGS__)
#define ondeck_rwlock_rdlock(...) ondeck_counted_rwlock_rdlock(__VA_ARGS__)
#define ondeck_rwlock_tryrdlock(...) ondeck_counted_rwlock_tryrdlock(__VA_ARGS__)
#define ondeck_rwlock_clockrdlock(...) ondeck_counted_rwlock_clockrdlock(__VA_ARGS__)
#define ondeck_rwlock_rdunlock(...) ondeck_counted_rwlock_rdunlock(__VA_ARGS__)
#define ondeck_rwlock_wrlock(...) ondeck_counted_rwlock_wrlock(__VA_ARGS__)
#define ondeck_rwlock_trywrlock(...) ondeck_counted_rwlock_trywrlock(__VA_ARGS__)
#define ondeck_rwlock_clockwrlock(...) ondeck_counted_rwlock_clockwrlock(__VA_ARGS__)
#define ondeck_rwlock_wrunlock(...) ondeck_counted_rwlock_wrunlock(__VA_ARGS__)
#define ondeck_rwlock_uplock(...) ondeck_counted_rwlock_uplock(__VA_ARGS__)
#define ondeck_rwlock_tryuplock(...) ondeck_counted_rwlock_tryuplock(__VA_ARGS__)
#define ondeck_rwlock_clockuplock(...) ondeck_counted_rwlock_clockuplock(__VA_ARGS__)
#define ondeck_rwlock_upunlock(...) ondeck_counted_rwlock_upunlock(__VA_ARGS__)
#define ondeck_rwlock_upgrade(...) ondeck_counted_rwlock_upgrade(__VA_ARGS__)
#define ondeck_rwlock_tryupgrade(...) ondeck_counted_rwlock_tryupgrade(__VA_ARGS__)
#define ondeck_rwlock_clockupgrade(...) ondeck_counted_rwlock_clockupgrade(__VA_ARGS__)
#define ondeck_rwlock_downgrade(...) ondeck_counted_rwlock_downgrade(__VA_ARGS__)
#define ondeck_rwlock_downgrade_to_up(...) ondeck_counted_rwlock_downgrade_to_up(__VA_ARGS__)
#define ondeck_sem_wait(...) ondeck_counted_sem_wait(__VA_ARGS__)
#define ondeck_sem_clockwait(...) ondeck_counted_sem_clockwait(__VA_ARGS__)
#define ondeck_cond_wait(...) ondeck_counted_cond_clockwait(__VA_ARGS__, 0, 0)
#define ondeck_cond_timedwait(cond, mutex, deadline)                                               \
    ondeck_counted_cond_clockwait(cond, mutex, 0, deadline)
#define ondeck_cond_clockwait(...) ondeck_counted_cond_clockwait(__VA_ARGS__)

#elif defined(__GNUC__) && !defined(ONDECK_NO_INLINE) && defined(__linux__) &&                     \
    defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
/* The definition is for inlining only, in C and in C++: the compiler never emits it as a
 * function. */
#define ONDECK_INLINE                                                                              \
    extern __inline__ __attribute__((__gnu_inline__, __always_inline__, __artificial__))

/*
 * The ABI of the inlined paths, number ONDECK_ABI. The name of the table contains that number, so
 * the linker or the loader refuses the reference to the table if the library has another number.
 */

/*
 * The address of a table of the library. It comes from the global offset table, even in a program
 * that is not position-independent: with a plain reference the linker would copy the table into the
 * program.
 */
#if defined(__x86_64__)
#define ONDECK_TABLE(name, pointer) __asm__("movq " name "@GOTPCREL(%%rip), %0" : "=r"(pointer))
#else
#define ONDECK_TABLE(name, pointer)                                                                \
    __asm__("adrp %0, :got:" name "\n\tldr %0, [%0, :got_lo12:" name "]" : "=r"(pointer))
#endif

/* The unlock mode of the mutex's bucket. */
ONDECK_INLINE const uintptr_t *ondeck_unlock_mode(const ondeck_mutex_t *mutex) ONDECK_NOEXCEPT
{
    const uintptr_t *modes;
    ONDECK_TABLE("ondeck_parking_table_6", modes);
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
 * A store between two loads of the unlock mode, with compiler fences only.
 *
 * The mode is ONDECK_UNLOCK_QUIET unless a waiting thread has published a request to the unlocks of
 * the bucket. The protocol needs a fence between the store and the second load, so that an unlock
 * and a requesting thread do not miss each other. The requesting thread issues that fence for both
 * sides with membarrier(2) before it sleeps for long: either it then sees this thread's store, or
 * the second load sees its request. If the kernel refuses membarrier, the requesting thread polls
 * the lock from time to time.
 *
 * If the first load finds another mode, the unlock may have to hand off instead of storing: the
 * library does the whole unlock.
 *
 * After the store the mutex is not accessed: another thread may have freed it. Only its address is
 * used.
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
 * Only a load if no thread waits. Relaxed: a waiter writes the byte before it unlocks its mutex, so
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

/* The library's functions, under names that are not inlined. */
int ondeck_call_rwlock_rdunlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
    __asm__("ondeck_rwlock_rdunlock");
int ondeck_call_rwlock_tryrdlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
    __asm__("ondeck_rwlock_tryrdlock");
int ondeck_call_rwlock_trywrlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
    __asm__("ondeck_rwlock_trywrlock");
int ondeck_call_sem_wait(ondeck_sem_t *sem) ONDECK_NOEXCEPT __asm__("ondeck_sem_wait");
int ondeck_call_sem_post(ondeck_sem_t *sem) ONDECK_NOEXCEPT __asm__("ondeck_sem_post");
int ondeck_call_once_begin(ondeck_once_t *once) ONDECK_NOEXCEPT __asm__("ondeck_once_begin");

ONDECK_INLINE int ondeck_changes(uint32_t *word, uint32_t from, uint32_t to,
                                 int order) ONDECK_NOEXCEPT
{
    return __atomic_compare_exchange_n(word, &from, to, 0, order, __ATOMIC_RELAXED);
}

/*
 * Reader-writer locks: a change of the word, if it allows that at once. Acquire: pairs with the
 * release of the unlocks.
 */
ONDECK_INLINE int ondeck_rwlock_reads(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    uint32_t word = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);
    /* An exchange for a constant does not wait for the load. */
    return word == 0 ? ondeck_changes(&lock->word, 0, ONDECK_RWLOCK_READER, __ATOMIC_ACQUIRE)
                     : (word & ONDECK_RWLOCK_CLOSED) == 0 &&
                           ondeck_changes(&lock->word, word, word + ONDECK_RWLOCK_READER,
                                          __ATOMIC_ACQUIRE);
}

ONDECK_INLINE int ondeck_rwlock_rdlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    return ondeck_rwlock_reads(lock) ? 0 : ondeck_rwlock_rdlock_contended(lock);
}

ONDECK_INLINE int ondeck_rwlock_tryrdlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    return ondeck_rwlock_reads(lock) ? 0 : ondeck_call_rwlock_tryrdlock(lock);
}

/*
 * If this thread's read is not counted, the lock has been biased since, and the thread has a row of
 * visible readers. The first word of the rows is 0 until a thread has one. It is read before the
 * word of the lock, whose load right after an exchange takes 3.5 ns of a pair's 17 on a Xeon.
 * Relaxed: the thread has made both stores itself, or seen them when it acquired the lock. After
 * the count the lock is not accessed: another thread may have freed it.
 */
ONDECK_INLINE int ondeck_rwlock_rdunlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    const uintptr_t *rows;
    uint32_t before;
    ONDECK_TABLE("ondeck_reader_rows_2", rows);
    if (__builtin_expect(__atomic_load_n(rows, __ATOMIC_RELAXED) != 0, 0) &&
        (__atomic_load_n(&lock->word, __ATOMIC_RELAXED) & ONDECK_RWLOCK_BIASED))
        return ondeck_call_rwlock_rdunlock(lock);
    before = __atomic_fetch_sub(&lock->word, ONDECK_RWLOCK_READER, __ATOMIC_RELEASE);
    if (__builtin_expect((before & ONDECK_RWLOCK_LEAVING) == ONDECK_RWLOCK_LAST, 0))
        ondeck_rwlock_rdunlocked(lock);
    return 0;
}

ONDECK_INLINE int ondeck_rwlock_wrlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    uint32_t found = 0;
    if (__builtin_expect(!__atomic_compare_exchange_n(&lock->word, &found, ONDECK_RWLOCK_WRITER, 0,
                                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED),
                         0))
        ondeck_rwlock_wrlock_contended(lock, found);
    return 0;
}

ONDECK_INLINE int ondeck_rwlock_trywrlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    if (__builtin_expect(
            ondeck_changes(&lock->word, 0, ONDECK_RWLOCK_WRITER, __ATOMIC_ACQUIRE), 1))
        return 0;
    return ondeck_call_rwlock_trywrlock(lock);
}

ONDECK_INLINE int ondeck_rwlock_wrunlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    if (__builtin_expect(
            !ondeck_changes(&lock->word, ONDECK_RWLOCK_WRITER, 0, __ATOMIC_RELEASE), 0))
        ondeck_rwlock_wrunlock_contended(lock);
    return 0;
}

/* Semaphores: a permit less, if one is free and not reserved; one more, if no thread waits. */
ONDECK_INLINE int ondeck_sem_wait(ondeck_sem_t *sem) ONDECK_NOEXCEPT
{
    uint32_t word = __atomic_load_n(&sem->word, __ATOMIC_RELAXED);
    if (__builtin_expect((int32_t)word < ONDECK_SEM_PERMIT ||
                             !ondeck_changes(&sem->word, word, word - ONDECK_SEM_PERMIT,
                                             __ATOMIC_ACQUIRE),
                         0))
        ondeck_call_sem_wait(sem);
    return 0;
}

ONDECK_INLINE int ondeck_sem_post(ondeck_sem_t *sem) ONDECK_NOEXCEPT
{
    uint32_t word = __atomic_load_n(&sem->word, __ATOMIC_RELAXED);
    uint32_t sum = word + ONDECK_SEM_PERMIT;
    if (__builtin_expect((word & ONDECK_SEM_WAITED) == 0 && (int32_t)sum >= 0 &&
                             ondeck_changes(&sem->word, word, sum, __ATOMIC_RELEASE),
                         1))
        return 0;
    return ondeck_call_sem_post(sem);
}

/* A load, once it is done. Acquire: pairs with the end. */
ONDECK_INLINE int ondeck_once_begin(ondeck_once_t *once) ONDECK_NOEXCEPT
{
    if (__builtin_expect(__atomic_load_n(&once->byte, __ATOMIC_ACQUIRE) & ONDECK_ONCE_DONE, 1))
        return 0;
    return ondeck_call_once_begin(once);
}

#endif

#ifdef __cplusplus
}
#endif

#endif /* ONDECK_H */
