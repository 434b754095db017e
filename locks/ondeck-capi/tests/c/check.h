/* Shared by the C tests: checks that print the values they found, threads, times. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Ends the test if two whole numbers differ. */
#define EQUAL(found, expected)                                                                     \
    check_equal(#found, (long)(found), (long)(expected), __FILE__, __LINE__)

static inline void check_equal(const char *what, long found, long expected, const char *file,
                               int line)
{
    if (found != expected) {
        fprintf(stderr, "%s:%d: %s is %ld, and not %ld\n", file, line, what, found, expected);
        exit(1);
    }
}

static inline pthread_t begin(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    EQUAL(pthread_create(&thread, NULL, run, argument), 0);
    return thread;
}

static inline void end(pthread_t thread)
{
    EQUAL(pthread_join(thread, NULL), 0);
}

/* Returns the time of a clock, the given number of milliseconds from now. */
static inline struct timespec after_ms(clockid_t clock, long ms)
{
    struct timespec time;
    EQUAL(clock_gettime(clock, &time), 0);
    time.tv_sec += ms / 1000;
    time.tv_nsec += ms % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec += 1;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

/* Returns whether a clock has reached or passed a time. */
static inline int has_come(clockid_t clock, struct timespec time)
{
    struct timespec now;
    EQUAL(clock_gettime(clock, &now), 0);
    return now.tv_sec != time.tv_sec ? now.tv_sec > time.tv_sec : now.tv_nsec >= time.tv_nsec;
}

static inline void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0)
        EQUAL(errno, EINTR);
}

/* A test that hangs ends with a signal after a minute without progress. */
static inline void progress(void)
{
    alarm(60);
}

#endif
