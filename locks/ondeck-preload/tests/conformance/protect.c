/* Mutexes with a priority ceiling. A thread with a real-time policy may use them, if the system allows that
 * policy; any other thread gets the same results with and without the shim. */
#include "kinds.h"

static pthread_mutex_t mutex;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *try_it(void *unused UNUSED)
{
    return (void *)(intptr_t)pthread_mutex_trylock(&mutex);
}

static int init_protect(int type, int robust)
{
    pthread_mutexattr_t attributes;
    quiet_is(pthread_mutexattr_init(&attributes), 0);
    quiet_is(pthread_mutexattr_settype(&attributes, type), 0);
    quiet_is(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT), 0);
    quiet_is(pthread_mutexattr_setprioceiling(&attributes, 10), 0);
    if (robust)
        quiet_is(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
    return pthread_mutex_init(&mutex, &attributes);
}

/* The codes are logged, not checked: they depend on the rights of the process. */
static void use(int type)
{
    struct timespec past = {.tv_sec = 1, .tv_nsec = 0};
    int ceiling = -1, old = -1, error;
    say("init %s", code(init_protect(type, 0)));
    say("kind %d", kind_word(&mutex) & 127);
    say("getprioceiling %s", code(pthread_mutex_getprioceiling(&mutex, &ceiling)));
    say("ceiling %d", ceiling);
    error = pthread_mutex_lock(&mutex);
    say("lock %s", code(error));
    say("elsewhere trylock %s", code(elsewhere(try_it, NULL)));
    if (error == 0) {
        say("trylock %s", code(pthread_mutex_trylock(&mutex)));
        say("timedlock %s", code(pthread_mutex_timedlock(&mutex, &past)));
        say("clocklock %s", code(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past)));
        while ((error = pthread_cond_timedwait(&condition, &mutex, &past)) == 0)
            ;
        say("timedwait %s", code(error));
        say("destroy %s", code(pthread_mutex_destroy(&mutex)));
        say("unlock %s", code(pthread_mutex_unlock(&mutex)));
    }
    if (type == PTHREAD_MUTEX_RECURSIVE && error == ETIMEDOUT) {
        for (int i = 0; i < 3; i++)
            say("unlock %s", code(pthread_mutex_unlock(&mutex)));
    }
    if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
        say("unlock %s", code(pthread_mutex_unlock(&mutex)));
    error = pthread_mutex_setprioceiling(&mutex, 5, &old);
    say("setprioceiling %s, old %d", code(error), old);
    say("destroy %s", code(pthread_mutex_destroy(&mutex)));
    say("init robust %s", code(init_protect(type, 1)));
}

static void *with_policy(void *argument)
{
    int realtime = argument != NULL;
    struct sched_param parameter = {.sched_priority = realtime ? 2 : 0};
    int error = pthread_setschedparam(pthread_self(), realtime ? SCHED_FIFO : SCHED_OTHER, &parameter);
    say("policy %s", code(error));
    for (int type = 0; type < TYPE_COUNT; type++) {
        if (TYPES[type].type < 0)
            continue;
        say("== %s, %s", TYPES[type].name, realtime ? "real time" : "ordinary");
        use(TYPES[type].type);
    }
    return NULL;
}

int main(void)
{
    finish(start(with_policy, NULL));
    finish(start(with_policy, &mutex));
    return conform_end();
}
