/* Spinlocks: the word is the C library's, and so are all functions except the one that waits.

     word   1        free
            0 or less  taken; a thread without the shim counts it down by its attempts

   So one word serves threads of processes with and without the shim, without a mark for either.

   The C library's pthread_spin_lock polls the word until it is free. If the owner has lost its CPU,
   the waiters waste theirs, and in a real-time class they may keep the owner from running forever.
   Here a thread that has polled the word for the duration of a wake sleeps briefly, then twice as
   long each time, up to a millisecond, and polls again. No thread wakes it, so an unlock is one
   store and never a system call: signal handlers and real-time threads may do the same in a section
   as with the C library. A waiting thread is recorded nowhere, so its asynchronous cancellation
   leaves nothing to clean up. */

#define _GNU_SOURCE
#include "futex.h"
#include "polling.h"

#include <pthread.h>

enum { FREE = 1, TAKEN = 0 };

static inline int take(pthread_spinlock_t *lock)
{
    /* Acquire: pairs with the store of the unlock. */
    return __atomic_exchange_n(lock, TAKEN, __ATOMIC_ACQUIRE) == FREE;
}

/* Polls until the lock seems free. Returns false if it does not become free soon. */
static int is_free_soon(const pthread_spinlock_t *lock, uint64_t budget)
{
    uint64_t begin = ticks();

    while (__atomic_load_n(lock, __ATOMIC_RELAXED) <= TAKEN) {
        if (ticks() - begin >= budget)
            return 0;
        pause_for_a_moment();
    }
    return 1;
}

static void sleep_for(long nanoseconds)
{
    static const uint32_t never;
    struct timespec end;

    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += nanoseconds;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    /* The sleep ends by its timeout, or by a signal. */
    futex_wait(&never, 0, FUTEX_PRIVATE_FLAG, &end);
}

static __attribute__((cold, noinline)) void wait(pthread_spinlock_t *lock)
{
    enum { SHORTEST = 50000, LONGEST = 1000000 };
    uint64_t budget = ondeck_preload_polling_ticks();
    long sleep = SHORTEST;

    do {
        while (!is_free_soon(lock, budget)) {
            sleep_for(sleep);
            sleep = sleep * 2 < LONGEST ? sleep * 2 : LONGEST;
        }
    } while (!take(lock));
}

int ondeck_preload_spin_lock(pthread_spinlock_t *);
NAME(ondeck_preload_spin_lock, "pthread_spin_lock@@GLIBC_2.34");
NAME(ondeck_preload_spin_lock, "pthread_spin_lock@GLIBC_2.2.5");
int ondeck_preload_spin_lock(pthread_spinlock_t *lock)
{
    if (__builtin_expect(!take(lock), 0))
        wait(lock);
    return 0;
}
