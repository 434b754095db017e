/* A library whose constructor has another thread call each function for the first time in the process, and waits
 * for it. The dynamic linker's lock is held meanwhile: a function that looks for libc's function at its first
 * call waits for that lock, and nothing goes on any more. */
#include "kinds.h"

#include <threads.h>

int lazy_result(void);

static void *first_calls(void *unused UNUSED)
{
    static const enum flavour REAL[] = {PLAIN, ROBUST, SHARED, INHERIT, INHERIT_ROBUST};
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_condattr_t attributes;
    mtx_t c_mutex;
    cnd_t c_condition;
    int ceiling;
    quiet_is(pthread_condattr_init(&attributes), 0);
    for (int shared = 0; shared < 2; shared++) {
        quiet_is(pthread_condattr_setpshared(&attributes, shared), 0);
        for (size_t i = 0; i < sizeof REAL / sizeof *REAL; i++) {
            quiet_is(pthread_cond_init(&condition, &attributes), 0);
            quiet_is(init_kind(&mutex, -1, REAL[i]), 0);
            quiet_is(pthread_mutex_lock(&mutex), 0);
            while (pthread_cond_timedwait(&condition, &mutex, &past) == 0)
                ;
            while (pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &(struct timespec){0, 0}) == 0)
                ;
            quiet_is(pthread_cond_signal(&condition), 0);
            quiet_is(pthread_cond_broadcast(&condition), 0);
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
            quiet_is(pthread_cond_destroy(&condition), 0);
        }
    }
    quiet_is(mtx_init(&c_mutex, mtx_timed), thrd_success);
    quiet_is(cnd_init(&c_condition), thrd_success);
    quiet_is(mtx_timedlock(&c_mutex, &past), thrd_success);
    while (cnd_timedwait(&c_condition, &c_mutex, &past) == thrd_success)
        ;
    quiet_is(mtx_unlock(&c_mutex), thrd_success);
    cnd_destroy(&c_condition);
    mtx_destroy(&c_mutex);
    return NULL;
}

__attribute__((constructor)) static void constructor(void)
{
    finish(start(first_calls, NULL));
}

int lazy_result(void)
{
    return conform_failures;
}
