/* A bounded queue with two condition variables, whose mutex other threads lock by trylock and timedlock. Each
 * item that is put in comes out once. A lost wake-up is a hang. */
#include "kinds.h"

enum { PUTTERS = 3, TAKERS = 3, OTHERS = 2, ITEMS = 1000, PLACES = 4 };

static pthread_mutex_t mutex;
static pthread_cond_t not_full, not_empty;
static long places[PLACES];
static int used, first, ended;
static long taken[PUTTERS * ITEMS];

static void *putter(void *argument)
{
    long base = (long)(intptr_t)argument * ITEMS;
    for (long i = 0; i < ITEMS; i++) {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        while (used == PLACES)
            quiet_is(pthread_cond_wait(&not_full, &mutex), 0);
        places[(first + used++) % PLACES] = base + i;
        if (i % 2)
            quiet_is(pthread_cond_signal(&not_empty), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        if (i % 2 == 0)
            quiet_is(pthread_cond_signal(&not_empty), 0);
    }
    return NULL;
}

static void *taker(void *argument)
{
    for (long i = 0; i < (long)PUTTERS * ITEMS / TAKERS; i++) {
        struct timespec late = from_now(CLOCK_MONOTONIC, 3600 * 1000);
        quiet_is(pthread_mutex_lock(&mutex), 0);
        while (used == 0)
            quiet_is(argument ? pthread_cond_wait(&not_empty, &mutex)
                              : pthread_cond_clockwait(&not_empty, &mutex, CLOCK_MONOTONIC, &late),
                     0);
        taken[places[first]]++;
        first = (first + 1) % PLACES;
        used--;
        quiet_is(pthread_mutex_unlock(&mutex), 0);
        quiet_is(pthread_cond_signal(&not_full), 0);
    }
    return NULL;
}

/* Locks the mutex by the other functions, so that a notified waiter finds it locked. */
static void *other(void *argument)
{
    while (!get_flag(&ended)) {
        struct timespec soon = from_now(CLOCK_REALTIME, 1);
        int error = argument ? pthread_mutex_trylock(&mutex) : pthread_mutex_timedlock(&mutex, &soon);
        quiet_holds(error == 0 || error == (argument ? EBUSY : ETIMEDOUT));
        sched_yield();
        if (error == 0)
            quiet_is(pthread_mutex_unlock(&mutex), 0);
    }
    return NULL;
}

static void run(int type, enum flavour flavour)
{
    pthread_t threads[PUTTERS + TAKERS], others[OTHERS];
    is(init_kind(&mutex, type, flavour), 0);
    is(pthread_cond_init(&not_full, NULL), 0);
    is(pthread_cond_init(&not_empty, NULL), 0);
    memset(taken, 0, sizeof taken);
    used = first = ended = 0;
    for (intptr_t i = 0; i < PUTTERS; i++)
        threads[i] = start(putter, (void *)i);
    for (intptr_t i = 0; i < TAKERS; i++)
        threads[PUTTERS + i] = start(taker, (void *)i);
    for (intptr_t i = 0; i < OTHERS; i++)
        others[i] = start(other, (void *)i);
    for (int i = 0; i < PUTTERS + TAKERS; i++)
        finish(threads[i]);
    set_flag(&ended, 1);
    for (int i = 0; i < OTHERS; i++)
        finish(others[i]);
    int wrong = used != 0;
    for (long i = 0; i < (long)PUTTERS * ITEMS; i++)
        wrong += taken[i] != 1;
    holds(wrong == 0);
    is(pthread_cond_destroy(&not_full), 0);
    is(pthread_cond_destroy(&not_empty), 0);
    is(pthread_mutex_destroy(&mutex), 0);
}

int main(void)
{
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int flavour = PLAIN; flavour <= ROBUST; flavour++) {
            say("== %s %s", TYPES[type].name, FLAVOUR_NAMES[flavour]);
            run(TYPES[type].type, flavour);
        }
    }
    return conform_end();
}
