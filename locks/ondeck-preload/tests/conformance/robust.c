/* Robust mutexes: their owner ends before every function that can report it. */
#include "kinds.h"

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int locked, waits;
};

static struct shared object, *const shared = &object;

static int past_lock(void)
{
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    return pthread_mutex_timedlock(&shared->mutex, &past);
}

static int clock_lock(void)
{
    struct timespec later = from_now(CLOCK_MONOTONIC, 600000);
    return pthread_mutex_clocklock(&shared->mutex, CLOCK_MONOTONIC, &later);
}

static int plain_lock(void)
{
    return pthread_mutex_lock(&shared->mutex);
}

static int try_lock(void)
{
    return pthread_mutex_trylock(&shared->mutex);
}

/* trylock comes last: in glibc 2.36 a failed trylock leaves an unrecoverable mutex locked. */
static int (*const LOCKS[])(void) = {plain_lock, past_lock, clock_lock, try_lock};
static const char *const LOCK_NAMES[] = {"lock", "timedlock", "clocklock", "trylock"};
enum { LOCK_COUNT = 4 };

static int locks(int function)
{
    return LOCKS[function]();
}

static void *lock_and_end(void *unused UNUSED)
{
    return (void *)(intptr_t)pthread_mutex_lock(&shared->mutex);
}

/* The owner ends while another thread waits. */
static void *lock_until_awaited(void *waiter)
{
    quiet_is(pthread_mutex_lock(&shared->mutex), 0);
    set_flag(&shared->locked, 1);
    await_flag(&shared->waits, 1);
    await_sleep(*(pid_t *)waiter);
    return NULL;
}

/* A waiter of the condition variable wants the mutex again after its owner has ended, or when it is unrecoverable. */
static void *wait_until_refused(void *unused UNUSED)
{
    quiet_is(pthread_mutex_lock(&shared->mutex), 0);
    set_flag(&shared->waits, 1);
    int error;
    do
        error = pthread_cond_wait(&shared->condition, &shared->mutex);
    while (error == 0);
    if (error == EOWNERDEAD) {
        quiet_is(pthread_mutex_consistent(&shared->mutex), 0);
        quiet_is(pthread_mutex_unlock(&shared->mutex), 0);
    }
    return (void *)(intptr_t)error;
}

static void *broadcast_and_end(void *unused UNUSED)
{
    quiet_is(pthread_mutex_lock(&shared->mutex), 0);
    return (void *)(intptr_t)pthread_cond_broadcast(&shared->condition);
}

static void threads_that_end(int type, enum flavour flavour)
{
    for (int i = 0; i < LOCK_COUNT; i++) {
        say("- thread ends, %s", LOCK_NAMES[i]);
        is(init_kind(&shared->mutex, type, flavour), 0);
        is(elsewhere(lock_and_end, NULL), 0);
        is(locks(i), EOWNERDEAD);
        is(pthread_mutex_consistent(&shared->mutex), 0);
        is(pthread_mutex_consistent(&shared->mutex), EINVAL);
        is(pthread_mutex_unlock(&shared->mutex), 0);
        is(locks(i), 0);
        is(pthread_mutex_unlock(&shared->mutex), 0);
        is(elsewhere(lock_and_end, NULL), 0);
        is(locks(i), EOWNERDEAD);
        is(pthread_mutex_unlock(&shared->mutex), 0);
        for (int j = 0; j < LOCK_COUNT - 1; j++)
            is(locks(j), ENOTRECOVERABLE);
        is(pthread_mutex_unlock(&shared->mutex), EPERM);
        is(locks(LOCK_COUNT - 1), ENOTRECOVERABLE);
        is(pthread_mutex_destroy(&shared->mutex), 0);
    }

    say("- thread ends while another sleeps in lock");
    pid_t self = thread_id();
    is(init_kind(&shared->mutex, type, flavour), 0);
    set_flag(&shared->locked, 0);
    set_flag(&shared->waits, 0);
    pthread_t thread = start(lock_until_awaited, &self);
    await_flag(&shared->locked, 1);
    set_flag(&shared->waits, 1);
    is(pthread_mutex_lock(&shared->mutex), EOWNERDEAD);
    finish(thread);
    is(pthread_mutex_consistent(&shared->mutex), 0);
    is(pthread_mutex_unlock(&shared->mutex), 0);
}

static void waiters_whose_owner_ends(int type, enum flavour flavour, int shared_condition)
{
    is(init_kind(&shared->mutex, type, flavour), 0);
    is(init_condition(&shared->condition, CLOCK_REALTIME, shared_condition), 0);
    set_flag(&shared->waits, 0);
    pthread_t thread = start(wait_until_refused, NULL);
    await_flag(&shared->waits, 1);
    is(elsewhere(broadcast_and_end, NULL), 0);
    is((int)(intptr_t)finish(thread), EOWNERDEAD);
    is(pthread_mutex_lock(&shared->mutex), 0);
    is(pthread_mutex_unlock(&shared->mutex), 0);

    set_flag(&shared->waits, 0);
    thread = start(wait_until_refused, NULL);
    await_flag(&shared->waits, 1);
    is(elsewhere(lock_and_end, NULL), 0);
    is(pthread_mutex_lock(&shared->mutex), EOWNERDEAD);
    is(pthread_mutex_unlock(&shared->mutex), 0);
    is(pthread_cond_broadcast(&shared->condition), 0);
    is((int)(intptr_t)finish(thread), ENOTRECOVERABLE);
    is(pthread_cond_destroy(&shared->condition), 0);
}

int main(void)
{
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
            if (!is_robust(flavour))
                continue;
            say("== %s %s", TYPES[type].name, FLAVOUR_NAMES[flavour]);
            threads_that_end(TYPES[type].type, flavour);
            waiters_whose_owner_ends(TYPES[type].type, flavour, PTHREAD_PROCESS_PRIVATE);
            waiters_whose_owner_ends(TYPES[type].type, flavour, PTHREAD_PROCESS_SHARED);
        }
    }
    return conform_end();
}
