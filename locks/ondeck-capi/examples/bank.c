/*
 * C11: threads move money between two accounts; one thread waits, with a deadline, until its
 * account holds enough.
 *
 *     cc -std=c11 bank.c $(pkg-config --cflags --libs ondeck) -o bank && ./bank
 */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <errno.h>
#include <ondeck.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, MOVES = 20000 };

static ondeck_mutex_t accounts = ONDECK_MUTEX_INIT;
static ondeck_cond_t arrived = ONDECK_COND_INIT;
static long from = (long)THREADS * MOVES, to;

_Static_assert(sizeof(ondeck_mutex_t) == 1 && sizeof(ondeck_cond_t) == 1, "one byte each");

static void *mover(void *unused)
{
    (void)unused;
    for (int i = 0; i < MOVES; i++) {
        ondeck_mutex_lock(&accounts);
        from--;
        to++;
        ondeck_cond_signal(&arrived);
        ondeck_mutex_unlock(&accounts);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, mover, NULL) != 0)
            return EXIT_FAILURE;

    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += 60;
    int error = 0;
    ondeck_mutex_lock(&accounts);
    while (to < THREADS * MOVES && error == 0)
        error = ondeck_cond_clockwait(&arrived, &accounts, CLOCK_MONOTONIC, &deadline);
    printf("%ld of %d have arrived%s\n", to, THREADS * MOVES,
           error == ETIMEDOUT ? ", too late" : "");
    int failed = to != THREADS * MOVES || from != 0;
    ondeck_mutex_unlock(&accounts);

    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
