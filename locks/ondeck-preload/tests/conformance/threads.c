/* Many threads: 10,000 started in one process, and 4,096 alive at once that all wait for one mutex and at one
 * condition variable. There is no limit, and memory does not grow with them. */
#include "conform.h"

enum { STARTED = 10000, WAVE = 100, AT_ONCE = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static long counter;
static int arrivals, ready;

/* Returns the memory of the process, in KiB, as the kernel reports it. */
static long memory_kib(void)
{
    const char *name = "RssAnon:";
    char text[4096] = "";
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        abort();
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    const char *line = length > 0 ? strstr(text, name) : NULL;
    if (line == NULL)
        abort();
    return strtol(line + strlen(name), NULL, 10);
}

/* Each thread contends a little, so that a lock creates any data that it keeps for a thread. */
static void *short_life(void *unused UNUSED)
{
    for (int i = 0; i < 20; i++) {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        quiet_is(pthread_mutex_lock(&recursive), 0);
        counter++;
        if (i == 0)
            sched_yield();
        quiet_is(pthread_mutex_unlock(&recursive), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    }
    return NULL;
}

static void wave(void)
{
    pthread_t threads[WAVE];
    for (int i = 0; i < WAVE; i++)
        threads[i] = start_with_stack((size_t)PTHREAD_STACK_MIN, short_life, NULL);
    for (int i = 0; i < WAVE; i++)
        finish(threads[i]);
}

static void started(void)
{
    /* The first waves fill the caches of stacks and the allocator's arenas. */
    for (int i = 0; i < 10; i++)
        wave();
    long before = memory_kib();
    for (int i = 10; i < STARTED / WAVE; i++)
        wave();
    long grown = memory_kib() - before;
    holds(counter == 20L * STARTED);
    say("memory of %d threads that have ended grows by less than 2 MiB: %s", STARTED, grown < 2048 ? "yes" : "no");
    if (grown >= 2048)
        fail("%ld KiB for %d threads that have ended", grown, STARTED);
}

static void *waits_twice(void *unused UNUSED)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    counter++;
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    quiet_is(pthread_mutex_lock(&gate), 0);
    if (++arrivals == AT_ONCE)
        quiet_is(pthread_cond_signal(&arrived), 0);
    while (!ready)
        quiet_is(pthread_cond_wait(&condition, &gate), 0);
    quiet_is(pthread_mutex_unlock(&gate), 0);
    return NULL;
}

static void at_once(void)
{
    static pthread_t threads[AT_ONCE];
    counter = 0;
    quiet_is(pthread_mutex_lock(&mutex), 0);
    for (int i = 0; i < AT_ONCE; i++)
        threads[i] = start_with_stack((size_t)PTHREAD_STACK_MIN, waits_twice, NULL);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    quiet_is(pthread_mutex_lock(&gate), 0);
    while (arrivals < AT_ONCE)
        quiet_is(pthread_cond_wait(&arrived, &gate), 0);
    ready = 1;
    quiet_is(pthread_cond_broadcast(&condition), 0);
    quiet_is(pthread_mutex_unlock(&gate), 0);
    for (int i = 0; i < AT_ONCE; i++)
        finish(threads[i]);
    holds(counter == AT_ONCE);
}

int main(void)
{
    started();
    at_once();
    return conform_end();
}
