/*
 * Prints how often a second threads get through a workload, in thousands: contended.rs in C.
 *
 *   contended WORKLOAD THREADS     empty | job | job_after | buffer CAPACITY … as in contended.sh
 *
 * With -DONDECK the mutex and the condition variable are those of ondeck.h, without it those of pthread.h.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef ONDECK
#include <ondeck.h>
typedef ondeck_mutex_t lock_t;
typedef ondeck_cond_t cond_t;
#define LOCK(lock) ondeck_mutex_lock(lock)
#define UNLOCK(lock) ondeck_mutex_unlock(lock)
#define WAIT(cond, lock) ((void)!ondeck_cond_wait(cond, lock))
#define SIGNAL(cond) ondeck_cond_signal(cond)
#define BROADCAST(cond) ondeck_cond_broadcast(cond)
#else
typedef pthread_mutex_t lock_t;
typedef pthread_cond_t cond_t;
#define LOCK(lock) pthread_mutex_lock(lock)
#define UNLOCK(lock) pthread_mutex_unlock(lock)
#define WAIT(cond, lock) pthread_cond_wait(cond, lock)
#define SIGNAL(cond) pthread_cond_signal(cond)
#define BROADCAST(cond) pthread_cond_broadcast(cond)
#endif

enum { MOST = 256 };

/* Zeros are a free mutex and a condition variable that no thread waits for, in both libraries. Each is on
 * lines of its own. */
static struct {
    _Alignas(128) lock_t lock;
    _Alignas(128) cond_t one, other;
    _Alignas(128) long value;
    bool over;
} shared;
static atomic_bool over;
static long threads, capacity;
static bool after;
static struct {
    _Alignas(128) long count;
} done[MOST];

static void *hammer(void *argument) {
    long count = 0;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        LOCK(&shared.lock);
        shared.value++;
        UNLOCK(&shared.lock);
        ++count;
    }
    *(long *)argument = count;
    return NULL;
}

static void tell(long jobs) {
    for (long i = 0; i < jobs; i++) SIGNAL(&shared.one);
}

static void serve(void) {
    unsigned long random = 18;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        long jobs = (long)((random >> 33) % (unsigned long)threads);
        LOCK(&shared.lock);
        shared.value = jobs;
        if (!after) tell(jobs);
        UNLOCK(&shared.lock);
        if (after) tell(jobs);
    }
}

static void *work(void *argument) {
    long count = 0;
    for (;;) {
        LOCK(&shared.lock);
        while (shared.value == 0 && !shared.over) WAIT(&shared.one, &shared.lock);
        bool leaves = shared.over;
        shared.value -= !leaves;
        UNLOCK(&shared.lock);
        if (leaves) break;
        ++count;
    }
    *(long *)argument = count;
    return NULL;
}

static void *produce_or_consume(void *argument) {
    long count = 0;
    bool produces = ((long *)argument - &done[0].count) / (long)(sizeof done[0] / sizeof(long)) % 2 == 0;
    for (;;) {
        LOCK(&shared.lock);
        if (produces)
            while (shared.value == capacity && !shared.over) WAIT(&shared.one, &shared.lock);
        else
            while (shared.value == 0 && !shared.over) WAIT(&shared.other, &shared.lock);
        if (shared.over) {
            UNLOCK(&shared.lock);
            *(long *)argument = count;
            return NULL;
        }
        cond_t *next = produces ? &shared.other : &shared.one;
        shared.value += produces ? 1 : -1;
        count += !produces;
        if (!after) SIGNAL(next);
        UNLOCK(&shared.lock);
        if (after) SIGNAL(next);
    }
}

static void *server(void *argument) {
    (void)argument;
    serve();
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 3 || (threads = atol(arguments[2])) < 1 || threads > MOST) {
        fprintf(stderr, "usage: contended WORKLOAD THREADS [CAPACITY], 1 to %d threads\n", MOST);
        return 2;
    }
    const char *workload = arguments[1];
    capacity = count > 3 ? atol(arguments[3]) : 0;
    after = strstr(workload, "after") != NULL;
    pthread_t ids[MOST];
    struct timespec begin, end, length = { 0, 100 * 1000 * 1000 };
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < threads; i++) {
        void *(*body)(void *) = strncmp(workload, "buffer", 6) == 0 ? produce_or_consume : hammer;
        if (strncmp(workload, "job", 3) == 0) body = i == 0 ? server : work;
        if (pthread_create(&ids[i], NULL, body, &done[i].count) != 0) return 1;
    }
    nanosleep(&length, NULL);
    atomic_store(&over, true);
    LOCK(&shared.lock);
    shared.over = true;
    UNLOCK(&shared.lock);
    BROADCAST(&shared.one);
    BROADCAST(&shared.other);
    long sum = 0;
    for (long i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += done[i].count;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("%.1f\n", (double)sum / seconds / 1e3);
}
