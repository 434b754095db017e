/*
 * Loads plugins, and lets each plugin and the program itself use the same locks at the same time. A
 * thread that one copy of the library has parked must be woken by another copy.
 *
 *     host local|global|namespace PLUGIN...
 *
 * With -DHOST_USES_ONDECK the program itself also locks.
 */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <string.h>

#if defined(HOST_USES_ONDECK)
#include "plugin.c"
#else
/* Only the initial values: nothing that the library has. */
#include <ondeck.h>
struct locks {
    ondeck_mutex_t mutex;
    ondeck_rwlock_t rwlock;
    ondeck_sem_t sem;
};
#endif

enum { MOST = 4, ROUNDS = 400, WAYS = 4, READS = 1 };

struct user {
    int (*lock)(struct locks *, int);
    int (*unlock)(struct locks *, int);
};

static struct locks locks = {ONDECK_MUTEX_INIT, ONDECK_RWLOCK_INIT, ONDECK_SEM_INIT(1)};
static long counts[WAYS];
static struct user users[MOST];

static void *use(void *argument)
{
    const struct user *user = argument;
    for (int i = 0; i < ROUNDS; i++) {
        int way = i % WAYS;
        EQUAL(user->lock(&locks, way), 0);
        if (way == READS)
            __atomic_fetch_add(&counts[way], 1, __ATOMIC_RELAXED);
        else
            counts[way]++;
        if (i / WAYS % 4 == 0) {
            /* The other threads park during the sleep. */
            struct timespec time = {0, 200000};
            nanosleep(&time, NULL);
        }
        EQUAL(user->unlock(&locks, way), 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    EQUAL(argc > 2 && argc < 2 + MOST, 1);
    int number = 0;
#if defined(HOST_USES_ONDECK)
    users[number].lock = plugin_lock;
    users[number++].unlock = plugin_unlock;
#endif
    for (int i = 2; i < argc; i++) {
        int scope = strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
        void *plugin = strcmp(argv[1], "namespace") == 0 ? dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW)
                                                         : dlopen(argv[i], RTLD_NOW | scope);
        if (plugin == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        *(void **)&users[number].lock = dlsym(plugin, "plugin_lock");
        *(void **)&users[number].unlock = dlsym(plugin, "plugin_unlock");
        EQUAL(users[number].lock != NULL && users[number].unlock != NULL, 1);
        number++;
    }
    progress();
    /* A read that the word does not count is locked by one copy and unlocked by another. */
    for (int i = 0; i < number * number; i++) {
        locks.rwlock.word = ONDECK_RWLOCK_BIASED;
        EQUAL(users[i / number].lock(&locks, READS), 0);
        EQUAL(users[i % number].unlock(&locks, READS), 0);
        EQUAL(locks.rwlock.word, ONDECK_RWLOCK_BIASED);
        EQUAL(users[i / number].lock(&locks, READS + 1), 0);
        EQUAL(users[i % number].unlock(&locks, READS + 1), 0);
    }
    pthread_t threads[MOST];
    for (int i = 0; i < number; i++)
        threads[i] = begin(use, &users[i]);
    for (int i = 0; i < number; i++)
        end(threads[i]);
    for (int way = 0; way < WAYS; way++)
        EQUAL(counts[way], number * ROUNDS / WAYS);
    printf("one table\n");
    return 0;
}
