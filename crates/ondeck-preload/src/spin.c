/* Spinlocks: the word is the C library's, and so are all functions but the one that waits.

     word   1        free
            0 or less  taken; a thread without the shim counts it down by its attempts

   So one word serves threads of processes with and without the shim, and needs no mark for which of the two it is.

   The C library's pthread_spin_lock reads the word until it is free. If the thread that has it lost its CPU, those that
   wait burn theirs, and in a real-time class they may keep that one from running for ever. Here a thread that has read
   the word for as long as a wake takes sleeps for a moment, then for twice as long, up to a millisecond, and reads it
   again. No thread wakes it, so that an unlock is one store and never a system call: what signal handlers and threads
   of a real-time class may do in a section is what it is with the C library. Nothing is kept of a thread that waits,
   and its cancellation, if it is asynchronous, leaves nothing behind. */

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

/* Reads until the lock seems free. Not, if it does not become free soon. */
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
    /* It ends by the time, or by a signal. */
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
