/*
 * Inlined versions of functions above, under the same names. The address of such a function is
 * still the address of the library's function. With ONDECK_NO_INLINE, and on systems other than
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
/* C does not allow attributes after the parameters of a definition. */
#define ONDECK_NOEXCEPT
#endif

#if defined(ONDECK_TSAN)
/*
 * Reports each lock and unlock to ThreadSanitizer, which cannot see into the library because the
 * library was not compiled for it. Nothing is inlined: each lock and unlock is a call.
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

/* Ends an attempt, which may have failed. */
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

#endif

#ifdef __cplusplus
}
#endif
