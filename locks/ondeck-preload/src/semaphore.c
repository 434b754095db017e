/* Semaphores: the words are the C library's, and so are all functions except those that wait.

     data      bits 0-31   the value
               bits 32-63  how many threads sleep, or are about to, or have been woken and not run yet
     private   0, or not 0 for a semaphore that processes share: the C library's

   The C library's sem_wait sleeps at once, so each post is a system call, and each wait costs two context switches.
   Here a thread that finds 0, while no other thread sleeps, polls the value for the duration of a wake. Then it does
   the same as the C library: it counts itself, sleeps while the value is 0, and decrements the value and the count in
   one step.

   sem_post stays the C library's: one change of `data`, and a wake by the address if that counted a thread. It takes
   no lock, so signal handlers may call it, and it accesses nothing after the change, so the thread that takes the
   posted unit may free the semaphore. The parking table's locks would allow neither.

   A wait is a cancellation point, and ends with EINTR if a handler ran. So all of it is in C; see cancel.c. */

#define _GNU_SOURCE
#include "futex.h"
#include "polling.h"

#include <errno.h>
#include <semaphore.h>

#define WAITER ((uint64_t)1 << 32)

struct semaphore { uint64_t data; int32_t private_or_shared; };

static inline uint32_t value_of(uint64_t data)
{
    return (uint32_t)data;
}

/* Takes one unit, and `more`, if there is a unit. Acquire: pairs with the release of the post. */
static inline int take(struct semaphore *semaphore, uint64_t more)
{
    uint64_t data = __atomic_load_n(&semaphore->data, __ATOMIC_RELAXED);

    while (value_of(data) != 0) {
        if (__atomic_compare_exchange_n(&semaphore->data, &data, data - 1 - more, 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return 1;
    }
    return 0;
}

/* Polls for a unit for a short time. A thread that finds others asleep does not poll: the next post wakes one of
   those. */
static int take_soon(struct semaphore *semaphore)
{
    uint64_t budget = ondeck_preload_polling_ticks(), begin = ticks();

    while (__atomic_load_n(&semaphore->data, __ATOMIC_RELAXED) < WAITER) {
        if (take(semaphore, 0))
            return 1;
        if (ticks() - begin >= budget)
            return 0;
        pause_for_a_moment();
    }
    return 0;
}

/* Removes the calling thread, which gives up, from the count. A cancelled thread may have been woken just before:
   another thread must then get the posted unit. */
static void leave(void *pointer)
{
    struct semaphore *semaphore = pointer;
    uint64_t data;

    ondeck_preload_set_cancel_type(PTHREAD_CANCEL_DEFERRED);
    data = __atomic_sub_fetch(&semaphore->data, WAITER, __ATOMIC_RELAXED);
    if (data >= WAITER && value_of(data) != 0)
        futex_wake_one((const uint32_t *)&semaphore->data);
}

/* Sleeps while the value is 0, and may be cancelled. */
static long sleep_once(struct semaphore *semaphore, int flags, const struct timespec *deadline)
{
    int type = ondeck_preload_set_cancel_type(PTHREAD_CANCEL_ASYNCHRONOUS);
    /* The value is the first half of the word. */
    long result = futex_wait((const uint32_t *)&semaphore->data, 0, flags | FUTEX_PRIVATE_FLAG, deadline);

    ondeck_preload_set_cancel_type(type);
    return result;
}

/* Returns an error number. The calling thread is counted, until it has taken a unit. */
static int sleep_until_taken(struct semaphore *semaphore, clockid_t clock, const struct timespec *deadline)
{
    int flags = clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0;

    while (!take(semaphore, WAITER)) {
        long result;

        /* The kernel refuses it. */
        if (deadline && deadline->tv_sec < 0)
            return ETIMEDOUT;
        result = sleep_once(semaphore, flags, deadline);
        if (result == -ETIMEDOUT || result == -EINTR)
            return (int)-result;
    }
    return 0;
}

static void post_again(void *semaphore)
{
    sem_post(semaphore);
}

static int wait_deferred(struct semaphore *semaphore, clockid_t clock, const struct timespec *deadline)
{
    int error;

    if (take_soon(semaphore))
        return 0;
    __atomic_fetch_add(&semaphore->data, WAITER, __ATOMIC_RELAXED);
    pthread_cleanup_push(leave, semaphore);
    error = sleep_until_taken(semaphore, clock, deadline);
    pthread_cleanup_pop(0);
    if (error)
        leave(semaphore);
    return error;
}

static __attribute__((cold, noinline)) int wait_slow(struct semaphore *semaphore, clockid_t clock,
                                                     const struct timespec *deadline)
{
    int type = defer();
    int error = wait_deferred(semaphore, clock, deadline);

    if (error) {
        restore(type);
        errno = error;
        return -1;
    }
    if (type == PTHREAD_CANCEL_DEFERRED)
        return 0;
    /* A thread that is cancelled here does not know yet that it has taken a unit. */
    pthread_cleanup_push(post_again, semaphore);
    restore(type);
    pthread_cleanup_pop(0);
    return 0;
}

static inline int wait(struct semaphore *semaphore, clockid_t clock, const struct timespec *deadline)
{
    return take(semaphore, 0) ? 0 : wait_slow(semaphore, clock, deadline);
}

static inline int is_shared(const struct semaphore *semaphore)
{
    return __atomic_load_n(&semaphore->private_or_shared, __ATOMIC_RELAXED) != 0;
}

typedef int wait_function(sem_t *);
typedef int clockwait_function(sem_t *, clockid_t, const struct timespec *);

int ondeck_preload_sem_wait(sem_t *);
NAME(ondeck_preload_sem_wait, "sem_wait@@GLIBC_2.34");
NAME(ondeck_preload_sem_wait, "sem_wait@GLIBC_2.2.5");
int ondeck_preload_sem_wait(sem_t *object)
{
    struct semaphore *semaphore = (struct semaphore *)object;

    if (is_shared(semaphore))
        return ((wait_function *)ondeck_preload_real(SEM_WAIT))(object);
    /* A pending cancellation acts even if the thread need not wait. */
    pthread_testcancel();
    return wait(semaphore, CLOCK_MONOTONIC, NULL);
}

static inline int is_invalid(const struct timespec *deadline)
{
    return deadline->tv_nsec < 0 || deadline->tv_nsec > 999999999;
}

int ondeck_preload_sem_clockwait(sem_t *, clockid_t, const struct timespec *);
NAME(ondeck_preload_sem_clockwait, "sem_clockwait@@GLIBC_2.34");
NAME(ondeck_preload_sem_clockwait, "sem_clockwait@GLIBC_2.30");
int ondeck_preload_sem_clockwait(sem_t *object, clockid_t clock, const struct timespec *deadline)
{
    struct semaphore *semaphore = (struct semaphore *)object;

    if (is_shared(semaphore))
        return ((clockwait_function *)ondeck_preload_real(SEM_CLOCKWAIT))(object, clock, deadline);
    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || is_invalid(deadline)) {
        errno = EINVAL;
        return -1;
    }
    /* A pending cancellation acts only if the thread has to sleep, as in the C library. */
    return wait(semaphore, clock, deadline);
}

int ondeck_preload_sem_timedwait(sem_t *, const struct timespec *);
NAME(ondeck_preload_sem_timedwait, "sem_timedwait@@GLIBC_2.34");
NAME(ondeck_preload_sem_timedwait, "sem_timedwait@GLIBC_2.2.5");
int ondeck_preload_sem_timedwait(sem_t *object, const struct timespec *deadline)
{
    /* As in sem_wait, but an invalid deadline is checked first. */
    if (!is_invalid(deadline))
        pthread_testcancel();
    return ondeck_preload_sem_clockwait(object, CLOCK_REALTIME, deadline);
}
