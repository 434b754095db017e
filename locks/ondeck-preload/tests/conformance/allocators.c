/* A program that allocates in many threads and in children of fork. run.sh preloads jemalloc, tcmalloc and
 * mimalloc together with the shim. Their locks are pthread mutexes; jemalloc reinitializes them in a
 * child. */
#include "conform.h"

enum { THREADS = 6, ROUNDS = 20000, SLOTS = 256, CHILDREN = 10 };

static void *slots[SLOTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Blocks are allocated by one thread and freed by another. */
static void *exchanges(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t random = next_random(&state);
        size_t bytes = random % 64 == 0 ? 40000 + random % 100000 : 8 + random % 500;
        unsigned char *block = malloc(bytes);
        if (block == NULL)
            abort();
        block[0] = block[bytes - 1] = 7;
        quiet_is(pthread_mutex_lock(&mutex), 0);
        void *old = slots[random % SLOTS];
        slots[random % SLOTS] = block;
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        if (old != NULL)
            quiet_holds(*(unsigned char *)old == 7);
        free(old);
    }
    return NULL;
}

static void run_threads(int count)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < (uintptr_t)count; i++)
        threads[i] = start(exchanges, (void *)(i + 1));
    for (int i = 0; i < count; i++)
        finish(threads[i]);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = start(exchanges, (void *)(i + 1));
    /* The allocator's locks are contended at this moment. */
    int bad = 0;
    for (int i = 0; i < CHILDREN; i++) {
        /* Locked in every other child, which reinitializes it. */
        if (i % 2)
            quiet_is(pthread_mutex_lock(&mutex), 0);
        pid_t child = fork();
        if (child == 0) {
            memset(slots, 0, sizeof slots);
            if (pthread_mutex_init(&mutex, NULL) != 0)
                _exit(1);
            run_threads(2);
            _exit(conform_failures != 0);
        }
        if (i % 2)
            quiet_is(pthread_mutex_unlock(&mutex), 0);
        bad += child_status(child) != 0;
    }
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    say("%d children failed", bad);
    quiet_holds(bad == 0);
    return conform_end();
}
