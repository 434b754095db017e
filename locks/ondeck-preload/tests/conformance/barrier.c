/* Every function of a barrier, private and shared, with every code: rounds of several sizes, of which one thread is
 * the serial one and none passes early; signals; a barrier that is destroyed, and its page unmapped, by a thread that
 * has passed it. */
#include "conform.h"

enum { MOST = 32, ROUNDS = 200, PAGE = 4096 };

static pthread_barrier_t barrier;
static int arrived[ROUNDS + 1], serial[ROUNDS + 1], size;

static int init(pthread_barrier_t *object, int shared, unsigned count)
{
    pthread_barrierattr_t attributes;
    quiet_is(pthread_barrierattr_init(&attributes), 0);
    quiet_is(pthread_barrierattr_setpshared(&attributes, shared), 0);
    int error = pthread_barrier_init(object, shared ? &attributes : NULL, count);
    if (!shared && error == 0)
        error = pthread_barrier_init(object, &attributes, count);
    quiet_is(pthread_barrierattr_destroy(&attributes), 0);
    return error;
}

static void *meets(void *unused UNUSED)
{
    for (int round = 0; round < ROUNDS; round++) {
        __atomic_fetch_add(&arrived[round], 1, __ATOMIC_RELAXED);
        int result = pthread_barrier_wait(&barrier);
        quiet_holds(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&serial[round], 1, __ATOMIC_RELAXED);
        quiet_is(__atomic_load_n(&arrived[round], __ATOMIC_RELAXED), size);
    }
    return NULL;
}

static void rounds(int shared, int threads)
{
    pthread_t all[MOST];
    memset(arrived, 0, sizeof arrived);
    memset(serial, 0, sizeof serial);
    size = threads;
    is(init(&barrier, shared, (unsigned)threads), 0);
    for (int i = 0; i < threads; i++)
        all[i] = start(meets, NULL);
    for (int i = 0; i < threads; i++)
        finish(all[i]);
    int serials = 0;
    for (int round = 0; round < ROUNDS; round++) {
        serials += serial[round];
        quiet_is(serial[round], 1);
    }
    say("%d threads, %d serial ones in %d rounds", threads, serials, ROUNDS);
    is(pthread_barrier_destroy(&barrier), 0);
}

static void *waits(void *asynchronous)
{
    if (asynchronous)
        quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    errno = 77;
    sleeps_now();
    int result = pthread_barrier_wait(&barrier);
    quiet_is(errno, 77);
    return (void *)(intptr_t)(result == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : 2);
}

/* A wait is interrupted by handlers and continues. It is not a cancellation point. */
static void interrupted(int shared)
{
    is(init(&barrier, shared, 2), 0);
    pthread_t thread = start_sleeper(waits, NULL);
    interrupt_sleeper(thread);
    is(pthread_cancel(thread), 0);
    await_sleep(sleeper);
    int serials = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    serials += finish(thread) == (void *)1;
    is(serials, 1);
    is(pthread_barrier_destroy(&barrier), 0);
}

/* A thread with asynchronous cancellation ends in its wait. A new barrier at the same address works. */
static void ended(void)
{
    is(init(&barrier, 0, 2), 0);
    pthread_t thread = start_sleeper(waits, &barrier);
    is(pthread_cancel(thread), 0);
    holds(finish(thread) == PTHREAD_CANCELED);
    finish(start(writes_on_its_stack, NULL));
    rounds(0, 2);
    rounds(0, 3);
}

static pthread_barrier_t *pages;
static int destroyed;

/* The serial thread destroys the barrier at once. */
static void *meets_and_destroys(void *unused UNUSED)
{
    for (int round = 0; round < ROUNDS / 4; round++) {
        pthread_barrier_t *mine = (pthread_barrier_t *)((char *)pages + (size_t)round * PAGE);
        if (pthread_barrier_wait(mine) == PTHREAD_BARRIER_SERIAL_THREAD) {
            quiet_is(pthread_barrier_destroy(mine), 0);
            if (munmap(mine, PAGE) != 0)
                abort();
            __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
        }
    }
    return NULL;
}

static void destruction(int shared)
{
    enum { THREADS = 4 };
    pthread_t all[THREADS];
    size_t bytes = (size_t)(ROUNDS / 4) * PAGE;
    pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    for (int round = 0; round < ROUNDS / 4; round++)
        quiet_is(init((pthread_barrier_t *)((char *)pages + (size_t)round * PAGE), shared, THREADS), 0);
    destroyed = 0;
    for (int i = 0; i < THREADS; i++)
        all[i] = start(meets_and_destroys, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(all[i]);
    say("%d barriers destroyed", destroyed);
    quiet_is(destroyed, ROUNDS / 4);
}

int main(void)
{
    pthread_barrierattr_t attributes;
    say("size %zu, alignment %zu", sizeof(pthread_barrier_t), _Alignof(pthread_barrier_t));
    is(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
    is(pthread_barrier_init(&barrier, NULL, UINT_MAX), EINVAL);
    is(pthread_barrierattr_init(&attributes), 0);
    is(pthread_barrierattr_setpshared(&attributes, 2), EINVAL);
    is(pthread_barrier_init(&barrier, NULL, 1), 0);
    for (int i = 0; i < 3; i++)
        holds(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    is(pthread_barrier_destroy(&barrier), 0);
    for (int shared = 0; shared < 2; shared++) {
        say("== %s", shared ? "shared" : "private");
        rounds(shared, 2);
        rounds(shared, 3);
        rounds(shared, MOST);
        interrupted(shared);
        destruction(shared);
    }
    ended();
    return conform_end();
}
