/* A single-threaded process that starts threads: a lock that was locked before is unlocked after, and the
 * other way round. A lock that omits its atomic operations while the process has one thread must notice the
 * second. */
#include "kinds.h"

enum { ROUNDS = 200, INCREMENTS = 500 };

static pthread_mutex_t mutex;
static long value;
/* The result of an attempt in the signal handler. */
static int expected;

static void *increments(void *unused UNUSED)
{
    for (int i = 0; i < INCREMENTS; i++) {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        value++;
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    }
    return NULL;
}

static void alone(void)
{
    for (int i = 0; i < INCREMENTS; i++) {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        value++;
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        quiet_is(pthread_mutex_trylock(&mutex), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    }
}

static void handler(int number UNUSED)
{
    /* The interrupted code is in no function of the mutex: it either holds the mutex or does not. */
    int error = pthread_mutex_trylock(&mutex);
    quiet_is(error, expected);
    if (error == 0)
        (void)pthread_mutex_unlock(&mutex);
}

int main(void)
{
    signal(SIGUSR1, handler);
    for (int type = 0; type < TYPE_COUNT; type++) {
        is(init_kind(&mutex, TYPES[type].type, PLAIN), 0);
        value = 0;
        alone();
        quiet_is(pthread_mutex_lock(&mutex), 0);
        expected = TYPES[type].type == PTHREAD_MUTEX_RECURSIVE ? 0 : EBUSY;
        raise(SIGUSR1);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        expected = 0;
        raise(SIGUSR1);
        for (int round = 0; round < ROUNDS; round++) {
            /* Locked while single-threaded; the new thread has to wait for this one. */
            quiet_is(pthread_mutex_lock(&mutex), 0);
            pthread_t thread = start(increments, NULL);
            value++;
            quiet_is(pthread_mutex_unlock(&mutex), 0);
            increments(NULL);
            finish(thread);
            alone();
        }
        say("%s: %ld", TYPES[type].name, value);
        quiet_holds(value == INCREMENTS + ROUNDS * (1 + 3L * INCREMENTS));
        is(pthread_mutex_destroy(&mutex), 0);
    }
    return conform_end();
}
