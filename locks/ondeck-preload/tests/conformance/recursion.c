/* Recursion: a deep one, an overflow, and a condition variable's wait at depth two. */
#include "kinds.h"

enum { DEPTH = 1000000 };

static pthread_mutex_t mutex;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *try_it(void *unused UNUSED)
{
    int error = pthread_mutex_trylock(&mutex);
    if (error == 0)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    return (void *)(intptr_t)error;
}

static void *waits_at_depth_two(void *unused UNUSED)
{
    struct timespec deadline = from_now(CLOCK_REALTIME, 1);
    quiet_is(pthread_mutex_lock(&mutex), 0);
    quiet_is(pthread_mutex_lock(&mutex), 0);
    int error;
    do
        error = pthread_cond_timedwait(&condition, &mutex, &deadline);
    while (error == 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    quiet_is(pthread_mutex_unlock(&mutex), EPERM);
    return (void *)(intptr_t)error;
}

static uint32_t depth_word(void)
{
    uint32_t word;
    memcpy(&word, (char *)&mutex + 4, sizeof word);
    return word;
}

static void deep(enum flavour flavour)
{
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    is(init_kind(&mutex, PTHREAD_MUTEX_RECURSIVE, flavour), 0);
    for (int i = 0; i < DEPTH; i++) {
        int error = i % 4 == 0   ? pthread_mutex_lock(&mutex)
                    : i % 4 == 1 ? pthread_mutex_trylock(&mutex)
                    : i % 4 == 2 ? pthread_mutex_timedlock(&mutex, &past)
                                 : pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past);
        quiet_is(error, 0);
    }
    for (int i = 0; i < DEPTH - 1; i++)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    is(elsewhere(try_it, NULL), EBUSY);
    is(pthread_mutex_unlock(&mutex), 0);
    is(elsewhere(try_it, NULL), 0);
    is(pthread_mutex_unlock(&mutex), EPERM);
    is(elsewhere(waits_at_depth_two, NULL), ETIMEDOUT);
}

/* The count is at offset 4, where debuggers read it. If the count is full, each function fails with EAGAIN,
 * and the mutex is unchanged. */
static void overflow(enum flavour flavour)
{
    uint32_t full = UINT32_MAX;
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    is(init_kind(&mutex, PTHREAD_MUTEX_RECURSIVE, flavour), 0);
    is(pthread_mutex_lock(&mutex), 0);
    is(pthread_mutex_lock(&mutex), 0);
    say("count %u", depth_word());
    memcpy((char *)&mutex + 4, &full, sizeof full);
    is(pthread_mutex_lock(&mutex), EAGAIN);
    is(pthread_mutex_trylock(&mutex), EAGAIN);
    is(pthread_mutex_timedlock(&mutex, &past), EAGAIN);
    is(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), EAGAIN);
    is(elsewhere(try_it, NULL), EBUSY);
    say("count %u", depth_word());
    full = 2;
    memcpy((char *)&mutex + 4, &full, sizeof full);
    is(pthread_mutex_unlock(&mutex), 0);
    is(elsewhere(try_it, NULL), EBUSY);
    is(pthread_mutex_unlock(&mutex), 0);
    is(elsewhere(try_it, NULL), 0);
    is(pthread_mutex_destroy(&mutex), 0);
}

int main(void)
{
    for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
        say("== recursive %s", FLAVOUR_NAMES[flavour]);
        deep(flavour);
        overflow(flavour);
    }
    return conform_end();
}
