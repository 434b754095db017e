/* Spinlocks, private and shared: more threads than processors; a thread whose holder sleeps; a signal handler that uses
 * a lock while its thread waits for another one. */
#include "conform.h"

enum { THREADS = 16, ROUNDS = 3000 };

static pthread_spinlock_t lock, other;
static long value[2];
static int holding;

static void *try_it(void *unused UNUSED)
{
    int error = pthread_spin_trylock(&lock);
    if (error == 0)
        quiet_is(pthread_spin_unlock(&lock), 0);
    return (void *)(intptr_t)error;
}

static void *adds(void *unused UNUSED)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 8 != 0 || pthread_spin_trylock(&lock) != 0)
            quiet_is(pthread_spin_lock(&lock), 0);
        quiet_holds(value[0] == value[1]);
        value[0]++;
        value[1]++;
        quiet_is(pthread_spin_unlock(&lock), 0);
    }
    return NULL;
}

/* The holder gives up the processor in its section. */
static void *naps(void *unused UNUSED)
{
    for (int i = 0; i < 20; i++) {
        quiet_is(pthread_spin_lock(&lock), 0);
        value[0]++;
        usleep(300);
        value[1]++;
        quiet_is(pthread_spin_unlock(&lock), 0);
    }
    return NULL;
}

static void handler(int number UNUSED)
{
    int error = errno;
    quiet_is(pthread_spin_lock(&other), 0);
    quiet_is(pthread_spin_unlock(&other), 0);
    quiet_is(pthread_spin_trylock(&other), 0);
    quiet_is(pthread_spin_unlock(&other), 0);
    errno = error;
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

static void *waits(void *unused UNUSED)
{
    errno = 77;
    set_flag(&holding, 1);
    quiet_is(pthread_spin_lock(&lock), 0);
    quiet_is(errno, 77);
    quiet_is(pthread_spin_unlock(&lock), 0);
    return NULL;
}

static void *waits_asynchronously(void *unused UNUSED)
{
    quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    return waits(NULL);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int shared = 0; shared < 2; shared++) {
        is(pthread_spin_init(&lock, shared), 0);
        is(pthread_spin_init(&other, shared), 0);

        value[0] = value[1] = 0;
        for (int i = 0; i < THREADS; i++)
            threads[i] = start(i < 2 ? naps : adds, NULL);
        for (int i = 0; i < THREADS; i++)
            finish(threads[i]);
        holds(value[0] == value[1] && value[0] == (THREADS - 2L) * ROUNDS + 2 * 20);

        signal(SIGUSR1, handler);
        is(pthread_spin_lock(&lock), 0);
        set_flag(&handled, 0);
        set_flag(&holding, 0);
        pthread_t waiting = start(waits, NULL);
        await_flag(&holding, 1);
        for (int i = 0; i < 50; i++) {
            usleep(200);
            is(pthread_kill(waiting, SIGUSR1), 0);
            await_flag(&handled, i + 1);
        }
        /* It is not a cancellation point. */
        is(pthread_cancel(waiting), 0);
        usleep(1000);
        is(pthread_spin_unlock(&lock), 0);
        holds(finish(waiting) == NULL);

        is(pthread_spin_lock(&lock), 0);
        set_flag(&holding, 0);
        waiting = start(waits_asynchronously, NULL);
        await_flag(&holding, 1);
        usleep(5000);
        is(pthread_cancel(waiting), 0);
        holds(finish(waiting) == PTHREAD_CANCELED);
        is(elsewhere(try_it, NULL), EBUSY);
        is(pthread_spin_unlock(&lock), 0);
        is(elsewhere(try_it, NULL), 0);
        is(pthread_spin_destroy(&lock), 0);
    }
    return conform_end();
}
