/*
 * For ThreadSanitizer: two threads write a number, one at a time.
 *
 *     race locked      under the mutex: no race
 *     race waited      one waits at a condition variable for the other: no race
 *     race attempted   by attempts with and without deadlines, some of which fail: no race
 *     race unlocked    the second thread forgets the mutex: a race, which must be reported
 *     race failed      the second thread ignores that its attempt has failed: a race, which must be
 *                      reported
 *     race neighbour   each thread has its own mutex, next to the other's: a race, which must be
 *                      reported
 *     race shared      both write as readers: a race, which must be reported
 */
#include "check.h"

#include <ondeck.h>
#include <string.h>

static ondeck_mutex_t mutexes[2];
static ondeck_cond_t cond;
static ondeck_rwlock_t shared;
static int number, written;
static const char *how;

static int attempt(int turn)
{
    struct timespec soon;
    switch (turn % 3) {
    case 0:
        return ondeck_mutex_trylock(&mutexes[0]);
    case 1:
        soon = after_ms(CLOCK_REALTIME, 1);
        return ondeck_mutex_timedlock(&mutexes[0], &soon);
    default:
        soon = after_ms(CLOCK_MONOTONIC, 1);
        return ondeck_mutex_clocklock(&mutexes[0], CLOCK_MONOTONIC, &soon);
    }
}

static void lock(int thread, int turn)
{
    if (strcmp(how, "attempted") == 0) {
        while (attempt(turn) != 0)
            sched_yield();
    } else if (strcmp(how, "shared") == 0) {
        ondeck_rwlock_rdlock(&shared);
    } else {
        ondeck_mutex_lock(&mutexes[thread]);
    }
}

static void unlock(int thread)
{
    if (strcmp(how, "shared") == 0)
        ondeck_rwlock_rdunlock(&shared);
    else
        ondeck_mutex_unlock(&mutexes[thread]);
}

static void wait_once(int turn)
{
    struct timespec soon;
    switch (turn % 3) {
    case 0:
        ondeck_cond_wait(&cond, &mutexes[0]);
        break;
    case 1:
        soon = after_ms(CLOCK_REALTIME, 1);
        ondeck_cond_timedwait(&cond, &mutexes[0], &soon);
        break;
    default:
        soon = after_ms(CLOCK_MONOTONIC, 1);
        ondeck_cond_clockwait(&cond, &mutexes[0], CLOCK_MONOTONIC, &soon);
    }
}

static void *second(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++) {
        if (strcmp(how, "unlocked") == 0) {
            number++;
        } else if (strcmp(how, "failed") == 0) {
            int error = ondeck_mutex_trylock(&mutexes[0]);
            number++;
            if (error == 0)
                ondeck_mutex_unlock(&mutexes[0]);
        } else {
            int own = strcmp(how, "neighbour") == 0;
            lock(own, i);
            number++;
            written++;
            unlock(own);
            ondeck_cond_signal(&cond);
        }
        sleep_ms(1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    EQUAL(argc, 2);
    how = argv[1];
    progress();
    ondeck_mutex_init(&mutexes[1]);
    pthread_t thread = begin(second, NULL);
    for (int i = 0; i < 50; i++) {
        lock(0, i);
        while (strcmp(how, "waited") == 0 && written <= i)
            wait_once(i);
        number++;
        /* Attempts of the other thread fail during the sleep. */
        if (strcmp(how, "failed") == 0 || i % 8 == 0)
            sleep_ms(2);
        unlock(0);
        sleep_ms(1);
    }
    end(thread);
    EQUAL(ondeck_mutex_destroy(&mutexes[0]), 0);
    EQUAL(ondeck_mutex_destroy(&mutexes[1]), 0);
    return 0;
}
