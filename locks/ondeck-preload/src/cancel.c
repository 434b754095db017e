/* The waits of condition variables: the part in which a thread may be cancelled.

   A wait is a cancellation point. A cancelled thread is unwound, and no frame of Rust may then be on its stack. So
   all of a wait except its sleep is in cond.rs, and each of those functions has returned before the thread can be
   cancelled. The thread can be cancelled only during the system call: there a cancellation acts at once, as in the C
   library's own waits. The cleanup handler runs before the handlers of the caller, which find the mutex locked. */

#define _GNU_SOURCE
#include "cancel.h"
#include "futex.h"

#include <errno.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#define SLEEP (-1)
#define LIBC (-2)
#define PROXY (-3)
#define OWN_CLOCK (-1)

/* As in cond.rs, which asserts that they are large enough. */
struct wait { _Alignas(128) unsigned char bytes[512]; };
struct sleep { const uint32_t *word; uint32_t expected; uint32_t has_end; struct timespec end; };

OURS int ondeck_preload_wait_begin(struct wait *, pthread_cond_t *, pthread_mutex_t *, int clock,
                                   const struct timespec *);
OURS int ondeck_preload_wait_step(const struct wait *, long slept, struct sleep *);
OURS void ondeck_preload_wait_cancel(const struct wait *);
OURS int ondeck_preload_is_ours(const pthread_mutex_t *);
OURS int ondeck_preload_proxy_unlock(pthread_mutex_t *);
OURS int ondeck_preload_proxy_lock(pthread_mutex_t *);
OURS int ondeck_preload_c11_result(int error);

typedef int wait_function(pthread_cond_t *, pthread_mutex_t *);
typedef int timedwait_function(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int clockwait_function(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

/* Sleeps, and may be cancelled. */
static long sleep_once(const struct sleep *sleep)
{
    int type = ondeck_preload_set_cancel_type(PTHREAD_CANCEL_ASYNCHRONOUS);
    long result;

    result = futex_wait(sleep->word, sleep->expected, FUTEX_PRIVATE_FLAG, sleep->has_end ? &sleep->end : NULL);
    ondeck_preload_set_cancel_type(type);
    return result;
}

static void cancel(void *wait)
{
    /* The handlers of the caller run next, and lock mutexes. */
    ondeck_preload_set_cancel_type(PTHREAD_CANCEL_DEFERRED);
    ondeck_preload_wait_cancel(wait);
}

static int wait_until_told(struct wait *wait, struct sleep *sleep)
{
    int next;
    pthread_cleanup_push(cancel, wait);
    do
        next = ondeck_preload_wait_step(wait, sleep_once(sleep), sleep);
    while (next == SLEEP);
    pthread_cleanup_pop(0);
    return next;
}

static void lock_again(void *mutex)
{
    ondeck_preload_proxy_lock(mutex);
}

static int is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Waits at a condition variable of the C library with a mutex of ours, which the C library cannot unlock: it gets a
   substitute mutex, and the wait ends after some milliseconds, as if spuriously. So a notification between the unlock
   of our mutex and the start of the C library's wait delays the caller, but is not lost. `is_old` is set for a
   condition variable of GLIBC_2.2.5. */
static int wait_by_proxy(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline,
                         int is_old)
{
    enum { LONGEST = 5000000 };
    pthread_mutex_t proxy = PTHREAD_MUTEX_INITIALIZER;
    void *wait = ondeck_preload_real(is_old ? OLD_TIMEDWAIT : CLOCKWAIT);
    struct timespec now, end;
    int result, error;

    clock_gettime(clock, &now);
    end = now;
    end.tv_nsec += LONGEST;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    if (deadline && is_before(deadline, &end))
        end = *deadline;
    error = ondeck_preload_proxy_unlock(mutex);
    if (error)
        return error;
    pthread_cleanup_push(lock_again, mutex);
    if (is_old)
        result = ((timedwait_function *)wait)(cond, &proxy, &end);
    else
        result = ((clockwait_function *)wait)(cond, &proxy, clock, &end);
    pthread_cleanup_pop(0);
    error = ondeck_preload_proxy_lock(mutex);
    if (error)
        return error;
    if (result != ETIMEDOUT)
        return result;
    clock_gettime(clock, &now);
    return deadline && !is_before(&now, deadline) ? ETIMEDOUT : 0;
}

/* `clock` is OWN_CLOCK for the condition variable's own clock. */
static int wait_deferred(pthread_cond_t *cond, pthread_mutex_t *mutex, int clock, const struct timespec *deadline)
{
    /* The bit of the C library's flags that selects the clock. */
    enum { FLAGS = 36, MONOTONIC = 2 };
    struct wait wait;
    struct sleep sleep;
    int next = ondeck_preload_wait_begin(&wait, cond, mutex, clock, deadline);

    if (next == SLEEP) {
        next = ondeck_preload_wait_step(&wait, 0, &sleep);
        return next == SLEEP ? wait_until_told(&wait, &sleep) : next;
    }
    if (next == PROXY) {
        uint32_t flags = __atomic_load_n((uint32_t *)((char *)cond + FLAGS), __ATOMIC_RELAXED);
        if (clock == OWN_CLOCK)
            clock = flags & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
        return wait_by_proxy(cond, mutex, clock, deadline, 0);
    }
    if (next != LIBC)
        return next;
    if (!deadline)
        return ((wait_function *)ondeck_preload_real(WAIT))(cond, mutex);
    if (clock == OWN_CLOCK)
        return ((timedwait_function *)ondeck_preload_real(TIMEDWAIT))(cond, mutex, deadline);
    return ((clockwait_function *)ondeck_preload_real(CLOCKWAIT))(cond, mutex, clock, deadline);
}

/* An asynchronous cancellation may act only during the sleep, and after the wait. */
static int wait_any(pthread_cond_t *cond, pthread_mutex_t *mutex, int clock, const struct timespec *deadline)
{
    int type = defer();
    int result = wait_deferred(cond, mutex, clock, deadline);

    restore(type);
    return result;
}

/* A condition variable of GLIBC_2.2.5 is a pointer to one that the C library has allocated. It stays the C library's,
   which can wait only with its own mutexes. */
static int wait_old_deferred(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    if (deadline && (deadline->tv_nsec < 0 || deadline->tv_nsec > 999999999))
        return EINVAL;
    if (ondeck_preload_is_ours(mutex))
        return wait_by_proxy(cond, mutex, CLOCK_REALTIME, deadline, 1);
    if (!deadline)
        return ((wait_function *)ondeck_preload_real(OLD_WAIT))(cond, mutex);
    return ((timedwait_function *)ondeck_preload_real(OLD_TIMEDWAIT))(cond, mutex, deadline);
}

static int wait_old(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    int type = defer();
    int result = wait_old_deferred(cond, mutex, deadline);

    restore(type);
    return result;
}

/* The functions that programs call, under the names and versions of the C library. */

int ondeck_preload_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int ondeck_preload_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int ondeck_preload_cond_clockwait(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
int ondeck_preload_old_wait(pthread_cond_t *, pthread_mutex_t *);
int ondeck_preload_old_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int ondeck_preload_cnd_wait(cnd_t *, mtx_t *);
int ondeck_preload_cnd_timedwait(cnd_t *, mtx_t *, const struct timespec *);

NAME(ondeck_preload_cond_wait, "pthread_cond_wait@@GLIBC_2.3.2");
int ondeck_preload_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait_any(cond, mutex, OWN_CLOCK, NULL);
}

NAME(ondeck_preload_cond_timedwait, "pthread_cond_timedwait@@GLIBC_2.3.2");
int ondeck_preload_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    return wait_any(cond, mutex, OWN_CLOCK, deadline);
}

NAME(ondeck_preload_cond_clockwait, "pthread_cond_clockwait@@GLIBC_2.34");
NAME(ondeck_preload_cond_clockwait, "pthread_cond_clockwait@GLIBC_2.30");
int ondeck_preload_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                  const struct timespec *deadline)
{
    /* A negative number is the clock of a process or thread, which is refused; it must not be mistaken for
       OWN_CLOCK. */
    return wait_any(cond, mutex, clock < 0 ? INT32_MAX : clock, deadline);
}

NAME(ondeck_preload_old_wait, "pthread_cond_wait@GLIBC_2.2.5");
int ondeck_preload_old_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait_old(cond, mutex, NULL);
}

NAME(ondeck_preload_old_timedwait, "pthread_cond_timedwait@GLIBC_2.2.5");
int ondeck_preload_old_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    return wait_old(cond, mutex, deadline);
}

NAME(ondeck_preload_cnd_wait, "cnd_wait@@GLIBC_2.34");
NAME(ondeck_preload_cnd_wait, "cnd_wait@GLIBC_2.28");
int ondeck_preload_cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    return ondeck_preload_c11_result(wait_any((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, OWN_CLOCK, NULL));
}

NAME(ondeck_preload_cnd_timedwait, "cnd_timedwait@@GLIBC_2.34");
NAME(ondeck_preload_cnd_timedwait, "cnd_timedwait@GLIBC_2.28");
int ondeck_preload_cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *deadline)
{
    return ondeck_preload_c11_result(
        wait_any((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, OWN_CLOCK, deadline));
}
