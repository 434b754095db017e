/* A program that sees another time than the kernel, as beside libfaketime, which converts its deadlines. Waits end by
 * the kernel's. */
#include "kinds.h"

#include <semaphore.h>

/* What the program, and each library that asks by this name, is shown: the time stands still. */
static time_t shown;

int clock_gettime(clockid_t clock UNUSED, struct timespec *moment)
{
    *moment = (struct timespec){.tv_sec = shown};
    return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *timed_locks(void *argument)
{
    clockid_t clock = *(clockid_t *)argument;
    struct timespec end = from_now(clock, 30);
    is(pthread_mutex_clocklock(&mutex, clock, &end), ETIMEDOUT);
    holds(has_passed(clock, &end));
    end = from_now(clock, 30);
    is(pthread_rwlock_clockrdlock(&rwlock, clock, &end), ETIMEDOUT);
    holds(has_passed(clock, &end));
    return NULL;
}

int main(void)
{
    time_t times[] = {1, (time_t)1 << 40};
    clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    sem_t semaphore;
    is(sem_init(&semaphore, 0, 0), 0);
    for (int i = 0; i < 4; i++) {
        clockid_t clock = clocks[i % 2];
        shown = times[i / 2];
        say("== clock %d, %s", (int)clock, i / 2 ? "late" : "early");
        is(pthread_mutex_lock(&mutex), 0);
        is(pthread_rwlock_wrlock(&rwlock), 0);
        finish(start(timed_locks, &clock));
        struct timespec end = from_now(clock, 30);
        int error;
        while ((error = pthread_cond_clockwait(&condition, &mutex, clock, &end)) == 0)
            ;
        is(error, ETIMEDOUT);
        holds(has_passed(clock, &end));
        end = from_now(clock, 30);
        is(sem_clockwait(&semaphore, clock, &end) == 0 ? 0 : errno, ETIMEDOUT);
        holds(has_passed(clock, &end));
        is(pthread_rwlock_unlock(&rwlock), 0);
        is(pthread_mutex_unlock(&mutex), 0);
    }
    return conform_end();
}
