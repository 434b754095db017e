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
 * The unlock mode of the mutex's bucket. The table's address comes from the global offset table,
 * even in a program that is not position-independent: with a plain reference the linker would copy
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
 * Relaxed: if this thread's read is not counted, the lock has been biased since. After the count
 * the lock is not accessed: another thread may have freed it.
 */
ONDECK_INLINE int ondeck_rwlock_rdunlock(ondeck_rwlock_t *lock) ONDECK_NOEXCEPT
{
    uint32_t before = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);
    if (before & ONDECK_RWLOCK_BIASED)
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
