/* Signals, broadcasts, time-outs and cancellations of one condition variable race each other, and every signal
 * is accounted for.
 *
 * The mutex guards the whole account. Plain waiters have no deadline and are not cancelled, and count
 * themselves before they wait. A producer signals only if the number of plain waiters exceeds the number of
 * owed signals, and then owes one more. So at each signal a plain waiter that the signal can wake is blocked or
 * about to return. Any waiter that returns 0 pays one owed signal. A waiter that times out or is cancelled pays
 * nothing: if it did consume a signal, one stays owed forever, which is a lost signal. A waiter that returns 0
 * although nothing is owed was woken spuriously. POSIX allows that, but if it happens often, one signal wakes
 * several waiters: a doubled signal. A broadcast begins a new generation, pays all owed signals, and expects
 * every waiter of the old generation to return.
 *
 * CONFORM_SECONDS is the total duration; 4 if it is not set. */
#include "kinds.h"

enum { PLAIN_WAITERS = 6, TIMED_WAITERS = 3, CANCELLED_WAITERS = 3, PRODUCERS = 2 };

struct account {
    long generation, waiters, plain, owed, of_old_generations;
    long signals, taken, in_vain;
};

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static struct account account;
/* An odd phase is a pause of the producers. */
static int stopping, paused, phase;
static int after_unlock;

static void settle(long generation, int plain, int error)
{
    if (generation != account.generation) {
        account.of_old_generations--;
        return;
    }
    account.waiters--;
    account.plain -= plain;
    if (error == 0 && account.owed > 0) {
        account.owed--;
        account.taken++;
    } else if (error == 0) {
        account.in_vain++;
    }
}

static void cancelled(void *generation)
{
    settle(*(long *)generation, 0, ECANCELED);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
}

/* Waits once; `nanoseconds` is -1 for a wait without a deadline. A plain waiter is never cancelled. */
static void wait_once(int plain, long nanoseconds)
{
    int error;
    quiet_is(pthread_mutex_lock(&mutex), 0);
    long generation = account.generation;
    account.waiters++;
    account.plain += plain;
    pthread_cleanup_push(cancelled, &generation);
    if (stopping) {
        error = ECANCELED;
    } else if (nanoseconds < 0) {
        error = pthread_cond_wait(&condition, &mutex);
        quiet_is(error, 0);
    } else {
        struct timespec deadline = from_now(CLOCK_MONOTONIC, 0);
        deadline.tv_nsec += nanoseconds;
        deadline.tv_sec += deadline.tv_nsec / 1000000000;
        deadline.tv_nsec %= 1000000000;
        error = pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &deadline);
        quiet_holds(error == 0 || error == ETIMEDOUT);
    }
    settle(generation, plain, error);
    pthread_cleanup_pop(0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
}

static void *plain_waiter(void *unused UNUSED)
{
    while (!get_flag(&stopping))
        wait_once(1, -1);
    return NULL;
}

static void *cancelled_waiter(void *unused UNUSED)
{
    while (!get_flag(&stopping))
        wait_once(0, -1);
    return NULL;
}

static void *timed_waiter(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed;
    while (!get_flag(&stopping))
        wait_once(0, (long)(next_random(&state) % 300000));
    return NULL;
}

/* Cancels a waiter at a random moment, and starts the next one. */
static void *canceller(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed;
    while (!get_flag(&stopping)) {
        pthread_t victim = start(cancelled_waiter, NULL);
        uint32_t random = next_random(&state);
        if (random % 4 != 0)
            usleep(random % 400);
        quiet_is(pthread_cancel(victim), 0);
        finish(victim);
    }
    return NULL;
}

static void *producer(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed;
    while (!get_flag(&stopping)) {
        int phase_now = get_flag(&phase);
        if (phase_now % 2 != 0) {
            __atomic_fetch_add(&paused, 1, __ATOMIC_SEQ_CST);
            while (get_flag(&phase) == phase_now && !get_flag(&stopping))
                sched_yield();
            continue;
        }
        uint32_t random = next_random(&state);
        int wakes = 0;
        quiet_is(pthread_mutex_lock(&mutex), 0);
        if (random % 1024 == 0) {
            account.of_old_generations += account.waiters;
            account.waiters = account.plain = account.owed = 0;
            account.generation++;
            quiet_is(pthread_cond_broadcast(&condition), 0);
        } else {
            while (wakes < (int)(random % 3) + 1 && account.plain > account.owed) {
                account.owed++;
                account.signals++;
                wakes++;
            }
        }
        for (int i = 0; !after_unlock && i < wakes; i++)
            quiet_is(pthread_cond_signal(&condition), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        for (int i = 0; after_unlock && i < wakes; i++)
            quiet_is(pthread_cond_signal(&condition), 0);
        if (random % 128 == 1)
            usleep(random % 300);
    }
    return NULL;
}

/* Producers pause, and all owed signals must be paid within a minute's worth of checks, however long each check
 * takes. */
static void expect_nothing_owed(const char *label)
{
    set_flag(&paused, 0);
    set_flag(&phase, phase + 1);
    await_flag(&paused, PRODUCERS);
    for (int look = 0;; look++) {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        struct account now = account;
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        if (now.owed == 0 && now.of_old_generations == 0)
            break;
        if (look == 60000) {
            fail("%s: lost: %ld signals owed to %ld waiters, %ld waiters of past broadcasts", label, now.owed,
                 now.waiters, now.of_old_generations);
            exit(1);
        }
        usleep(1000);
    }
    set_flag(&phase, phase + 1);
}

static void race(const char *label, int type, enum flavour flavour, int shared, int late, long milliseconds)
{
    pthread_t threads[PLAIN_WAITERS + TIMED_WAITERS + CANCELLED_WAITERS + PRODUCERS];
    int count = 0;
    quiet_is(init_condition(&condition, CLOCK_REALTIME, shared), 0);
    quiet_is(init_kind(&mutex, type, flavour), 0);
    memset(&account, 0, sizeof account);
    stopping = phase = 0;
    after_unlock = late;
    for (uintptr_t i = 0; i < PLAIN_WAITERS; i++)
        threads[count++] = start(plain_waiter, NULL);
    for (uintptr_t i = 0; i < TIMED_WAITERS; i++)
        threads[count++] = start(timed_waiter, (void *)(i + 11));
    for (uintptr_t i = 0; i < CANCELLED_WAITERS; i++)
        threads[count++] = start(canceller, (void *)(i + 101));
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        threads[count++] = start(producer, (void *)(i + 1001));

    struct timespec end = from_now(CLOCK_MONOTONIC, milliseconds);
    do {
        usleep(20000);
        expect_nothing_owed(label);
    } while (!has_passed(CLOCK_MONOTONIC, &end));

    quiet_is(pthread_mutex_lock(&mutex), 0);
    set_flag(&stopping, 1);
    account.of_old_generations += account.waiters;
    account.waiters = account.plain = account.owed = 0;
    account.generation++;
    quiet_is(pthread_cond_broadcast(&condition), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    for (int i = 0; i < count; i++)
        finish(threads[i]);
    quiet_holds(account.of_old_generations == 0 && account.waiters == 0);
    quiet_is(pthread_cond_destroy(&condition), 0);
    quiet_is(pthread_mutex_destroy(&mutex), 0);

    /* A signal after the unlock may wake a thread that arrived later, and a wait in slices, used with
     * process-shared objects, returns spuriously. Both are allowed, and not counted. */
    int doubled = !shared && !late && account.in_vain * 4 > account.signals;
    if (doubled)
        fail("%s: doubled: %ld waiters were woken in vain, %ld signals", label, account.in_vain, account.signals);
    if (account.signals == 0 || account.taken == 0)
        fail("%s: no signal was sent", label);
    say("%s: none lost, doubled: %s", label, doubled ? "yes" : "no");
}

int main(void)
{
    const char *seconds = getenv("CONFORM_SECONDS");
    long part = (seconds == NULL ? 4 : atol(seconds)) * 1000 / 10;
    race("default", -1, PLAIN, 0, 0, 3 * part);
    race("default, signals after the unlock", -1, PLAIN, 0, 1, part);
    race("recursive", PTHREAD_MUTEX_RECURSIVE, PLAIN, 0, 0, part);
    race("errorcheck", PTHREAD_MUTEX_ERRORCHECK, PLAIN, 0, 1, part);
    race("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PLAIN, 0, 0, part);
    race("robust", -1, ROBUST, 0, 0, part);
    race("shared mutex", -1, SHARED, 0, 0, part);
    race("shared condition", -1, PLAIN, 1, 0, part);
    return conform_end();
}
