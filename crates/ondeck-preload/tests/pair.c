/* What a lock and an unlock of an uncontended mutex cost, in nanoseconds: prints one number, the least of several
   rounds.

     pair KIND THREADS

   KIND is a number of PTHREAD_MUTEX_*; THREADS 1 for a process that never had another thread, 2 for one that has. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 40, PAIRS = 200000 };

static void *stay(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: pair KIND THREADS\n");
        return 2;
    }
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    pthread_t thread;
    double least = 1e9;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, atoi(arguments[1]));
    pthread_mutex_init(&mutex, &attributes);
    if (atoi(arguments[2]) > 1)
        pthread_create(&thread, NULL, stay, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int pair = 0; pair < PAIRS; pair++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        double each = (now() - start) / PAIRS;
        if (each < least)
            least = each;
    }
    printf("%.2f\n", least);
    return 0;
}
