/*
 * Prints the nanoseconds of an uncontended pthread_mutex_lock and pthread_mutex_unlock, of which there is one round.
 *
 *     pair alone     in a process with one thread
 *     pair beside    in a process with another thread, which sleeps
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 5000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *sleeps(void *argument)
{
    pause();
    return argument;
}

static double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double pairs(long count)
{
    double begin = nanoseconds();
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return (nanoseconds() - begin) / (double)count;
}

int main(int count, char **arguments)
{
    pthread_t other;
    if (count != 2 || (strcmp(arguments[1], "alone") != 0 && strcmp(arguments[1], "beside") != 0)) {
        fprintf(stderr, "usage: pair alone|beside\n");
        return 2;
    }
    if (strcmp(arguments[1], "beside") == 0 && pthread_create(&other, NULL, sleeps, NULL) != 0) {
        perror("pthread_create");
        return 1;
    }
    pairs(PAIRS / 10);
    printf("%.3f\n", pairs(PAIRS));
    return 0;
}
