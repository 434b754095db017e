/* A custom allocator that locks, like jemalloc: pthread mutexes guard its malloc, which is called before any
 * constructor has run. A lock that allocates would recurse through it, or is counted. */
#include "kinds.h"

enum { THREADS = 6, ROUNDS = 2000, ARENA = 64 << 20 };

static pthread_mutex_t malloc_mutex = PTHREAD_MUTEX_INITIALIZER;
static char *arena;
static size_t used;
static long allocations;

/* A bump allocator, which never reuses memory. The size is in front of the block, for realloc. */
static void *take(size_t bytes, size_t alignment)
{
    if (pthread_mutex_lock(&malloc_mutex) != 0)
        abort();
    allocations++;
    if (arena == NULL) {
        arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED)
            abort();
    }
    if (alignment < 16)
        alignment = 16;
    used = (used + 16 + alignment - 1) / alignment * alignment;
    char *result = arena + used;
    used += bytes;
    if (used > ARENA)
        abort();
    memcpy(result - 16, &bytes, sizeof bytes);
    if (pthread_mutex_unlock(&malloc_mutex) != 0)
        abort();
    return result;
}

void *malloc(size_t bytes)
{
    return take(bytes, 16);
}

void *calloc(size_t count, size_t bytes)
{
    return take(count * bytes, 16);
}

void *realloc(void *old, size_t bytes)
{
    void *result = take(bytes, 16);
    size_t length = 0;
    if (old != NULL)
        memcpy(&length, (char *)old - 16, sizeof length);
    if (length > 0)
        memcpy(result, old, length < bytes ? length : bytes);
    return result;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return take(bytes, alignment);
}

void *memalign(size_t alignment, size_t bytes)
{
    return take(bytes, alignment);
}

int posix_memalign(void **result, size_t alignment, size_t bytes)
{
    *result = take(bytes, alignment);
    return 0;
}

void free(void *pointer UNUSED)
{
}

static pthread_mutex_t mutexes[TYPE_COUNT];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int arrived, go_on;
static long turn;

/* Contends, waits, times out and signals. None of that allocates. */
static void *uses_locks(void *argument)
{
    long mine = (long)(intptr_t)argument;
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    await_flag(&go_on, 1);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_t *mutex = &mutexes[i % TYPE_COUNT];
        struct timespec soon = from_now(CLOCK_REALTIME, 1);
        quiet_is(pthread_mutex_lock(mutex), 0);
        if (i % 64 == 0)
            sched_yield();
        quiet_is(pthread_mutex_unlock(mutex), 0);
        int error = pthread_mutex_timedlock(mutex, &soon);
        if (error == 0)
            quiet_is(pthread_mutex_unlock(mutex), 0);
    }
    for (int i = 0; i < ROUNDS / 20; i++) {
        quiet_is(pthread_mutex_lock(&mutexes[0]), 0);
        while (turn % THREADS != mine)
            quiet_is(pthread_cond_wait(&condition, &mutexes[0]), 0);
        turn++;
        quiet_is(pthread_cond_broadcast(&condition), 0);
        quiet_is(pthread_mutex_unlock(&mutexes[0]), 0);
    }
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    await_flag(&go_on, 2);
    return NULL;
}

/* Threads whose allocations contend for the allocator's mutex. */
static void *allocates(void *unused UNUSED)
{
    for (int i = 0; i < ROUNDS; i++) {
        char *volatile block = malloc(16);
        *block = 1;
        free(block);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < TYPE_COUNT; i++)
        is(init_kind(&mutexes[i], TYPES[i].type, PLAIN), 0);
    holds(allocations > 0 || malloc(1) != NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        threads[i] = start(uses_locks, (void *)i);
    await_flag(&arrived, THREADS);
    long before = allocations;
    set_flag(&go_on, 1);
    await_flag(&arrived, 2 * THREADS);
    holds(allocations == before);
    set_flag(&go_on, 2);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(allocates, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    return conform_end();
}
