/* Every function of a condition variable, for both clocks, private and shared, with every kind of mutex. */
#include "kinds.h"

enum function { TIMEDWAIT, CLOCKWAIT_REALTIME, CLOCKWAIT_MONOTONIC, WAIT };

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static clockid_t condition_clock;
static int waiting, ready;

static clockid_t clock_of(enum function function)
{
    return function == CLOCKWAIT_REALTIME    ? CLOCK_REALTIME
           : function == CLOCKWAIT_MONOTONIC ? CLOCK_MONOTONIC
                                             : condition_clock;
}

static int call(enum function function, const struct timespec *deadline)
{
    if (function == WAIT)
        return pthread_cond_wait(&condition, &mutex);
    if (function == TIMEDWAIT)
        return pthread_cond_timedwait(&condition, &mutex, deadline);
    return pthread_cond_clockwait(&condition, &mutex, clock_of(function), deadline);
}

static int call_at(enum function function, time_t seconds, long nanoseconds)
{
    struct timespec deadline = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    int error;
    do
        error = call(function, &deadline);
    while (error == 0);
    return error;
}

static int call_in(enum function function, long milliseconds)
{
    struct timespec deadline = from_now(clock_of(function), milliseconds);
    int error = call_at(function, deadline.tv_sec, deadline.tv_nsec);
    if (error == ETIMEDOUT)
        quiet_holds(has_passed(clock_of(function), &deadline));
    return error;
}

static void *try_it(void *unused UNUSED)
{
    int error = pthread_mutex_trylock(&mutex);
    if (error == 0)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    return (void *)(intptr_t)error;
}

static void *wait_until_ready(void *argument)
{
    enum function function = (enum function)(intptr_t)argument;
    /* The latest possible time. */
    struct timespec deadline = {.tv_sec = LONG_MAX, .tv_nsec = 999999999};
    quiet_is(pthread_mutex_lock(&mutex), 0);
    set_flag(&waiting, waiting + 1);
    while (!ready)
        quiet_is(call(function, &deadline), 0);
    waiting--;
    return (void *)(intptr_t)pthread_mutex_unlock(&mutex);
}

static void time_outs(enum function function)
{
    is(pthread_mutex_lock(&mutex), 0);
    is(call_in(function, -1000), ETIMEDOUT);
    is(elsewhere(try_it, NULL), EBUSY);
    is(call_in(function, 1), ETIMEDOUT);
    is(elsewhere(try_it, NULL), EBUSY);
    is(call_at(function, 0, 0), ETIMEDOUT);
    is(call_at(function, -1, 0), ETIMEDOUT);
    is(call_at(function, LONG_MIN, 0), ETIMEDOUT);
    is(call_at(function, 1, 1000000000), EINVAL);
    is(call_at(function, 1, -1), EINVAL);
    is(call_at(function, 1, LONG_MAX), EINVAL);
    is(elsewhere(try_it, NULL), EBUSY);
    is(pthread_mutex_unlock(&mutex), 0);
    is(elsewhere(try_it, NULL), 0);
}

static void notifications(enum function function, int robust)
{
    enum { WAITERS = 3 };
    pthread_t threads[WAITERS];
    for (int round = 0; round < 2; round++) {
        set_flag(&waiting, 0);
        ready = 0;
        for (int i = 0; i < WAITERS; i++)
            threads[i] = start(wait_until_ready, (void *)(intptr_t)function);
        await_flag(&waiting, WAITERS);
        is(pthread_mutex_lock(&mutex), 0);
        ready = 1;
        is(pthread_mutex_unlock(&mutex), 0);
        /* glibc counts the waiters among the users of a mutex, unless it is robust. */
        if (!robust && round == 0 && is(pthread_mutex_destroy(&mutex), EBUSY) != EBUSY)
            exit(conform_end());
        if (round == 0)
            is(pthread_cond_broadcast(&condition), 0);
        for (int i = 0; round == 1 && i < WAITERS; i++)
            is(pthread_cond_signal(&condition), 0);
        for (int i = 0; i < WAITERS; i++)
            is((int)(intptr_t)finish(threads[i]), 0);
    }
}

/* The kinds that know their owner refuse a wait with a mutex that another thread has locked, and nothing has
 * changed. */
static void not_the_owner(void)
{
    is(call(WAIT, NULL), EPERM);
    is(call_in(TIMEDWAIT, 1000), EPERM);
    is(call_in(CLOCKWAIT_MONOTONIC, 1000), EPERM);
    is(pthread_cond_signal(&condition), 0);
    is(elsewhere(try_it, NULL), 0);
}

static int init_condition(int shared)
{
    pthread_condattr_t attributes;
    quiet_is(pthread_condattr_init(&attributes), 0);
    quiet_is(pthread_condattr_setclock(&attributes, condition_clock), 0);
    quiet_is(pthread_condattr_setpshared(&attributes, shared), 0);
    int error = pthread_cond_init(&condition, &attributes);
    quiet_is(pthread_condattr_destroy(&attributes), 0);
    return error;
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
    is(init_condition(shared), 0);
    is(init_kind(&mutex, type, flavour), 0);
    say("flags %u", flag_word());
    is(pthread_cond_signal(&condition), 0);
    is(pthread_cond_broadcast(&condition), 0);
    for (int function = TIMEDWAIT; function < WAIT; function++) {
        say("- function %d", function);
        time_outs(function);
    }
    struct timespec moment = from_now(CLOCK_REALTIME, 1000);
    is(pthread_mutex_lock(&mutex), 0);
    is(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &moment), EINVAL);
    is(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC_RAW, &moment), EINVAL);
    is(pthread_cond_clockwait(&condition, &mutex, -1, &moment), EINVAL);
    is(elsewhere(try_it, NULL), EBUSY);
    is(pthread_mutex_unlock(&mutex), 0);
    if (has_owner(type, flavour))
        not_the_owner();
    for (int function = TIMEDWAIT; function <= WAIT; function++)
        notifications(function, is_robust(flavour));
    is(pthread_cond_destroy(&condition), 0);
    is(pthread_mutex_destroy(&mutex), 0);
}

static void attributes(void)
{
    pthread_condattr_t attribute;
    clockid_t clock = -1;
    int shared = -1;
    is(pthread_condattr_init(&attribute), 0);
    is(pthread_condattr_getclock(&attribute, &clock), 0);
    is(pthread_condattr_getpshared(&attribute, &shared), 0);
    say("clock %d, shared %d", (int)clock, shared);
    is(pthread_condattr_setclock(&attribute, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
    is(pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC_RAW), EINVAL);
    is(pthread_condattr_setpshared(&attribute, 2), EINVAL);
    is(pthread_condattr_destroy(&attribute), 0);
    is(pthread_cond_init(&condition, NULL), 0);
    is(pthread_cond_destroy(&condition), 0);
    say("size %zu, alignment %zu", sizeof(pthread_cond_t), _Alignof(pthread_cond_t));
}

int main(void)
{
    static const clockid_t CLOCKS[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    attributes();
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
