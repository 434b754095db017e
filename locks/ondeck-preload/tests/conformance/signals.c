/* Signals that interrupt waits: no function returns EINTR, none ends early, and errno is unchanged. */
#include "kinds.h"

enum { SIGNALS = 200, ERRNO = EXFULL };

enum function {
    LOCK,
    TIMEDLOCK,
    CLOCKLOCK,
    TIMEDLOCK_TO_THE_END,
    WAIT,
    TIMEDWAIT,
    CLOCKWAIT,
    TIMEDWAIT_TO_THE_END,
    FUNCTIONS
};

static const char *const NAMES[FUNCTIONS] = {
    "lock",      "timedlock", "clocklock", "timedlock that times out",
    "cond_wait", "timedwait", "clockwait", "timedwait that times out",
};

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static int ready, ended;
static pid_t thread;

/* The handler changes errno, like a careless one, and restores it, like a careful one. */
static void handler(int number UNUSED)
{
    int saved = errno;
    errno = ENOTTY;
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
    errno = saved;
}

/* Waits once, until the mutex is free or the condition is true, and expects 0 or a punctual timeout. */
static void *interrupted(void *argument)
{
    enum function function = (enum function)(intptr_t)argument;
    int to_the_end = function == TIMEDLOCK_TO_THE_END || function == TIMEDWAIT_TO_THE_END;
    const struct timespec latest = {LONG_MAX, 999999999};
    struct timespec realtime = to_the_end ? from_now(CLOCK_REALTIME, 20) : latest;
    int error = 0;
    thread = thread_id();
    errno = ERRNO;
    if (function < WAIT) {
        set_flag(&about_to, 1);
        error = function == LOCK        ? pthread_mutex_lock(&mutex)
                : function == CLOCKLOCK ? pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &latest)
                                        : pthread_mutex_timedlock(&mutex, &realtime);
    } else {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        set_flag(&about_to, 1);
        while (!ready && error == 0)
            error = function == WAIT        ? pthread_cond_wait(&condition, &mutex)
                    : function == CLOCKWAIT ? pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &latest)
                                            : pthread_cond_timedwait(&condition, &mutex, &realtime);
    }
    quiet_holds(errno == ERRNO);
    if (error == ETIMEDOUT)
        quiet_holds(to_the_end && has_passed(CLOCK_REALTIME, &realtime));
    if (error == 0 || function >= WAIT)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    quiet_holds(errno == ERRNO);
    set_flag(&ended, 1);
    return (void *)(intptr_t)error;
}

static void one_function(enum function function, const char *kind)
{
    int to_the_end = function == TIMEDLOCK_TO_THE_END || function == TIMEDWAIT_TO_THE_END;
    ready = about_to = ended = handled = 0;
    is(pthread_cond_init(&condition, NULL), 0);
    if (function < WAIT)
        quiet_is(pthread_mutex_lock(&mutex), 0);
    pthread_t waiter = start(interrupted, (void *)(intptr_t)function);
    await_flag(&about_to, 1);
    if (!to_the_end)
        await_sleep(thread);
    for (int i = 0; i < SIGNALS && !get_flag(&ended); i++) {
        int before = get_flag(&handled);
        quiet_is(pthread_kill(waiter, SIGUSR1), 0);
        while (get_flag(&handled) == before && !get_flag(&ended))
            sched_yield();
    }
    if (to_the_end) {
        await_flag(&ended, 1);
    } else {
        quiet_holds(!get_flag(&ended));
        if (function >= WAIT) {
            quiet_is(pthread_mutex_lock(&mutex), 0);
            ready = 1;
            quiet_is(pthread_cond_signal(&condition), 0);
        }
    }
    if (function < WAIT || !to_the_end)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    int error = (int)(intptr_t)finish(waiter);
    say("%s, %s: %s", kind, NAMES[function], code(error));
    if (error != (to_the_end ? ETIMEDOUT : 0))
        fail("%s, %s: %s", kind, NAMES[function], code(error));
    is(pthread_cond_destroy(&condition), 0);
}

/* A waiter is notified before its deadline, and acquires the mutex only after it, while a handler runs across
 * the deadline. The result is a notification, not a timeout. */
static struct timespec across;
static clockid_t across_clock;

static void handler_across(int number UNUSED)
{
    while (!has_passed(across_clock, &across))
        ;
    set_flag(&handled, 1);
}

static void *waits_across(void *unused UNUSED)
{
    int error = 0;
    quiet_is(pthread_mutex_lock(&mutex), 0);
    set_flag(&about_to, 1);
    while (!ready && error == 0)
        error = pthread_cond_clockwait(&condition, &mutex, across_clock, &across);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    return (void *)(intptr_t)error;
}

static void notified_in_time(clockid_t clock)
{
    int error = 0, in_time = 0;
    across_clock = clock;
    /* If the machine is too busy, try again with more time. */
    for (long milliseconds = 30; !in_time; milliseconds *= 2) {
        ready = about_to = handled = 0;
        quiet_is(pthread_cond_init(&condition, NULL), 0);
        across = from_now(clock, milliseconds);
        pthread_t waiter = start(waits_across, NULL);
        await_flag(&about_to, 1);
        quiet_is(pthread_mutex_lock(&mutex), 0);
        ready = 1;
        quiet_is(pthread_cond_signal(&condition), 0);
        in_time = !has_passed(clock, &across);
        /* A waiter that was too late may have returned already. */
        if (in_time) {
            quiet_is(pthread_kill(waiter, SIGUSR2), 0);
            await_flag(&handled, 1);
        }
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        error = (int)(intptr_t)finish(waiter);
        quiet_is(pthread_cond_destroy(&condition), 0);
    }
    say("notified in time, clock %d: %s", (int)clock, code(error));
    if (error != 0)
        fail("notified in time, clock %d: %s", (int)clock, code(error));
}

int main(void)
{
    static const int FLAGS[] = {0, SA_RESTART};
    for (int flag = 0; flag < 2; flag++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        action.sa_flags = FLAGS[flag];
        is(sigaction(SIGUSR1, &action, NULL), 0);
        say("== %s", flag ? "SA_RESTART" : "no SA_RESTART");
        for (int type = 0; type < TYPE_COUNT; type++) {
            is(init_kind(&mutex, TYPES[type].type, PLAIN), 0);
            for (int function = 0; function < FUNCTIONS; function++)
                one_function(function, TYPES[type].name);
            action.sa_handler = handler_across;
            is(sigaction(SIGUSR2, &action, NULL), 0);
            notified_in_time(CLOCK_REALTIME);
            notified_in_time(CLOCK_MONOTONIC);
            is(pthread_mutex_destroy(&mutex), 0);
        }
    }
    return conform_end();
}
