/* Another preloaded library that interposes some of the same functions and calls the next ones by RTLD_NEXT, as
 * tracers do. run.sh loads it before the shim and after it. */
#include "conform.h"

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    return next(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    return next(mutex);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    static int (*next)(pthread_cond_t *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_signal");
    return next(condition);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    static int (*next)(pthread_cond_t *, pthread_mutex_t *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_wait");
    return next(condition, mutex);
}
