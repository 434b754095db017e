/* keepers KIND: the locks of C, each with a known keeper. See keepers.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

static enum { MUTEX, ADAPTIVE, RECURSIVE, INHERIT, TIMED, RWLOCK, READ, C11, SEMAPHORE, CONDITION, KINDS } kind;
static const char *const names[KINDS] = {"mutex", "adaptive", "recursive", "inherit", "timed",
                                         "rwlock", "read", "c11", "semaphore", "condition"};
static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t mtx;
static sem_t semaphore;
/* A lock made of a condition variable. */
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_taken;

static inline void keep(void) {
    switch (kind) {
    case RWLOCK: pthread_rwlock_wrlock(&rwlock); break;
    case READ: pthread_rwlock_rdlock(&rwlock); break;
    case C11: mtx_lock(&mtx); break;
    case SEMAPHORE: sem_wait(&semaphore); break;
    case CONDITION:
        pthread_mutex_lock(&mutex);
        while (is_taken) pthread_cond_wait(&condition, &mutex);
        is_taken = 1;
        pthread_mutex_unlock(&mutex);
        break;
    default: pthread_mutex_lock(&mutex);
    }
}

static inline void release(void) {
    switch (kind) {
    case RWLOCK: case READ: pthread_rwlock_unlock(&rwlock); break;
    case C11: mtx_unlock(&mtx); break;
    case SEMAPHORE: sem_post(&semaphore); break;
    case CONDITION:
        pthread_mutex_lock(&mutex);
        is_taken = 0;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        break;
    default: pthread_mutex_unlock(&mutex);
    }
}

static inline void lock(void) {
    struct timespec end;
    switch (kind) {
    case RWLOCK: pthread_rwlock_rdlock(&rwlock); break;
    case READ: pthread_rwlock_wrlock(&rwlock); break;
    case TIMED:
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 60;
        pthread_mutex_timedlock(&mutex, &end);
        break;
    default: keep();
    }
}

static inline void unlock(void) { release(); }

#include "keepers.h"

int main(int count, char **arguments) {
    pthread_mutexattr_t attributes;
    if (count != 2) return 2;
    for (kind = 0; kind < KINDS && strcmp(names[kind], arguments[1]); kind++) {}
    if (kind == KINDS) return 2;
    pthread_mutexattr_init(&attributes);
    if (kind == ADAPTIVE) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    if (kind == RECURSIVE) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    if (kind == INHERIT) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attributes);
    mtx_init(&mtx, mtx_plain);
    sem_init(&semaphore, 0, 1);
    run();
    return 0;
}
