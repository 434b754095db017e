/* The first thread leaves by pthread_exit, and the others continue with the objects that it used. The last
 * thread ends the process by returning. */
#include "kinds.h"

enum { THREADS = 4, ROUNDS = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t first_thread;
static long turn;

static void at_exit_function(void)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    say("turns %ld", turn);
    conform_end();
    if (conform_failures != 0)
        _exit(1);
}

static void *goes_on(void *argument)
{
    long mine = (long)(intptr_t)argument;
    if (mine == 0)
        finish(first_thread);
    for (int i = 0; i < ROUNDS; i++) {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        while (turn % THREADS != mine)
            quiet_is(pthread_cond_wait(&condition, &mutex), 0);
        turn++;
        quiet_is(pthread_cond_broadcast(&condition), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    }
    return NULL;
}

int main(void)
{
    first_thread = pthread_self();
    is(atexit(at_exit_function), 0);
    is(pthread_mutex_lock(&mutex), 0);
    for (intptr_t i = 0; i < THREADS; i++)
        start(goes_on, (void *)i);
    is(pthread_mutex_unlock(&mutex), 0);
    pthread_exit(NULL);
}
