/*
 * Threads lock mutexes that are adjacent in memory by every function. Some sleep while they hold
 * the lock, so that others poll, park, are woken, and are handed the lock. Nothing hangs, and no
 * count is lost.
 *
 *     stress ROUNDS
 */
#include "check.h"

#include <ondeck.h>
#include <stdint.h>

enum { THREADS = 6, MUTEXES = 8, SLOTS = 4 };

static ondeck_mutex_t mutexes[MUTEXES];
static long counts[MUTEXES];
/* The number of threads in a section. Some sleep there, so that two at once would be seen. */
static int inside[MUTEXES];
static long rounds;
/* Whether each unlock is the header's: an unlock of the library would wake the threads that the
 * header's forgot. */
static int only_inlined;

/* The library's versions of functions that the header inlines. */
static int (*volatile call_lock)(ondeck_mutex_t *) = ondeck_mutex_lock;
static int (*volatile call_unlock)(ondeck_mutex_t *) = ondeck_mutex_unlock;

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void acquire(ondeck_mutex_t *mutex, uint32_t way)
{
    struct timespec deadline;
    switch (way % 5) {
    case 0:
        call_lock(mutex);
        return;
    case 1:
        while (ondeck_mutex_trylock(mutex) != 0)
            sched_yield();
        return;
    case 2:
        do
            deadline = after_ms(CLOCK_MONOTONIC, 1);
        while (ondeck_mutex_clocklock(mutex, CLOCK_MONOTONIC, &deadline) != 0);
        return;
    default:
        ondeck_mutex_lock(mutex);
    }
}

static void *count(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed * 2654435761u;
    for (long i = 0; i < rounds; i++) {
        uint32_t choice = next(&state);
        /* One mutex gets most of the contention. */
        unsigned which = choice % 4 == 0 ? choice / 4 % MUTEXES : 3;
        acquire(&mutexes[which], choice >> 8);
        EQUAL(++inside[which], 1);
        counts[which]++;
        if (choice >> 16 == 0 || i % 256 == 0)
            sleep_ms(1);
        EQUAL(--inside[which], 0);
        if (!only_inlined && choice & 0x80)
            call_unlock(&mutexes[which]);
        else
            ondeck_mutex_unlock(&mutexes[which]);
    }
    return NULL;
}

/* A bounded buffer: two producers, two consumers. */
static ondeck_mutex_t buffer_mutex;
static ondeck_cond_t not_full, not_empty;
static long buffer[SLOTS], filled, sum;

static void *produce(void *unused)
{
    (void)unused;
    for (long i = 1; i <= rounds; i++) {
        ondeck_mutex_lock(&buffer_mutex);
        while (filled == SLOTS)
            ondeck_cond_wait(&not_full, &buffer_mutex);
        buffer[filled++] = i;
        ondeck_mutex_unlock(&buffer_mutex);
        ondeck_cond_signal(&not_empty);
    }
    return NULL;
}

static void *consume(void *unused)
{
    (void)unused;
    for (long i = 1; i <= rounds; i++) {
        ondeck_mutex_lock(&buffer_mutex);
        while (filled == 0) {
            struct timespec deadline = after_ms(CLOCK_REALTIME, 5);
            int error = ondeck_cond_timedwait(&not_empty, &buffer_mutex, &deadline);
            EQUAL(error == 0 || error == ETIMEDOUT, 1);
        }
        sum += buffer[--filled];
        ondeck_cond_broadcast(&not_full);
        ondeck_mutex_unlock(&buffer_mutex);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atol(argv[1]) : 2000;
    pthread_t threads[THREADS];
    for (only_inlined = 0; only_inlined < 2; only_inlined++) {
        progress();
        for (int i = 0; i < THREADS; i++)
            threads[i] = begin(count, (void *)(uintptr_t)(i + 1));
        for (int i = 0; i < THREADS; i++)
            end(threads[i]);
    }
    long total = 0;
    for (int i = 0; i < MUTEXES; i++) {
        total += counts[i];
        EQUAL(ondeck_mutex_destroy(&mutexes[i]), 0);
    }
    EQUAL(total, 2 * THREADS * rounds);

    progress();
    for (int i = 0; i < 4; i++)
        threads[i] = begin(i < 2 ? produce : consume, NULL);
    for (int i = 0; i < 4; i++)
        end(threads[i]);
    EQUAL(filled, 0);
    EQUAL(sum, rounds * (rounds + 1));
    return 0;
}
