/*
 * The time of a lock and an unlock by one thread, in a process with two: the inlined paths of
 * ondeck.h, the library's functions, a plain spinlock in C, and pthread_mutex_t. Rounds take turns;
 * medians and quartiles are printed.
 *
 *     pair [ROUNDS]
 */
#define _GNU_SOURCE
#include <ondeck.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAIRS = 500000, MOST = 1001, KINDS = 4 };

/* A cache line each. */
static struct {
    _Alignas(128) unsigned char spinlock;
    _Alignas(128) ondeck_mutex_t inlined;
    _Alignas(128) ondeck_mutex_t called;
    _Alignas(128) pthread_mutex_t pthread;
    _Alignas(128) long count;
} s = {.pthread = PTHREAD_MUTEX_INITIALIZER};

/* The library's functions: the compiler does not know which. */
static int (*volatile lock_function)(ondeck_mutex_t *) = ondeck_mutex_lock;
static int (*volatile unlock_function)(ondeck_mutex_t *) = ondeck_mutex_unlock;

#define LOOP __attribute__((__noinline__, __aligned__(64))) static void

LOOP spinlock(void)
{
    for (long i = 0; i < PAIRS; i++) {
        while (__builtin_expect(__atomic_exchange_n(&s.spinlock, 1, __ATOMIC_ACQUIRE) != 0, 0)) {
        }
        s.count++;
        __atomic_store_n(&s.spinlock, 0, __ATOMIC_RELEASE);
    }
}

LOOP inlined(void)
{
    for (long i = 0; i < PAIRS; i++) {
        ondeck_mutex_lock(&s.inlined);
        s.count++;
        ondeck_mutex_unlock(&s.inlined);
    }
}

LOOP called(void)
{
    int (*lock)(ondeck_mutex_t *) = lock_function;
    int (*unlock)(ondeck_mutex_t *) = unlock_function;
    for (long i = 0; i < PAIRS; i++) {
        lock(&s.called);
        s.count++;
        unlock(&s.called);
    }
}

LOOP pthreads(void)
{
    for (long i = 0; i < PAIRS; i++) {
        pthread_mutex_lock(&s.pthread);
        s.count++;
        pthread_mutex_unlock(&s.pthread);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[KINDS] = {
    {"a plain spinlock", spinlock},
    {"ondeck.h, inlined", inlined},
    {"libondeck, called", called},
    {"pthread_mutex_t", pthreads},
};

static double times[KINDS][MOST], ratios[KINDS][MOST];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sleeps: without a second thread the C library and libondeck leave out atomic instructions. */
static void *wait_for_the_end(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 101;
    pthread_t thread;
    if (rounds < 1 || rounds > MOST) {
        fprintf(stderr, "%s: the number of rounds is %ld, and has to be from 1 to %d\n", argv[0],
                rounds, MOST);
        return 2;
    }
    if (pthread_create(&thread, NULL, wait_for_the_end, NULL) != 0)
        return 1;
    for (long round = -1; round < rounds; round++) {
        for (int turn = 0; turn < KINDS; turn++) {
            /* Another one begins in each round. */
            int kind = (int)((turn + round + KINDS) % KINDS);
            double start = now();
            kinds[kind].run();
            double time = (now() - start) / PAIRS;
            /* Round -1 is warm-up. */
            if (round >= 0)
                times[kind][round] = time;
        }
        for (int kind = 0; kind < KINDS && round >= 0; kind++)
            ratios[kind][round] = times[kind][round] / times[0][round];
    }
    printf("%-20s %30s %32s\n", "", "ns a pair", "of the spinlock in the same round");
    printf("%-20s %10s %20s %12s %20s\n", "", "median", "quartiles", "median", "quartiles");
    for (int kind = 0; kind < KINDS; kind++) {
        qsort(times[kind], (size_t)rounds, sizeof(double), compare);
        qsort(ratios[kind], (size_t)rounds, sizeof(double), compare);
        const double *t = times[kind], *r = ratios[kind];
        long low = rounds / 4, middle = rounds / 2, high = rounds * 3 / 4;
        printf("%-20s %10.2f %9.2f to %7.2f %12.3f %9.3f to %7.3f\n", kinds[kind].name, t[middle],
               t[low], t[high], r[middle], r[low], r[high]);
    }
    return 0;
}
