/* The library for C on Windows: threads that lock, wait and are notified, and a lock that is not had in time. */
#include <ondeck.h>
#include <stdio.h>
#include <windows.h>

#define THREADS 4
#define PAIRS 20000

static ondeck_mutex_t mutex;
static ondeck_cond_t changed;
static long count;
static int ended;

static DWORD WINAPI work(void *unused)
{
    (void)unused;
    for (int pair = 0; pair < PAIRS; pair++) {
        ondeck_mutex_lock(&mutex);
        count++;
        ondeck_mutex_unlock(&mutex);
    }
    ondeck_mutex_lock(&mutex);
    ended++;
    ondeck_cond_signal(&changed);
    ondeck_mutex_unlock(&mutex);
    return 0;
}

static int failed(const char *what)
{
    printf("failed: %s\n", what);
    return 1;
}

int main(void)
{
    const struct timespec past = { 0, 1 }, never = { 0, 1000000000 };
    HANDLE threads[THREADS];
    for (int thread = 0; thread < THREADS; thread++)
        threads[thread] = CreateThread(NULL, 0, work, NULL, 0, NULL);
    ondeck_mutex_lock(&mutex);
    while (ended < THREADS)
        ondeck_cond_wait(&changed, &mutex);
    for (int clock = CLOCK_REALTIME; clock <= CLOCK_MONOTONIC; clock++) {
        errno = 7;
        if (ondeck_mutex_clocklock(&mutex, clock, &past) != ETIMEDOUT)
            return failed("a lock that another has is had");
        if (errno != 7)
            return failed("errno has changed");
        if (ondeck_cond_clockwait(&changed, &mutex, clock, &past) != ETIMEDOUT)
            return failed("a wait ends without a notification");
        if (ondeck_cond_clockwait(&changed, &mutex, clock, &never) != EINVAL)
            return failed("a second has 1,000,000,000 nanoseconds");
    }
    if (ondeck_mutex_clocklock(&mutex, 2, &past) != EINVAL)
        return failed("there is a third clock");
    if (ondeck_mutex_trylock(&mutex) != EBUSY)
        return failed("two threads have the mutex");
    ondeck_mutex_unlock(&mutex);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    if (count != (long)THREADS * PAIRS)
        return failed("the mutex let two in");
    printf("%ld pairs with ondeck %s\n", count, ondeck_version());
    return 0;
}
