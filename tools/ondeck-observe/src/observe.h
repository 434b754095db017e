/* Shared by the functions that programs call. */

#ifndef ONDECK_OBSERVE_H
#define ONDECK_OBSERVE_H

#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define OURS __attribute__((visibility("hidden")))
#define likely(condition) __builtin_expect(!!(condition), 1)

/* A function's name and version in the C library. */
#define NAME(function, name) __asm__(".symver " #function ", " name)

/* The address of the return address of the function that the program called. */
#define BASE ((uintptr_t)__builtin_dwarf_cfa() - sizeof(void *))

/* As in ondeck_record::layout::kind. */
enum { FUTEX = 512, MUTEX, RWLOCK, CONDVAR, SEMAPHORE, BARRIER };

/* As in ondeck_record::observed. */
enum { MEMORY = 1024 };
enum how { WOKEN, GAVE_UP, NEVER };
struct sleep { const void *word; uintptr_t file; uint64_t arrived; uint32_t kind, stack; };
struct wake { const void *word; uintptr_t file; uint64_t at; };

OURS void *ondeck_observe_find(const char *name, const char *version);
OURS int ondeck_observe_is_loaded(const char *name);
OURS const uint32_t *ondeck_observe_waiting(const void *word);
OURS struct sleep ondeck_observe_begin(void *memory, const void *word, uint32_t kind, uintptr_t base);
OURS void ondeck_observe_end(void *memory, const struct sleep *, int how, uintptr_t base);
OURS void ondeck_observe_before_yield(void *memory, uintptr_t base);
OURS void ondeck_observe_after_yield(void *memory);
OURS void ondeck_observe_acquired(void *memory, const void *word);
OURS int ondeck_observe_confine(int is_confined);
OURS struct wake ondeck_observe_before_wake(void *memory, const void *word, uintptr_t base);
OURS void ondeck_observe_after_wake(void *memory, const struct wake *, uintptr_t base);

/* The thread's memory. At a fixed distance from the thread's pointer, so that no access allocates. */
extern OURS __thread unsigned char ondeck_observe_memory[MEMORY] __attribute__((tls_model("initial-exec")));

/* Whether the process was asked to be observed. */
extern OURS int ondeck_observe_is_wanted;

static inline struct sleep begin(const void *word, uint32_t kind, uintptr_t base)
{
    return ondeck_observe_begin(ondeck_observe_memory, word, kind, base);
}

static inline void end(const struct sleep *sleep, enum how how, uintptr_t base)
{
    ondeck_observe_end(ondeck_observe_memory, sleep, how, base);
}

/* Whether a thread is known to wait there. */
static inline int is_awaited(const void *word)
{
    return ondeck_observe_is_wanted && __atomic_load_n(ondeck_observe_waiting(word), __ATOMIC_RELAXED);
}

/* The end of an attempt that has locked: a thread that waits charges the caller from now on. */
static inline void acquired(const void *word)
{
    if (is_awaited(word))
        ondeck_observe_acquired(ondeck_observe_memory, word);
}

static inline struct wake before_wake(const void *word, uintptr_t base)
{
    return ondeck_observe_before_wake(ondeck_observe_memory, word, base);
}

static inline void after_wake(const struct wake *wake, uintptr_t base)
{
    if (wake->file)
        ondeck_observe_after_wake(ondeck_observe_memory, wake, base);
}

/* The functions behind ours, in the order of observe.c. */
enum real {
    MUTEX_LOCK, MUTEX_TRYLOCK, MUTEX_TIMEDLOCK, MUTEX_CLOCKLOCK, MUTEX_UNLOCK,
    MTX_LOCK, MTX_TRYLOCK, MTX_TIMEDLOCK, MTX_UNLOCK,
    RDLOCK, TRYRDLOCK, TIMEDRDLOCK, CLOCKRDLOCK, WRLOCK, TRYWRLOCK, TIMEDWRLOCK, CLOCKWRLOCK, RWLOCK_UNLOCK,
    COND_WAIT, COND_TIMEDWAIT, COND_CLOCKWAIT, COND_SIGNAL, COND_BROADCAST,
    CND_WAIT, CND_TIMEDWAIT, CND_SIGNAL, CND_BROADCAST,
    SEM_WAIT, SEM_TRYWAIT, SEM_TIMEDWAIT, SEM_CLOCKWAIT, SEM_POST,
    BARRIER_WAIT, REALS
};

extern OURS void *ondeck_observe_reals[REALS];
OURS void *ondeck_observe_find_real(enum real which);

/* Calls the function behind ours. */
static inline void *real(enum real which)
{
    void *found = __atomic_load_n(&ondeck_observe_reals[which], __ATOMIC_RELAXED);
    return likely(found) ? found : ondeck_observe_find_real(which);
}

/* Whether the C library waits until this time, and does not refuse it. */
static inline int is_valid(clockid_t clock, const struct timespec *time)
{
    return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

#endif
