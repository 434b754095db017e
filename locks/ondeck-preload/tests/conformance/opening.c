/* Libraries are opened and closed while other threads lock, wait and signal. One is opened with RTLD_DEEPBIND. */
#include "kinds.h"

enum { OPENINGS = 100, THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int stopping;
static long rounds;

static void *busy(void *argument)
{
    while (!get_flag(&stopping)) {
        struct timespec soon = from_now(CLOCK_REALTIME, 1);
        quiet_is(pthread_mutex_lock(&mutex), 0);
        rounds++;
        if (argument != NULL)
            (void)pthread_cond_timedwait(&condition, &mutex, &soon);
        else
            quiet_is(pthread_cond_signal(&condition), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        /* Looks a symbol up, which needs the dynamic linker's lock. */
        if (argument == NULL && dlsym(RTLD_DEFAULT, "pthread_mutex_lock") == NULL)
            fail("pthread_mutex_lock is not found");
    }
    return NULL;
}

/* A library that is opened to prefer its own functions has the same locks as its program. */
static void unlock_in_a_deeply_bound_library(void)
{
    pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    void *handle = dlopen("library_inner.so", RTLD_NOW | RTLD_DEEPBIND);
    int (*unlock)(pthread_mutex_t *);
    *(void **)&unlock = handle == NULL ? NULL : dlsym(handle, "inner_unlock");
    if (unlock == NULL) {
        fail("%s", dlerror());
        return;
    }
    is(pthread_mutex_lock(&checked), 0);
    is(unlock(&checked), 0);
    is(dlclose(handle), 0);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(busy, i % 2 ? &mutex : NULL);
    int opened = 0;
    for (int i = 0; i < OPENINGS; i++) {
        void *handle = dlopen(i % 2 ? "library_outer.so" : "library_inner.so", RTLD_NOW);
        if (handle == NULL) {
            fail("%s", dlerror());
            break;
        }
        opened++;
        quiet_is(pthread_mutex_lock(&mutex), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        quiet_is(dlclose(handle), 0);
    }
    set_flag(&stopping, 1);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    holds(opened == OPENINGS);
    holds(rounds > 0);
    unlock_in_a_deeply_bound_library();
    return conform_end();
}
