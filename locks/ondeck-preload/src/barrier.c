/* The wait at a barrier: see barrier.rs. In C, because a thread whose cancellation is asynchronous may end in it. */

#include "cancel.h"

#include <stdint.h>
#include <time.h>

/* As in barrier.rs. */
#define LEADER 1

/* The C library's words. */
struct barrier { uint32_t in, round, count, shared, out; };

typedef int wait_function(pthread_barrier_t *);

OURS int ondeck_preload_barrier_waiting(void *barrier, int clock, const struct timespec *, int in_slices);
OURS int ondeck_preload_wait_deferred(int (*wait)(void *, int, const struct timespec *, int), int (*undo)(void *),
                                      void *object, int clock, const struct timespec *);

/* Undoes nothing: the other threads of the round have continued. */
static int nothing(void *unused)
{
    (void)unused;
    return 0;
}

int ondeck_preload_barrier_wait(pthread_barrier_t *);
NAME(ondeck_preload_barrier_wait, "pthread_barrier_wait@@GLIBC_2.34");
NAME(ondeck_preload_barrier_wait, "pthread_barrier_wait@GLIBC_2.2.5");
int ondeck_preload_barrier_wait(pthread_barrier_t *barrier)
{
    const struct barrier *words = (const struct barrier *)barrier;
    int result;

    if (words->shared)
        return ((wait_function *)ondeck_preload_real(BARRIER_WAIT))(barrier);
    if (ondeck_preload_may_be_asynchronous())
        result = ondeck_preload_wait_deferred(ondeck_preload_barrier_waiting, nothing, barrier, 0, NULL);
    else
        result = ondeck_preload_barrier_waiting(barrier, 0, NULL, 0);
    return result == LEADER ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
