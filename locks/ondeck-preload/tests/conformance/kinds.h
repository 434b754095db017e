/* The kinds of mutexes: every type with every flavour that glibc accepts. */
#ifndef KINDS_H
#define KINDS_H

#include "conform.h"

enum flavour {
    PLAIN,
    SHARED,
    ROBUST,
    ROBUST_SHARED,
    INHERIT,
    INHERIT_ROBUST,
    INHERIT_SHARED,
    FLAVOURS
};

static const char *const FLAVOUR_NAMES[FLAVOURS] UNUSED = {
    "plain", "shared", "robust", "robust shared", "inherit", "inherit robust", "inherit shared",
};

struct kind_name {
    const char *name;
    int type;
};

/* PTHREAD_MUTEX_NORMAL has the number of the default type. If settype requests it, glibc adds a flag. */
static const struct kind_name TYPES[] UNUSED = {
    {"default", -1},
    {"normal", PTHREAD_MUTEX_NORMAL},
    {"recursive", PTHREAD_MUTEX_RECURSIVE},
    {"errorcheck", PTHREAD_MUTEX_ERRORCHECK},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP},
};
#define TYPE_COUNT ((int)(sizeof TYPES / sizeof *TYPES))

static inline int is_robust(enum flavour flavour)
{
    return flavour == ROBUST || flavour == ROBUST_SHARED || flavour == INHERIT_ROBUST;
}

static inline int is_inherit(enum flavour flavour)
{
    return flavour == INHERIT || flavour == INHERIT_ROBUST || flavour == INHERIT_SHARED;
}

static inline int is_shared(enum flavour flavour)
{
    return flavour == SHARED || flavour == ROBUST_SHARED || flavour == INHERIT_SHARED;
}

/* Whether the type or the flavour makes the mutex check its owner: another thread's unlock then returns
 * EPERM. */
static inline int has_owner(int type, enum flavour flavour)
{
    return type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK || is_robust(flavour) ||
           is_inherit(flavour);
}

/* Initializes a mutex of this type and flavour. Returns the code of pthread_mutex_init. */
static inline int init_kind(pthread_mutex_t *mutex, int type, enum flavour flavour)
{
    if (type < 0 && flavour == PLAIN)
        return pthread_mutex_init(mutex, NULL);
    pthread_mutexattr_t attributes;
    quiet_is(pthread_mutexattr_init(&attributes), 0);
    if (type >= 0)
        quiet_is(pthread_mutexattr_settype(&attributes, type), 0);
    if (is_shared(flavour))
        quiet_is(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    if (is_robust(flavour))
        quiet_is(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
    if (is_inherit(flavour))
        quiet_is(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0);
    int error = pthread_mutex_init(mutex, &attributes);
    quiet_is(pthread_mutexattr_destroy(&attributes), 0);
    return error;
}

static inline int init_condition(pthread_cond_t *condition, clockid_t clock, int shared)
{
    pthread_condattr_t attributes;
    quiet_is(pthread_condattr_init(&attributes), 0);
    quiet_is(pthread_condattr_setclock(&attributes, clock), 0);
    quiet_is(pthread_condattr_setpshared(&attributes, shared), 0);
    int error = pthread_cond_init(condition, &attributes);
    quiet_is(pthread_condattr_destroy(&attributes), 0);
    return error;
}

/* Returns glibc's __kind, without the flags of lock elision, which mean nothing to a caller. Debuggers and
 * processes that share the object read it there. */
static inline int kind_word(const pthread_mutex_t *mutex)
{
    int word;
    memcpy(&word, (const char *)mutex + 16, sizeof word);
    return word == -1 ? -1 : word & ~(256 | 512);
}

/* Uses every kind by each function, including those that go to libc's own. Returns the number of failures. */
static inline int use_all_kinds(void)
{
    struct timespec past = {.tv_sec = 1, .tv_nsec = 0};
    int before = conform_failures, ceiling;
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
            pthread_mutex_t mutex;
            pthread_cond_t shared;
            quiet_is(init_condition(&shared, CLOCK_REALTIME, flavour % 2), 0);
            quiet_is(init_kind(&mutex, TYPES[type].type, flavour), 0);
            quiet_is(pthread_mutex_lock(&mutex), 0);
            while (pthread_cond_timedwait(&shared, &mutex, &past) == 0)
                ;
            while (pthread_cond_clockwait(&shared, &mutex, CLOCK_MONOTONIC, &past) == 0)
                ;
            quiet_is(pthread_cond_signal(&shared), 0);
            quiet_is(pthread_cond_broadcast(&shared), 0);
            quiet_is(pthread_mutex_unlock(&mutex), 0);
            quiet_is(pthread_mutex_trylock(&mutex), 0);
            quiet_is(pthread_mutex_unlock(&mutex), 0);
            quiet_is(pthread_mutex_timedlock(&mutex, &past), 0);
            quiet_is(pthread_mutex_unlock(&mutex), 0);
            quiet_is(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), 0);
            quiet_is(pthread_mutex_unlock(&mutex), 0);
            quiet_is(pthread_mutex_consistent(&mutex), EINVAL);
            quiet_is(pthread_mutex_getprioceiling(&mutex, &ceiling), EINVAL);
            quiet_is(pthread_mutex_destroy(&mutex), 0);
            quiet_is(pthread_cond_destroy(&shared), 0);
        }
    }
    return conform_failures - before;
}

#endif
