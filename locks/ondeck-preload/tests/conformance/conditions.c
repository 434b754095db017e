/* Waiters of a condition variable are notified: by every function, for both clocks, private and shared, with every kind
 * of mutex, and with another mutex in each round. */
#include "kinds.h"

enum function { TIMEDWAIT, CLOCKWAIT_REALTIME, CLOCKWAIT_MONOTONIC, WAIT };

static pthread_mutex_t mutexes[2], *mutex;
static pthread_cond_t condition;
static clockid_t condition_clock;
static int waiting, ready;

static int call(enum function function, const struct timespec *deadline)
{
    clockid_t clock = function == CLOCKWAIT_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (function == WAIT)
        return pthread_cond_wait(&condition, mutex);
    if (function == TIMEDWAIT)
        return pthread_cond_timedwait(&condition, mutex, deadline);
    return pthread_cond_clockwait(&condition, mutex, clock, deadline);
}

static void *wait_until_ready(void *argument)
{
    enum function function = (enum function)(intptr_t)argument;
    /* The latest possible time. */
    struct timespec deadline = {.tv_sec = LONG_MAX, .tv_nsec = 999999999};
    quiet_is(pthread_mutex_lock(mutex), 0);
    set_flag(&waiting, waiting + 1);
    while (!ready)
        quiet_is(call(function, &deadline), 0);
    waiting--;
    return (void *)(intptr_t)pthread_mutex_unlock(mutex);
}

static void notifications(enum function function, int robust)
{
    enum { WAITERS = 3 };
    pthread_t threads[WAITERS];
    for (int round = 0; round < 2; round++) {
        mutex = &mutexes[round];
        set_flag(&waiting, 0);
        ready = 0;
        for (int i = 0; i < WAITERS; i++)
            threads[i] = start(wait_until_ready, (void *)(intptr_t)function);
        await_flag(&waiting, WAITERS);
        is(pthread_mutex_lock(mutex), 0);
        ready = 1;
        is(pthread_mutex_unlock(mutex), 0);
        /* glibc counts the waiters among the users of a mutex, unless it is robust. */
        if (!robust && round == 0 && is(pthread_mutex_destroy(mutex), EBUSY) != EBUSY)
            exit(conform_end());
        if (round == 0)
            is(pthread_cond_broadcast(&condition), 0);
        for (int i = 0; round == 1 && i < WAITERS; i++)
            is(pthread_cond_signal(&condition), 0);
        for (int i = 0; i < WAITERS; i++)
            is((int)(intptr_t)finish(threads[i]), 0);
    }
}

/* The flags of glibc's word at offset 36: bit 0 shared, bit 1 the monotonic clock. */
static unsigned flag_word(void)
{
    unsigned word;
    memcpy(&word, (char *)&condition + 36, sizeof word);
    return word & 3;
}

static void one_pair(int type, enum flavour flavour, int shared)
{
    is(init_condition(&condition, condition_clock, shared), 0);
    for (int i = 0; i < 2; i++)
        is(init_kind(&mutexes[i], type, flavour), 0);
    say("flags %u", flag_word());
    for (int function = TIMEDWAIT; function <= WAIT; function++)
        notifications(function, is_robust(flavour));
    is(pthread_cond_destroy(&condition), 0);
    for (int i = 0; i < 2; i++)
        is(pthread_mutex_destroy(&mutexes[i]), 0);
}

int main(void)
{
    static const clockid_t CLOCKS[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int clock = 0; clock < 2; clock++) {
        for (int shared = 0; shared < 2; shared++) {
            for (int type = 0; type < TYPE_COUNT; type++) {
                for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
                    condition_clock = CLOCKS[clock];
                    say("== clock %d, shared %d, %s %s", clock, shared, TYPES[type].name,
                        FLAVOUR_NAMES[flavour]);
                    one_pair(TYPES[type].type, flavour, shared);
                }
            }
        }
    }
    return conform_end();
}
