/* A lock with a known blame: each thread notes when it wanted the lock, acquired it, and unlocked it. One thread holds
   it for long, the others briefly.

   truth KEPT AWAY SHORT BETWEEN MILLISECONDS   in nanoseconds: how long the keeper holds the lock, and
                                                how long it then stays away; how long each of two others
                                                holds it, and the time until it wants the lock again

   Prints the parts of all waiting time in percent: while the keeper held the lock, while the others held it, while it
   was free. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 3, MOST = 1 << 20 };

struct section {
    uint64_t wanted, begin, end;
    int thread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct section *sections[THREADS];
static long counts[THREADS];
static volatile int stop;
static uint64_t kept, away, shortly, between;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void compute(uint64_t nanoseconds) {
    for (uint64_t end = now() + nanoseconds; now() < end;) {}
}

static void pause_for(uint64_t nanoseconds) {
    struct timespec length = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    nanosleep(&length, NULL);
}

/* Each function has the whole loop, so that no common function gets the blame. */
#define SECTION(thread, nanoseconds)                                                            \
    do {                                                                                        \
        uint64_t wanted = now();                                                                \
        pthread_mutex_lock(&lock);                                                              \
        uint64_t begin = now();                                                                 \
        compute(nanoseconds);                                                                   \
        uint64_t end = now();                                                                   \
        pthread_mutex_unlock(&lock);                                                            \
        if (counts[thread] < MOST)                                                              \
            sections[thread][counts[thread]++] = (struct section){wanted, begin, end, thread};  \
    } while (0)

__attribute__((noinline)) void keeper(void) {
    SECTION(0, kept);
}

__attribute__((noinline)) void victim(int thread) {
    SECTION(thread, shortly);
}

static void *run(void *argument) {
    int thread = (int)(intptr_t)argument;
    while (!stop) {
        if (thread == 0) {
            keeper();
            pause_for(away);
        } else {
            victim(thread);
            if (between < 10000) compute(between);
            else pause_for(between);
        }
    }
    return NULL;
}

static int by_begin(const void *a, const void *b) {
    uint64_t x = ((const struct section *)a)->begin, y = ((const struct section *)b)->begin;
    return x < y ? -1 : x > y;
}

int main(int count, char **arguments) {
    if (count != 6) return 2;
    kept = strtoull(arguments[1], NULL, 10);
    away = strtoull(arguments[2], NULL, 10);
    shortly = strtoull(arguments[3], NULL, 10);
    between = strtoull(arguments[4], NULL, 10);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) sections[i] = calloc(MOST, sizeof **sections);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    pause_for(strtoull(arguments[5], NULL, 10) * 1000000);
    stop = 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    struct section *all = calloc((size_t)THREADS * MOST, sizeof *all);
    long length = 0;
    for (int i = 0; i < THREADS; i++)
        for (long j = 0; j < counts[i]; j++) all[length++] = sections[i][j];
    qsort(all, (size_t)length, sizeof *all, by_begin);
    double whole = 0, of[2] = {0, 0};
    for (long i = 0; i < length; i++) {
        whole += (double)(all[i].begin - all[i].wanted);
        /* Sections do not overlap: all earlier ones end before this one begins. */
        for (long j = i - 1; j >= 0 && all[j].end > all[i].wanted; j--) {
            uint64_t begin = all[j].begin > all[i].wanted ? all[j].begin : all[i].wanted;
            of[all[j].thread != 0] += (double)(all[j].end - begin);
        }
    }
    printf("%.1f %.1f %.1f\n", 100 * of[0] / whole, 100 * of[1] / whole, 100 - 100 * (of[0] + of[1]) / whole);
    return 0;
}
