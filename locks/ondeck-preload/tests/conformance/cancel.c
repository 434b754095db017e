/* Cancellation. A wait at a condition variable is a cancellation point, whose handlers hold the mutex; a lock
 * of a mutex is not a cancellation point. */
#include "kinds.h"

#include <threads.h>

enum function { WAIT, TIMEDWAIT, CLOCKWAIT, CND_WAIT, CND_TIMEDWAIT, FUNCTIONS };

static const char *const NAMES[FUNCTIONS] = {"wait", "timedwait", "clockwait", "cnd_wait", "cnd_timedwait"};

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static int woken, held, wakes, returned;

/* The handler holds the mutex: another thread cannot lock it, and the handler's unlock succeeds. */
static void handler(void *unused UNUSED)
{
    handled++;
    held = elsewhere(try_mutex, &mutex) == EBUSY;
    quiet_is(pthread_mutex_unlock(&mutex), 0);
}

static int wait_once(enum function function)
{
    struct timespec realtime = from_now(CLOCK_REALTIME, 3600 * 1000);
    struct timespec monotonic = from_now(CLOCK_MONOTONIC, 3600 * 1000);
    switch (function) {
    case WAIT: return pthread_cond_wait(&condition, &mutex);
    case TIMEDWAIT: return pthread_cond_timedwait(&condition, &mutex, &realtime);
    case CLOCKWAIT: return pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &monotonic);
    case CND_WAIT: return cnd_wait((cnd_t *)&condition, (mtx_t *)&mutex);
    default: return cnd_timedwait((cnd_t *)&condition, (mtx_t *)&mutex, &realtime);
    }
}

enum { ASYNCHRONOUS = 16 };

static void *waiter(void *argument)
{
    enum function function = (enum function)((intptr_t)argument % ASYNCHRONOUS);
    quiet_is(pthread_mutex_lock(&mutex), 0);
    pthread_cleanup_push(handler, NULL);
    if ((intptr_t)argument >= ASYNCHRONOUS)
        quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    sleeps_now();
    while (!woken) {
        quiet_is(wait_once(function), 0);
        wakes++;
    }
    returned = 1;
    pthread_cleanup_pop(0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    return NULL;
}

static void prepare(int type, enum flavour flavour, int shared)
{
    quiet_is(init_condition(&condition, CLOCK_REALTIME, shared), 0);
    quiet_is(init_kind(&mutex, type, flavour), 0);
    about_to = woken = handled = held = wakes = returned = 0;
}

static void after(void)
{
    is(elsewhere(try_mutex, &mutex), 0);
    is(pthread_cond_destroy(&condition), 0);
    is(pthread_mutex_destroy(&mutex), 0);
}

static void a_sleeping_waiter(int type, enum flavour flavour, int shared, enum function function, int asynchronous)
{
    prepare(type, flavour, shared);
    pthread_t waiting = start_sleeper(waiter, (void *)(intptr_t)(function + asynchronous));
    is(pthread_cancel(waiting), 0);
    holds(finish(waiting) == PTHREAD_CANCELED);
    holds(handled == 1 && held && !returned);
    finish(start(writes_on_its_stack, NULL));
    is(pthread_cond_broadcast(&condition), 0);
    after();
}

/* A cancelled waiter that was not notified wakes no other. */
static void a_waiter_beside_the_cancelled(void)
{
    prepare(-1, PLAIN, 0);
    pthread_t other = start_sleeper(waiter, (void *)WAIT);
    pid_t first = sleeper;
    pthread_t waiting = start_sleeper(waiter, (void *)WAIT);
    is(pthread_cancel(waiting), 0);
    holds(finish(waiting) == PTHREAD_CANCELED);
    /* If it was woken, it sleeps only after its wait has returned. */
    await_sleep(first);
    is(pthread_mutex_lock(&mutex), 0);
    holds(handled == 1 && held && wakes == 0);
    woken = 1;
    is(pthread_cond_signal(&condition), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    holds(finish(other) == NULL);
    after();
}

/* Another thread holds the mutex when the cancelled waiter wants it. */
static void a_waiter_without_its_mutex(int type, enum flavour flavour, int shared, enum function function)
{
    prepare(type, flavour, shared);
    pthread_t waiting = start(waiter, (void *)(intptr_t)function);
    await_flag(&about_to, 1);
    is(pthread_mutex_lock(&mutex), 0);
    is(pthread_cancel(waiting), 0);
    await_sleep(sleeper);
    holds(handled == 0);
    is(pthread_mutex_unlock(&mutex), 0);
    holds(finish(waiting) == PTHREAD_CANCELED);
    holds(handled == 1 && held && !returned);
    after();
}

static void *cancels_itself_first(void *argument)
{
    quiet_is(pthread_cancel(pthread_self()), 0);
    return waiter(argument);
}

static void a_pending_cancellation(enum function function)
{
    prepare(-1, PLAIN, 0);
    pthread_t waiting = start(cancels_itself_first, (void *)(intptr_t)function);
    holds(finish(waiting) == PTHREAD_CANCELED);
    holds(handled == 1 && held && !returned);
    after();
}

/* A pending request acts although the deadline has passed. */
static void *cancelled_with_a_past_deadline(void *argument)
{
    clockid_t clock = (clockid_t)(intptr_t)argument;
    struct timespec past = from_now(clock, -1);
    quiet_is(pthread_mutex_lock(&mutex), 0);
    pthread_cleanup_push(handler, NULL);
    quiet_is(pthread_cancel(pthread_self()), 0);
    for (int i = 0; i < 100; i++)
        (void)pthread_cond_clockwait(&condition, &mutex, clock, &past);
    returned = 1;
    pthread_cleanup_pop(1);
    return NULL;
}

static void a_past_deadline(clockid_t clock, enum flavour flavour, int shared)
{
    prepare(-1, flavour, shared);
    holds(finish(start(cancelled_with_a_past_deadline, (void *)(intptr_t)clock)) == PTHREAD_CANCELED);
    holds(handled == 1 && held && !returned);
    after();
}

/* While cancellation is disabled the wait continues, and the request stays pending. */
static void *disabled_waiter(void *argument)
{
    int state = -1;
    quiet_is(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
    waiter(argument);
    quiet_is(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
    quiet_holds(state == PTHREAD_CANCEL_DISABLE);
    pthread_testcancel();
    return NULL;
}

static void a_disabled_waiter(enum function function)
{
    prepare(-1, PLAIN, 0);
    pthread_t waiting = start(disabled_waiter, (void *)(intptr_t)function);
    await_flag(&about_to, 1);
    is(pthread_cancel(waiting), 0);
    await_sleep(sleeper);
    is(pthread_mutex_lock(&mutex), 0);
    woken = 1;
    is(pthread_cond_signal(&condition), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    holds(finish(waiting) == PTHREAD_CANCELED);
    holds(returned && handled == 0);
    after();
}

/* The caller's cancellation type is unchanged, whatever it was and however the wait ends. */
static void *asks_its_type(void *argument)
{
    int wanted = (int)(intptr_t)argument, type = -1;
    struct timespec soon = from_now(CLOCK_REALTIME, 1), past = from_now(CLOCK_REALTIME, -1);
    struct timespec invalid = {.tv_sec = 0, .tv_nsec = -1};
    quiet_is(pthread_mutex_lock(&mutex), 0);
    quiet_is(pthread_setcanceltype(wanted, NULL), 0);
    while (pthread_cond_timedwait(&condition, &mutex, &soon) == 0)
        ;
    while (pthread_cond_timedwait(&condition, &mutex, &past) == 0)
        ;
    (void)pthread_cond_timedwait(&condition, &mutex, &invalid);
    set_flag(&about_to, 1);
    while (!woken)
        quiet_is(pthread_cond_wait(&condition, &mutex), 0);
    quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    return (void *)(intptr_t)(type == wanted);
}

static void the_type_stays(int type)
{
    prepare(-1, PLAIN, 0);
    pthread_t waiting = start(asks_its_type, (void *)(intptr_t)type);
    await_flag(&about_to, 1);
    is(pthread_mutex_lock(&mutex), 0);
    woken = 1;
    is(pthread_cond_broadcast(&condition), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    holds(finish(waiting) != NULL);
    after();
}

/* A handler itself waits: a thread that is being cancelled is not cancelled again. */
static pthread_cond_t handler_condition = PTHREAD_COND_INITIALIZER;
static int handler_waits, handler_woken;

static void waiting_handler(void *unused UNUSED)
{
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    while (pthread_cond_timedwait(&handler_condition, &mutex, &past) == 0)
        ;
    set_flag(&handler_waits, 1);
    while (!handler_woken)
        quiet_is(pthread_cond_wait(&handler_condition, &mutex), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    handled++;
}

static void *waits_in_its_handler(void *unused UNUSED)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    pthread_cleanup_push(waiting_handler, NULL);
    set_flag(&about_to, 1);
    for (;;)
        quiet_is(pthread_cond_wait(&condition, &mutex), 0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void a_handler_that_waits(void)
{
    prepare(-1, PLAIN, 0);
    pthread_t waiting = start(waits_in_its_handler, NULL);
    await_flag(&about_to, 1);
    is(pthread_cancel(waiting), 0);
    await_flag(&handler_waits, 1);
    is(pthread_cancel(waiting), 0);
    is(pthread_mutex_lock(&mutex), 0);
    handler_woken = 1;
    is(pthread_cond_signal(&handler_condition), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    holds(finish(waiting) == PTHREAD_CANCELED);
    holds(handled == 1);
    after();
}

/* The functions of a mutex are not cancellation points, even when they sleep. */
static void *locks_while_cancelled(void *argument)
{
    struct timespec later = from_now(CLOCK_REALTIME, 3600 * 1000), soon;
    intptr_t function = (intptr_t)argument % 3;
    /* A request that is pending at the call, and a request that arrives while the thread sleeps. */
    if ((intptr_t)argument >= 3)
        quiet_is(pthread_cancel(pthread_self()), 0);
    sleeps_now();
    quiet_is(function == 0   ? pthread_mutex_lock(&mutex)
             : function == 1 ? pthread_mutex_timedlock(&mutex, &later)
                             : mtx_lock((mtx_t *)&mutex),
             0);
    returned = 1;
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    quiet_is(pthread_mutex_trylock(&mutex), 0);
    soon = from_now(CLOCK_REALTIME, 1);
    if (pthread_mutex_timedlock(&mutex, &soon) == 0)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    quiet_is(pthread_cond_signal(&condition), 0);
    quiet_is(pthread_cond_broadcast(&condition), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    returned = 2;
    pthread_testcancel();
    return NULL;
}

static void a_lock_is_no_cancellation_point(int type, enum flavour flavour)
{
    for (intptr_t function = 0; function < 6; function++) {
        prepare(type, flavour, 0);
        quiet_is(pthread_mutex_lock(&mutex), 0);
        pthread_t locking = start_sleeper(locks_while_cancelled, (void *)function);
        if (function < 3)
            is(pthread_cancel(locking), 0);
        is(pthread_mutex_unlock(&mutex), 0);
        holds(finish(locking) == PTHREAD_CANCELED);
        holds(returned == 2);
        after();
    }
}

int main(void)
{
    for (int function = 0; function < FUNCTIONS; function++) {
        for (int type = 0; type < TYPE_COUNT; type++) {
            for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
                for (int shared = 0; shared < 2; shared++) {
                    say("== %s, %s %s, condition %s", NAMES[function], TYPES[type].name,
                        FLAVOUR_NAMES[flavour], shared ? "shared" : "private");
                    a_sleeping_waiter(TYPES[type].type, flavour, shared, function, 0);
                    a_sleeping_waiter(TYPES[type].type, flavour, shared, function, ASYNCHRONOUS);
                    a_waiter_without_its_mutex(TYPES[type].type, flavour, shared, function);
                }
            }
        }
        say("== %s, a pending cancellation", NAMES[function]);
        a_pending_cancellation(function);
        say("== %s, disabled", NAMES[function]);
        a_disabled_waiter(function);
    }
    for (int shared = 0; shared < 2; shared++) {
        for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
            say("== a past deadline, %s, condition %s", FLAVOUR_NAMES[flavour], shared ? "shared" : "private");
            a_past_deadline(CLOCK_REALTIME, flavour, shared);
            a_past_deadline(CLOCK_MONOTONIC, flavour, shared);
        }
    }
    say("== a waiter beside the cancelled");
    a_waiter_beside_the_cancelled();
    say("== a handler that waits");
    a_handler_that_waits();
    say("== the type stays");
    the_type_stays(PTHREAD_CANCEL_DEFERRED);
    the_type_stays(PTHREAD_CANCEL_ASYNCHRONOUS);
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
            say("== lock, %s %s", TYPES[type].name, FLAVOUR_NAMES[flavour]);
            a_lock_is_no_cancellation_point(TYPES[type].type, flavour);
        }
    }
    return conform_end();
}
