/* Waiters of one condition variable change their mutex between waits: A, then B, then both alternately. */
#include "kinds.h"

enum { WAITERS = 4, ROUNDS = 200, MUTEXES = 5 };

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t mutexes[MUTEXES];
/* The current round, and the number of threads that wait in it: guarded by the mutex of the round. */
static int go_on[MUTEXES], waiting[MUTEXES];

/* No two successive rounds have the same mutex. glibc allows a wait with another mutex as soon as no thread
 * waits with the first. */
static int mutex_of(int round)
{
    return round % MUTEXES;
}

static void *waiter(void *unused UNUSED)
{
    for (int round = 0; round < ROUNDS; round++) {
        int m = mutex_of(round);
        quiet_is(pthread_mutex_lock(&mutexes[m]), 0);
        set_flag(&waiting[m], waiting[m] + 1);
        while (go_on[m] <= round)
            quiet_is(pthread_cond_wait(&condition, &mutexes[m]), 0);
        quiet_is(pthread_mutex_unlock(&mutexes[m]), 0);
    }
    return NULL;
}

/* While waiters are being moved to the old mutex, others already wait with the new one. */
static void rounds(void)
{
    pthread_t threads[WAITERS];
    memset(go_on, 0, sizeof go_on);
    memset(waiting, 0, sizeof waiting);
    for (int i = 0; i < WAITERS; i++)
        threads[i] = start(waiter, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        int m = mutex_of(round);
        await_flag(&waiting[m], WAITERS * (round / MUTEXES + 1));
        quiet_is(pthread_mutex_lock(&mutexes[m]), 0);
        go_on[m] = round + 1;
        /* Signals under the mutex, so that none can reach a thread that already waits for the next round. */
        for (int i = 0; round % 2 == 1 && i < WAITERS; i++)
            quiet_is(pthread_cond_signal(&condition), 0);
        if (round % 4 == 0)
            quiet_is(pthread_cond_broadcast(&condition), 0);
        quiet_is(pthread_mutex_unlock(&mutexes[m]), 0);
        /* A broadcast also wakes them. */
        if (round % 4 == 2)
            quiet_is(pthread_cond_broadcast(&condition), 0);
    }
    for (int i = 0; i < WAITERS; i++)
        finish(threads[i]);
    for (int m = 0; m < MUTEXES; m++)
        holds(waiting[m] == WAITERS * ROUNDS / MUTEXES);
}

int main(void)
{
    static const int KINDS[][MUTEXES] = {
        {-1, -1, -1, -1, -1},
        {-1, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_NORMAL},
    };
    for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
        for (int mixed = 0; mixed < 2; mixed++) {
            say("== %s, %s", FLAVOUR_NAMES[flavour], mixed ? "types in turn" : "one type");
            for (int m = 0; m < MUTEXES; m++)
                is(init_kind(&mutexes[m], KINDS[mixed][m], flavour), 0);
            rounds();
        }
    }
    say("== flavours in turn");
    for (int m = 0; m < MUTEXES; m++)
        is(init_kind(&mutexes[m], -1, (enum flavour)m), 0);
    rounds();
    for (int m = 0; m < MUTEXES; m++)
        is(pthread_mutex_destroy(&mutexes[m]), 0);
    is(pthread_cond_destroy(&condition), 0);
    return conform_end();
}
