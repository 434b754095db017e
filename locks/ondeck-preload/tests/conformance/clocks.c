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

/* A moment in 30 ms, by the kernel's clock. */
static struct timespec soon(clockid_t clock)
{
    struct timespec moment;
    if (syscall(SYS_clock_gettime, clock, &moment) != 0)
        abort();
    moment.tv_nsec += 30000000;
    if (moment.tv_nsec >= 1000000000) {
        moment.tv_nsec -= 1000000000;
        moment.tv_sec++;
    }
    return moment;
}

static int is_over(clockid_t clock, const struct timespec *moment)
{
    struct timespec now;
    if (syscall(SYS_clock_gettime, clock, &now) != 0)
        abort();
    return now.tv_sec > moment->tv_sec || (now.tv_sec == moment->tv_sec && now.tv_nsec >= moment->tv_nsec);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *timed_locks(void *argument)
{
    clockid_t clock = *(clockid_t *)argument;
    struct timespec end = soon(clock);
    is(pthread_mutex_clocklock(&mutex, clock, &end), ETIMEDOUT);
    holds(is_over(clock, &end));
    end = soon(clock);
    is(pthread_rwlock_clockrdlock(&rwlock, clock, &end), ETIMEDOUT);
    holds(is_over(clock, &end));
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
        struct timespec end = soon(clock);
        int error;
        while ((error = pthread_cond_clockwait(&condition, &mutex, clock, &end)) == 0)
            ;
        is(error, ETIMEDOUT);
        holds(is_over(clock, &end));
        end = soon(clock);
        is(sem_clockwait(&semaphore, clock, &end) == 0 ? 0 : errno, ETIMEDOUT);
        holds(is_over(clock, &end));
        is(pthread_rwlock_unlock(&rwlock), 0);
        is(pthread_mutex_unlock(&mutex), 0);
    }
    return conform_end();
}
