/* One signal wakes one waiter. Nothing else wakes waiters here, so the wakes can be counted. */
#include "kinds.h"

enum { WAITERS = 6, SIGNALS = 200 };

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static int waiting, stopping;
static long woken;
static pid_t waiters[WAITERS];

static void *waiter(void *argument)
{
    waiters[(intptr_t)argument] = thread_id();
    quiet_is(pthread_mutex_lock(&mutex), 0);
    set_flag(&waiting, waiting + 1);
    for (;;) {
        quiet_is(pthread_cond_wait(&condition, &mutex), 0);
        if (stopping)
            break;
        woken++;
    }
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    return NULL;
}

static long read_woken(void)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    long now = woken;
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    return now;
}

static void run(int type, enum flavour flavour)
{
    pthread_t threads[WAITERS];
    waiting = stopping = 0;
    woken = 0;
    is(init_kind(&mutex, type, flavour), 0);
    is(pthread_cond_init(&condition, NULL), 0);
    for (intptr_t i = 0; i < WAITERS; i++)
        threads[i] = start(waiter, (void *)i);
    await_flag(&waiting, WAITERS);
    long seen = 0;
    for (int i = 0; i < SIGNALS; i++) {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        if (i % 2)
            quiet_is(pthread_cond_signal(&condition), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        if (i % 2 == 0)
            quiet_is(pthread_cond_signal(&condition), 0);
        long now;
        while ((now = read_woken()) == seen)
            sched_yield();
        seen = now;
        for (int j = 0; j < WAITERS; j++)
            await_sleep(waiters[j]);
    }
    /* A single wake more than the number of signals may be a spurious wake, which POSIX allows. One in
     * ten is not. */
    long wakes = read_woken();
    int one_each = wakes >= SIGNALS && wakes <= SIGNALS + SIGNALS / 10;
    say("one wake for each signal: %s", one_each ? "yes" : "no");
    if (!one_each)
        fail("%ld wakes for %d signals", wakes, SIGNALS);
    quiet_is(pthread_mutex_lock(&mutex), 0);
    stopping = 1;
    quiet_is(pthread_cond_broadcast(&condition), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    for (int i = 0; i < WAITERS; i++)
        finish(threads[i]);
    is(pthread_cond_destroy(&condition), 0);
    is(pthread_mutex_destroy(&mutex), 0);
}

int main(void)
{
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
            say("== %s %s", TYPES[type].name, FLAVOUR_NAMES[flavour]);
            run(TYPES[type].type, flavour);
        }
    }
    return conform_end();
}
