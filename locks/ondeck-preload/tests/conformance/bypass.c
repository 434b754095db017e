/* Callers that look up the functions themselves: by dlsym on libc's handle, and by RTLD_NEXT. An object that
 * only one set of functions uses works with either set, and the sets do not disturb each other. */
#include "conform.h"

#include <dlfcn.h>

struct functions {
    int (*init)(pthread_mutex_t *, const pthread_mutexattr_t *);
    int (*destroy)(pthread_mutex_t *);
    int (*lock)(pthread_mutex_t *);
    int (*trylock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
    int (*timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*cond_init)(pthread_cond_t *, const pthread_condattr_t *);
    int (*cond_destroy)(pthread_cond_t *);
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*signal)(pthread_cond_t *);
    int (*broadcast)(pthread_cond_t *);
};

struct set {
    struct functions f;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    long turn;
};

static void *find(void *handle, const char *name)
{
    void *function = dlsym(handle, name);
    if (function == NULL)
        fail("dlsym does not find %s", name);
    return function;
}

static struct functions functions_of(void *handle)
{
    struct functions f;
    *(void **)&f.init = find(handle, "pthread_mutex_init");
    *(void **)&f.destroy = find(handle, "pthread_mutex_destroy");
    *(void **)&f.lock = find(handle, "pthread_mutex_lock");
    *(void **)&f.trylock = find(handle, "pthread_mutex_trylock");
    *(void **)&f.unlock = find(handle, "pthread_mutex_unlock");
    *(void **)&f.timedlock = find(handle, "pthread_mutex_timedlock");
    *(void **)&f.cond_init = find(handle, "pthread_cond_init");
    *(void **)&f.cond_destroy = find(handle, "pthread_cond_destroy");
    *(void **)&f.wait = find(handle, "pthread_cond_wait");
    *(void **)&f.timedwait = find(handle, "pthread_cond_timedwait");
    *(void **)&f.signal = find(handle, "pthread_cond_signal");
    *(void **)&f.broadcast = find(handle, "pthread_cond_broadcast");
    return f;
}

enum { TURNS = 2000 };

/* Two threads alternate by means of the condition variable. */
static void *turns(void *argument, long mine)
{
    struct set *set = argument;
    for (long i = 0; i < TURNS; i++) {
        quiet_is(set->f.lock(&set->mutex), 0);
        quiet_is(set->f.trylock(&set->mutex), EBUSY);
        while (set->turn % 2 != mine)
            quiet_is(set->f.wait(&set->condition, &set->mutex), 0);
        set->turn++;
        quiet_is(i % 2 ? set->f.signal(&set->condition) : set->f.broadcast(&set->condition), 0);
        quiet_is(set->f.unlock(&set->mutex), 0);
    }
    return NULL;
}

static void *even(void *argument)
{
    return turns(argument, 0);
}

static void *odd(void *argument)
{
    return turns(argument, 1);
}

static void prepare(struct set *set, struct functions f)
{
    memset(set, 0, sizeof *set);
    set->f = f;
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    is(f.init(&set->mutex, NULL), 0);
    is(f.cond_init(&set->condition, NULL), 0);
    is(f.lock(&set->mutex), 0);
    is(f.timedlock(&set->mutex, &past), ETIMEDOUT);
    is(f.timedwait(&set->condition, &set->mutex, &past), ETIMEDOUT);
    is(f.unlock(&set->mutex), 0);
}

int main(void)
{
    enum { SETS = 4 };
    static struct set sets[SETS];
    pthread_t threads[SETS][2];
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    holds(libc != NULL);
    say("== libc's handle");
    prepare(&sets[0], functions_of(libc));
    say("== RTLD_NEXT");
    prepare(&sets[1], functions_of(RTLD_NEXT));
    say("== RTLD_DEFAULT");
    prepare(&sets[2], functions_of(RTLD_DEFAULT));
    say("== linked");
    prepare(&sets[3], (struct functions){pthread_mutex_init, pthread_mutex_destroy, pthread_mutex_lock,
                                         pthread_mutex_trylock, pthread_mutex_unlock, pthread_mutex_timedlock,
                                         pthread_cond_init, pthread_cond_destroy, pthread_cond_wait,
                                         pthread_cond_timedwait, pthread_cond_signal, pthread_cond_broadcast});
    for (int i = 0; i < SETS; i++) {
        threads[i][0] = start(even, &sets[i]);
        threads[i][1] = start(odd, &sets[i]);
    }
    for (int i = 0; i < SETS; i++) {
        finish(threads[i][0]);
        finish(threads[i][1]);
        holds(sets[i].turn == 2 * TURNS);
        is(sets[i].f.cond_destroy(&sets[i].condition), 0);
        is(sets[i].f.destroy(&sets[i].mutex), 0);
    }
    return conform_end();
}
