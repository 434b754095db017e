/* Condition variables, semaphores and barriers. Waits for the first two are cancellation points: a cleanup handler
   ends the record of a wait whose thread is cancelled. */

#include "order.h"

#include <errno.h>
#include <semaphore.h>
#include <threads.h>

typedef int of_one(void *);
typedef int of_one_until(void *, const struct timespec *);
typedef int of_one_until_by(void *, clockid_t, const struct timespec *);
typedef int of_two(void *, void *);
typedef int of_two_until(void *, void *, const struct timespec *);
typedef int of_two_until_by(void *, void *, clockid_t, const struct timespec *);

static void cancelled(void *sleep)
{
    end(sleep, NEVER, 0);
}

/* The C library's own kind of cleanup handler. It ends with its frame also if a signal handler leaves that by longjmp(3);
   after a handler of <pthread.h> the thread's end would use the frame. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *, void (*)(void *), void *);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *, int is_called);

/* Runs CALL, which waits and may be cancelled, between the records of the wait. */
#define WAIT(object, kind, how_of, call)                \
    struct sleep sleep = begin(object, kind, BASE);     \
    struct _pthread_cleanup_buffer handler;             \
    _pthread_cleanup_push(&handler, cancelled, &sleep); \
    int result = call;                                  \
    _pthread_cleanup_pop(&handler, 0);                  \
    end(&sleep, how_of, BASE)

/* Wakes that CALL makes. */
static inline __attribute__((always_inline)) int wake(enum real by, void *object, uintptr_t base)
{
    if (likely(!is_awaited(object)))
        return ((of_one *)real(by))(object);
    struct wake wake = before_wake(object, base);
    int result = ((of_one *)real(by))(object);
    after_wake(&wake, base);
    return result;
}

/* A wait at a condition variable unlocks the mutex, for which other threads may wait. */
#define WAIT_AT_CONDITION(cond, mutex, how_of, call)   \
    do {                                               \
        if (!ondeck_observe_is_wanted)                 \
            return call;                               \
        if (is_awaited(mutex))                         \
            before_wake(mutex, BASE);                  \
        order_unlocks(mutex, ALONE);                   \
        order_waits(mutex, ALONE, BASE);               \
        WAIT(cond, CONDVAR, how_of, call);             \
        order_waited(mutex, ALONE, 0, BASE);           \
        acquired(mutex);                               \
        return result;                                 \
    } while (0)

#define HOW (result == 0 ? WOKEN : result == ETIMEDOUT ? GAVE_UP : NEVER)
#define HOW_C11 (result == thrd_success ? WOKEN : result == thrd_timedout ? GAVE_UP : NEVER)

NAME(ondeck_observe_cond_wait, "pthread_cond_wait@@GLIBC_2.3.2");
int ondeck_observe_cond_wait(void *cond, void *mutex)
{
    WAIT_AT_CONDITION(cond, mutex, HOW, ((of_two *)real(COND_WAIT))(cond, mutex));
}

NAME(ondeck_observe_cond_timedwait, "pthread_cond_timedwait@@GLIBC_2.3.2");
int ondeck_observe_cond_timedwait(void *cond, void *mutex, const struct timespec *end_time)
{
    WAIT_AT_CONDITION(cond, mutex, HOW, ((of_two_until *)real(COND_TIMEDWAIT))(cond, mutex, end_time));
}

NAME(ondeck_observe_cond_clockwait, "pthread_cond_clockwait@@GLIBC_2.34");
NAME(ondeck_observe_cond_clockwait, "pthread_cond_clockwait@GLIBC_2.30");
int ondeck_observe_cond_clockwait(void *cond, void *mutex, clockid_t clock, const struct timespec *end_time)
{
    WAIT_AT_CONDITION(cond, mutex, HOW, ((of_two_until_by *)real(COND_CLOCKWAIT))(cond, mutex, clock, end_time));
}

NAME(ondeck_observe_cond_signal, "pthread_cond_signal@@GLIBC_2.3.2");
int ondeck_observe_cond_signal(void *cond)
{
    return wake(COND_SIGNAL, cond, BASE);
}

NAME(ondeck_observe_cond_broadcast, "pthread_cond_broadcast@@GLIBC_2.3.2");
int ondeck_observe_cond_broadcast(void *cond)
{
    return wake(COND_BROADCAST, cond, BASE);
}

NAME(ondeck_observe_cnd_wait, "cnd_wait@@GLIBC_2.34");
NAME(ondeck_observe_cnd_wait, "cnd_wait@GLIBC_2.28");
int ondeck_observe_cnd_wait(void *cond, void *mutex)
{
    WAIT_AT_CONDITION(cond, mutex, HOW_C11, ((of_two *)real(CND_WAIT))(cond, mutex));
}

NAME(ondeck_observe_cnd_timedwait, "cnd_timedwait@@GLIBC_2.34");
NAME(ondeck_observe_cnd_timedwait, "cnd_timedwait@GLIBC_2.28");
int ondeck_observe_cnd_timedwait(void *cond, void *mutex, const struct timespec *end_time)
{
    WAIT_AT_CONDITION(cond, mutex, HOW_C11, ((of_two_until *)real(CND_TIMEDWAIT))(cond, mutex, end_time));
}

NAME(ondeck_observe_cnd_signal, "cnd_signal@@GLIBC_2.34");
NAME(ondeck_observe_cnd_signal, "cnd_signal@GLIBC_2.28");
int ondeck_observe_cnd_signal(void *cond)
{
    return wake(CND_SIGNAL, cond, BASE);
}

NAME(ondeck_observe_cnd_broadcast, "cnd_broadcast@@GLIBC_2.34");
NAME(ondeck_observe_cnd_broadcast, "cnd_broadcast@GLIBC_2.28");
int ondeck_observe_cnd_broadcast(void *cond)
{
    return wake(CND_BROADCAST, cond, BASE);
}

/* Semaphores report errors in errno. */
#define HOW_OF_SEMAPHORE (result == 0 ? WOKEN : errno == ETIMEDOUT || errno == EINTR ? GAVE_UP : NEVER)

/* Whether the semaphore has to be waited for. */
static int is_empty(void *semaphore)
{
    int before = errno, result = ((of_one *)real(SEM_TRYWAIT))(semaphore);
    if (result != 0)
        errno = before;
    return result != 0;
}

/* `is_point` if the C library's function is a cancellation point even if it need not sleep. */
#define WAIT_AT_SEMAPHORE(semaphore, is_point, is_checked, call) \
    do {                                                     \
        if (!ondeck_observe_is_wanted || !(is_checked))      \
            return call;                                     \
        if (is_point)                                        \
            pthread_testcancel();                            \
        if (!is_empty(semaphore)) {                          \
            acquired(semaphore);                             \
            return 0;                                        \
        }                                                    \
        WAIT(semaphore, SEMAPHORE, HOW_OF_SEMAPHORE, call);  \
        return result;                                       \
    } while (0)

NAME(ondeck_observe_sem_wait, "sem_wait@@GLIBC_2.34");
NAME(ondeck_observe_sem_wait, "sem_wait@GLIBC_2.2.5");
int ondeck_observe_sem_wait(void *semaphore)
{
    WAIT_AT_SEMAPHORE(semaphore, 1, 1, ((of_one *)real(SEM_WAIT))(semaphore));
}

/* These refuse a time that is none even if they need not wait. */
NAME(ondeck_observe_sem_timedwait, "sem_timedwait@@GLIBC_2.34");
NAME(ondeck_observe_sem_timedwait, "sem_timedwait@GLIBC_2.2.5");
int ondeck_observe_sem_timedwait(void *semaphore, const struct timespec *end_time)
{
    WAIT_AT_SEMAPHORE(semaphore, 1, is_valid(CLOCK_REALTIME, end_time),
                      ((of_one_until *)real(SEM_TIMEDWAIT))(semaphore, end_time));
}

NAME(ondeck_observe_sem_clockwait, "sem_clockwait@@GLIBC_2.34");
NAME(ondeck_observe_sem_clockwait, "sem_clockwait@GLIBC_2.30");
int ondeck_observe_sem_clockwait(void *semaphore, clockid_t clock, const struct timespec *end_time)
{
    WAIT_AT_SEMAPHORE(semaphore, 0, is_valid(clock, end_time),
                      ((of_one_until_by *)real(SEM_CLOCKWAIT))(semaphore, clock, end_time));
}

NAME(ondeck_observe_sem_post, "sem_post@@GLIBC_2.34");
NAME(ondeck_observe_sem_post, "sem_post@GLIBC_2.2.5");
int ondeck_observe_sem_post(void *semaphore)
{
    return wake(SEM_POST, semaphore, BASE);
}

/* Each thread that arrives has kept waiting those that have come before it. */
NAME(ondeck_observe_barrier_wait, "pthread_barrier_wait@@GLIBC_2.34");
NAME(ondeck_observe_barrier_wait, "pthread_barrier_wait@GLIBC_2.2.5");
int ondeck_observe_barrier_wait(void *barrier)
{
    int result;
    if (!ondeck_observe_is_wanted)
        return ((of_one *)real(BARRIER_WAIT))(barrier);
    if (is_awaited(barrier)) {
        struct wake arrival = before_wake(barrier, BASE);
        after_wake(&arrival, BASE);
    }
    struct sleep sleep = begin(barrier, BARRIER, BASE);
    result = ((of_one *)real(BARRIER_WAIT))(barrier);
    end(&sleep, WOKEN, BASE);
    return result;
}
