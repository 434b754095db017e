/* Mutexes and reader-writer locks. Each function first tries; what then waits in the C library is recorded. A try
   reports what locking would report, except that the lock is taken.

   Not so for mutexes that the kernel knows the owner of: the C library's attempt at a robust mutex that cannot be
   recovered leaves it locked (glibc 2.36). Their word says whether there is an owner. */

#include "order.h"

#include <errno.h>
#include <linux/futex.h>
#include <threads.h>

typedef int of_lock(void *);
typedef int of_lock_until(void *, const struct timespec *);
typedef int of_lock_until_by(void *, clockid_t, const struct timespec *);

static enum how how(int result)
{
    switch (result) {
    case 0: case EOWNERDEAD: return WOKEN;
    case ETIMEDOUT: return GAVE_UP;
    default: return NEVER;
    }
}

/* The same for the results of C11. */
static enum how how_c11(int result)
{
    return result == thrd_success ? WOKEN : result == thrd_timedout ? GAVE_UP : NEVER;
}

static inline __attribute__((always_inline)) int unlock(enum real by, void *lock, uintptr_t base)
{
    order_unlocks(lock, by == RWLOCK_UNLOCK ? IS_RWLOCK : 0);
    if (likely(!is_awaited(lock)))
        return ((of_lock *)real(by))(lock);
    struct wake wake = before_wake(lock, base);
    int result = ((of_lock *)real(by))(lock);
    after_wake(&wake, base);
    return result;
}

/* The kinds of mutexes that are robust, or have a protocol of priorities. */
enum { KIND = 4, ROBUST = 16, INHERIT = 32, PROTECT = 64 };

static int is_of_kernel(const void *mutex)
{
    return (((const int *)mutex)[KIND] & (ROBUST | INHERIT | PROTECT)) != 0;
}

/* Whether such a mutex has an owner. The word of one with a ceiling has that, and its waits are not recorded. */
static int is_owned(const void *mutex)
{
    return !(((const int *)mutex)[KIND] & PROTECT)
        && (__atomic_load_n((const int *)mutex, __ATOMIC_RELAXED) & FUTEX_TID_MASK) != 0;
}

/* Locks such a mutex by CALL. */
#define LOCK_OF_KERNEL(mutex, ends, call)                                            \
    do {                                                                             \
        if (ondeck_observe_is_wanted && is_of_kernel(mutex)) {                       \
            if (!is_owned(mutex))                                                    \
                return ORDERED(mutex, ALONE | ends, call);                           \
            struct sleep sleep = begin(mutex, MUTEX, BASE);                          \
            int result = ORDERED(mutex, ALONE | ends, call);                         \
            end(&sleep, how(result), BASE);                                          \
            return result;                                                           \
        }                                                                            \
    } while (0)

/* Locks by CALL, which waits, if TRY is `taken`. */
#define LOCK(object, kind, ends, try, taken, how_of, call)                                                  \
    do {                                                                                                    \
        if (ondeck_observe_is_wanted) {                                                                     \
            enum { WAY = (kind == RWLOCK ? IS_RWLOCK : 0) | (try == TRYRDLOCK ? READ : ALONE) | (ends) };   \
            int result = ((of_lock *)real(try))(object);                                                    \
            if (likely(result != (taken))) {                                                                \
                acquired(object);                                                                           \
                order_tried(object, WAY, result, BASE);                                                     \
                return result;                                                                              \
            }                                                                                               \
            struct sleep sleep = begin(object, kind, BASE);                                                 \
            result = ORDERED(object, WAY, call);                                                            \
            end(&sleep, how_of(result), BASE);                                                              \
            return result;                                                                                  \
        }                                                                                                   \
        return call;                                                                                        \
    } while (0)

/* How a wait ends. */
enum { ENDLESS = 0 };

NAME(ondeck_observe_mutex_lock, "pthread_mutex_lock@@GLIBC_2.2.5");
NAME(ondeck_observe_mutex_lock, "__pthread_mutex_lock@GLIBC_2.2.5");
int ondeck_observe_mutex_lock(void *mutex)
{
    LOCK_OF_KERNEL(mutex, ENDLESS, ((of_lock *)real(MUTEX_LOCK))(mutex));
    LOCK(mutex, MUTEX, ENDLESS, MUTEX_TRYLOCK, EBUSY, how, ((of_lock *)real(MUTEX_LOCK))(mutex));
}

NAME(ondeck_observe_mutex_timedlock, "pthread_mutex_timedlock@@GLIBC_2.34");
NAME(ondeck_observe_mutex_timedlock, "pthread_mutex_timedlock@GLIBC_2.2.5");
int ondeck_observe_mutex_timedlock(void *mutex, const struct timespec *end_time)
{
    LOCK_OF_KERNEL(mutex, TIMED, ((of_lock_until *)real(MUTEX_TIMEDLOCK))(mutex, end_time));
    LOCK(mutex, MUTEX, TIMED, MUTEX_TRYLOCK, EBUSY, how, ((of_lock_until *)real(MUTEX_TIMEDLOCK))(mutex, end_time));
}

NAME(ondeck_observe_mutex_clocklock, "pthread_mutex_clocklock@@GLIBC_2.34");
NAME(ondeck_observe_mutex_clocklock, "pthread_mutex_clocklock@GLIBC_2.30");
int ondeck_observe_mutex_clocklock(void *mutex, clockid_t clock, const struct timespec *end_time)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return ((of_lock_until_by *)real(MUTEX_CLOCKLOCK))(mutex, clock, end_time);
    LOCK_OF_KERNEL(mutex, TIMED, ((of_lock_until_by *)real(MUTEX_CLOCKLOCK))(mutex, clock, end_time));
    LOCK(mutex, MUTEX, TIMED, MUTEX_TRYLOCK, EBUSY, how,
         ((of_lock_until_by *)real(MUTEX_CLOCKLOCK))(mutex, clock, end_time));
}

NAME(ondeck_observe_mutex_unlock, "pthread_mutex_unlock@@GLIBC_2.2.5");
NAME(ondeck_observe_mutex_unlock, "__pthread_mutex_unlock@GLIBC_2.2.5");
int ondeck_observe_mutex_unlock(void *mutex)
{
    return unlock(MUTEX_UNLOCK, mutex, BASE);
}

NAME(ondeck_observe_mtx_lock, "mtx_lock@@GLIBC_2.34");
NAME(ondeck_observe_mtx_lock, "mtx_lock@GLIBC_2.28");
int ondeck_observe_mtx_lock(void *mutex)
{
    LOCK(mutex, MUTEX, ENDLESS, MTX_TRYLOCK, thrd_busy, how_c11, ((of_lock *)real(MTX_LOCK))(mutex));
}

NAME(ondeck_observe_mtx_timedlock, "mtx_timedlock@@GLIBC_2.34");
NAME(ondeck_observe_mtx_timedlock, "mtx_timedlock@GLIBC_2.28");
int ondeck_observe_mtx_timedlock(void *mutex, const struct timespec *end_time)
{
    LOCK(mutex, MUTEX, TIMED, MTX_TRYLOCK, thrd_busy, how_c11,
         ((of_lock_until *)real(MTX_TIMEDLOCK))(mutex, end_time));
}

NAME(ondeck_observe_mtx_unlock, "mtx_unlock@@GLIBC_2.34");
NAME(ondeck_observe_mtx_unlock, "mtx_unlock@GLIBC_2.28");
int ondeck_observe_mtx_unlock(void *mutex)
{
    return unlock(MTX_UNLOCK, mutex, BASE);
}

NAME(ondeck_observe_rdlock, "pthread_rwlock_rdlock@@GLIBC_2.34");
NAME(ondeck_observe_rdlock, "pthread_rwlock_rdlock@GLIBC_2.2.5");
NAME(ondeck_observe_rdlock, "__pthread_rwlock_rdlock@GLIBC_2.2.5");
int ondeck_observe_rdlock(void *lock)
{
    LOCK(lock, RWLOCK, ENDLESS, TRYRDLOCK, EBUSY, how, ((of_lock *)real(RDLOCK))(lock));
}

NAME(ondeck_observe_wrlock, "pthread_rwlock_wrlock@@GLIBC_2.34");
NAME(ondeck_observe_wrlock, "pthread_rwlock_wrlock@GLIBC_2.2.5");
NAME(ondeck_observe_wrlock, "__pthread_rwlock_wrlock@GLIBC_2.2.5");
int ondeck_observe_wrlock(void *lock)
{
    LOCK(lock, RWLOCK, ENDLESS, TRYWRLOCK, EBUSY, how, ((of_lock *)real(WRLOCK))(lock));
}

/* These refuse a time that is none even if the lock is free. */
NAME(ondeck_observe_timedrdlock, "pthread_rwlock_timedrdlock@@GLIBC_2.34");
NAME(ondeck_observe_timedrdlock, "pthread_rwlock_timedrdlock@GLIBC_2.2.5");
int ondeck_observe_timedrdlock(void *lock, const struct timespec *end_time)
{
    if (!is_valid(CLOCK_REALTIME, end_time))
        return ((of_lock_until *)real(TIMEDRDLOCK))(lock, end_time);
    LOCK(lock, RWLOCK, TIMED, TRYRDLOCK, EBUSY, how, ((of_lock_until *)real(TIMEDRDLOCK))(lock, end_time));
}

NAME(ondeck_observe_timedwrlock, "pthread_rwlock_timedwrlock@@GLIBC_2.34");
NAME(ondeck_observe_timedwrlock, "pthread_rwlock_timedwrlock@GLIBC_2.2.5");
int ondeck_observe_timedwrlock(void *lock, const struct timespec *end_time)
{
    if (!is_valid(CLOCK_REALTIME, end_time))
        return ((of_lock_until *)real(TIMEDWRLOCK))(lock, end_time);
    LOCK(lock, RWLOCK, TIMED, TRYWRLOCK, EBUSY, how, ((of_lock_until *)real(TIMEDWRLOCK))(lock, end_time));
}

NAME(ondeck_observe_clockrdlock, "pthread_rwlock_clockrdlock@@GLIBC_2.34");
NAME(ondeck_observe_clockrdlock, "pthread_rwlock_clockrdlock@GLIBC_2.30");
int ondeck_observe_clockrdlock(void *lock, clockid_t clock, const struct timespec *end_time)
{
    if (!is_valid(clock, end_time))
        return ((of_lock_until_by *)real(CLOCKRDLOCK))(lock, clock, end_time);
    LOCK(lock, RWLOCK, TIMED, TRYRDLOCK, EBUSY, how, ((of_lock_until_by *)real(CLOCKRDLOCK))(lock, clock, end_time));
}

NAME(ondeck_observe_clockwrlock, "pthread_rwlock_clockwrlock@@GLIBC_2.34");
NAME(ondeck_observe_clockwrlock, "pthread_rwlock_clockwrlock@GLIBC_2.30");
int ondeck_observe_clockwrlock(void *lock, clockid_t clock, const struct timespec *end_time)
{
    if (!is_valid(clock, end_time))
        return ((of_lock_until_by *)real(CLOCKWRLOCK))(lock, clock, end_time);
    LOCK(lock, RWLOCK, TIMED, TRYWRLOCK, EBUSY, how, ((of_lock_until_by *)real(CLOCKWRLOCK))(lock, clock, end_time));
}

NAME(ondeck_observe_rwlock_unlock, "pthread_rwlock_unlock@@GLIBC_2.34");
NAME(ondeck_observe_rwlock_unlock, "pthread_rwlock_unlock@GLIBC_2.2.5");
NAME(ondeck_observe_rwlock_unlock, "__pthread_rwlock_unlock@GLIBC_2.2.5");
int ondeck_observe_rwlock_unlock(void *lock)
{
    return unlock(RWLOCK_UNLOCK, lock, BASE);
}
