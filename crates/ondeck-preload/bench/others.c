/*
 * Prints what one operation costs, in nanoseconds, of which there is one round.
 *
 *     others KIND THREADS [MILLISECONDS]
 *
 * KIND: read, write: a pair of a reader-writer lock; mixed: one write in ten; spin: a pair of a spinlock; semaphore: a
 * wait and a post of a semaphore of 1; pingpong: a post and a wait of two threads that answer each other; barrier: a
 * round. Time is that of the process divided by all operations of all threads. With one thread another one sleeps, so
 * that the process has several.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore, turns[2];
static int over, threads;
static const char *kind;
static struct { _Alignas(128) long count; } counts[MOST];

static int is(const char *name)
{
    return strcmp(kind, name) == 0;
}

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

#define LOOP(...)                                                                                                     \
    do                                                                                                                \
        for (int i = 0; i < 64; i++) {                                                                                \
            __VA_ARGS__;                                                                                              \
            own++;                                                                                                    \
        }                                                                                                             \
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))

static void *works(void *argument)
{
    long mine = (long)argument, own = 0;
    if (is("read"))
        LOOP(pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock));
    else if (is("write"))
        LOOP(pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock));
    else if (is("mixed"))
        LOOP(if (own % 10) pthread_rwlock_rdlock(&rwlock); else pthread_rwlock_wrlock(&rwlock);
             pthread_rwlock_unlock(&rwlock));
    else if (is("spin"))
        LOOP(pthread_spin_lock(&spin); pthread_spin_unlock(&spin));
    else if (is("semaphore"))
        LOOP(sem_wait(&semaphore); sem_post(&semaphore));
    else if (is("pingpong")) {
        while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
            sem_post(&turns[!mine]);
            sem_wait(&turns[mine]);
            own++;
        }
        sem_post(&turns[!mine]);
    } else {
        /* All leave in the same round: one thread says that it is over, between two meetings. */
        for (int stops = 0; !stops; own++) {
            if (mine == 0 && __atomic_load_n(&over, __ATOMIC_RELAXED) == 1)
                __atomic_store_n(&over, 2, __ATOMIC_RELAXED);
            pthread_barrier_wait(&barrier);
            stops = __atomic_load_n(&over, __ATOMIC_RELAXED) == 2;
            pthread_barrier_wait(&barrier);
        }
        own = mine == 0 ? 2 * own : 0;
    }
    counts[mine].count = own;
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t all[MOST], other;
    if (count < 3 || (threads = atoi(arguments[2])) < 1 || threads > MOST) {
        fprintf(stderr, "usage: others read|write|mixed|spin|semaphore|pingpong|barrier THREADS [MILLISECONDS]\n");
        return 2;
    }
    kind = arguments[1];
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    sem_init(&semaphore, 0, 1);
    sem_init(&turns[0], 0, 0);
    sem_init(&turns[1], 0, 0);
    pthread_create(&other, NULL, sleeps, NULL);
    double begin = nanoseconds();
    for (long i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, works, (void *)i);
    usleep((useconds_t)(count > 3 ? atoi(arguments[3]) : 200) * 1000);
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    long sum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i], NULL);
        sum += counts[i].count;
    }
    printf("%.3f\n", (nanoseconds() - begin) / (double)sum);
    return 0;
}
