/* A library that constructors of other libraries open. Its own constructor and destructor also
 * lock. */
#include "kinds.h"

int inner_result(void);
int inner_unlock(pthread_mutex_t *);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void *other_thread(void *unused UNUSED)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    turn = 1;
    quiet_is(pthread_cond_signal(&condition), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    return NULL;
}

/* The dynamic linker's lock is held by this thread while another one locks and signals. */
__attribute__((constructor)) static void constructor(void)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    pthread_t thread = start(other_thread, NULL);
    while (turn == 0)
        quiet_is(pthread_cond_wait(&condition, &mutex), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    finish(thread);
}

__attribute__((destructor)) static void destructor(void)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    if (conform_failures != 0)
        _exit(3);
}

int inner_result(void)
{
    return conform_failures;
}

int inner_unlock(pthread_mutex_t *locked)
{
    return pthread_mutex_unlock(locked);
}
