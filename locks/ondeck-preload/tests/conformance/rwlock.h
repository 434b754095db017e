/* The kinds of reader-writer locks. */
#ifndef RWLOCK_H
#define RWLOCK_H

#include "conform.h"

struct rwlock_kind {
    const char *name;
    /* -1: no attributes. */
    int kind;
    int shared;
};

static const struct rwlock_kind RWLOCKS[] UNUSED = {
    {"default", -1, 0},
    {"prefer reader", PTHREAD_RWLOCK_PREFER_READER_NP, 0},
    {"prefer writer", PTHREAD_RWLOCK_PREFER_WRITER_NP, 0},
    {"prefer writer nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0},
    {"default shared", -1, 1},
    {"prefer writer nonrecursive shared", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 1},
};
#define RWLOCK_COUNT ((int)(sizeof RWLOCKS / sizeof *RWLOCKS))

/* Returns whether a reader waits for a waiting writer. */
static inline int is_nonrecursive(const struct rwlock_kind *kind)
{
    return kind->kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

static inline int init_rwlock(pthread_rwlock_t *rwlock, const struct rwlock_kind *kind)
{
    if (kind->kind < 0 && !kind->shared)
        return pthread_rwlock_init(rwlock, NULL);
    pthread_rwlockattr_t attributes;
    quiet_is(pthread_rwlockattr_init(&attributes), 0);
    if (kind->kind >= 0)
        quiet_is(pthread_rwlockattr_setkind_np(&attributes, kind->kind), 0);
    if (kind->shared)
        quiet_is(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    int error = pthread_rwlock_init(rwlock, &attributes);
    quiet_is(pthread_rwlockattr_destroy(&attributes), 0);
    return error;
}

#endif
