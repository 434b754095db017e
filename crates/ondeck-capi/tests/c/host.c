/*
 * Loads plugins, and lets each plugin and the program itself use one mutex at the same time. A
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
#include <ondeck.h>
typedef ondeck_mutex_t mutex_t;
#else
typedef struct ondeck_mutex_t {
    unsigned char byte;
} mutex_t;
#endif

enum { MOST = 4, ROUNDS = 400 };

struct user {
    int (*lock)(mutex_t *);
    int (*unlock)(mutex_t *);
};

static mutex_t mutex;
static long count;
static struct user users[MOST];

#if defined(HOST_USES_ONDECK)
static int host_lock(mutex_t *m)
{
    return ondeck_mutex_lock(m);
}

static int host_unlock(mutex_t *m)
{
    return ondeck_mutex_unlock(m);
}
#endif

static void *use(void *argument)
{
    const struct user *user = argument;
    for (int i = 0; i < ROUNDS; i++) {
        EQUAL(user->lock(&mutex), 0);
        count++;
        if (i % 4 == 0) {
            /* The other threads park during the sleep. */
            struct timespec time = {0, 200000};
            nanosleep(&time, NULL);
        }
        EQUAL(user->unlock(&mutex), 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    EQUAL(argc > 2 && argc < 2 + MOST, 1);
    int number = 0;
#if defined(HOST_USES_ONDECK)
    users[number].lock = host_lock;
    users[number++].unlock = host_unlock;
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
    pthread_t threads[MOST];
    for (int i = 0; i < number; i++)
        threads[i] = begin(use, &users[i]);
    for (int i = 0; i < number; i++)
        end(threads[i]);
    EQUAL(count, number * ROUNDS);
    printf("one table\n");
    return 0;
}
