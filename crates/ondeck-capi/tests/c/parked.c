/*
 * Unlocks beside threads that park at the same moment: a wake that is lost leaves a thread parked beside a free mutex,
 * which is noticed when no thread makes progress any more. One thread unlocks, one parks, over and over; the mutex has
 * been used alone before, so that unlocks begin without a fence.
 *
 *     parked ROUNDS
 */
#include "check.h"

#include <ondeck.h>

static ondeck_mutex_t mutex;
static long rounds, turns[2];

static void *take(void *which)
{
    long *own = which;
    for (long i = 0; i < rounds; i++) {
        ondeck_mutex_lock(&mutex);
        turns[own - turns]++;
        if (i % 16 == 0) {
            /* Long enough that the other thread parks. */
            struct timespec time = {0, 50000 + i % 7 * 10000};
            nanosleep(&time, NULL);
        }
        ondeck_mutex_unlock(&mutex);
        /* Alone for a while. */
        for (int quiet = 0; quiet < 64; quiet++)
            __asm__ volatile("" ::: "memory");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atol(argv[1]) : 5000;
    progress();
    pthread_t first = begin(take, &turns[0]), second = begin(take, &turns[1]);
    end(first);
    end(second);
    EQUAL(turns[0] + turns[1], 2 * rounds);
    return 0;
}
