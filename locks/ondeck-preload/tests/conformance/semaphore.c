/* Semaphores, private, shared and named: as many are taken as are posted, signals with and without SA_RESTART, posts
 * from handlers, cancellation, and memory that is unmapped right after the wait. */
#include "conform.h"

#include <semaphore.h>

enum { PRIVATE, SHARED, NAMED, SORTS, THREADS = 6, POSTS = 3000, PAGE = 4096 };
static const char *const SORT_NAMES[SORTS] = {"private", "shared", "named"};

static sem_t own, *semaphore = &own;
static int sort;

static void make(unsigned value)
{
    if (sort == NAMED) {
        char name[64];
        snprintf(name, sizeof name, "/conform-%d", (int)getpid());
        semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, value);
        quiet_holds(semaphore != SEM_FAILED);
        quiet_is(sem_unlink(name), 0);
        return;
    }
    semaphore = &own;
    quiet_is(sem_init(&own, sort == SHARED, value), 0);
}

static void end(void)
{
    quiet_is(sort == NAMED ? sem_close(semaphore) : sem_destroy(semaphore), 0);
}

/* Returns 0, or the errno of a call that returned -1. */
static int result(int returned)
{
    if (returned == 0)
        return 0;
    quiet_is(returned == -1, 1);
    return errno;
}

static int value(void)
{
    int now = -1;
    quiet_is(sem_getvalue(semaphore, &now), 0);
    return now;
}

/* Exactly the posted units are taken. */
static long taken;

static void *takes(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument;
    for (int i = 0; i < POSTS; i++) {
        struct timespec soon = from_now(CLOCK_MONOTONIC, 1);
        switch (next_random(&state) % 4) {
        case 0:
            while (result(sem_trywait(semaphore)) != 0)
                sched_yield();
            break;
        case 1:
            while (result(sem_clockwait(semaphore, CLOCK_MONOTONIC, &soon)) != 0)
                soon = from_now(CLOCK_MONOTONIC, 1);
            break;
        default: quiet_is(result(sem_wait(semaphore)), 0);
        }
        __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void *posts(void *unused UNUSED)
{
    for (int i = 0; i < POSTS; i++)
        quiet_is(sem_post(semaphore), 0);
    return NULL;
}

static void counted(void)
{
    pthread_t threads[2 * THREADS];
    make(0);
    taken = 0;
    for (uintptr_t i = 0; i < THREADS; i++) {
        threads[i] = start(takes, (void *)(i + 1));
        threads[THREADS + i] = start(posts, NULL);
    }
    for (int i = 0; i < 2 * THREADS; i++)
        finish(threads[i]);
    holds(taken == (long)THREADS * POSTS);
    is(value(), 0);
    /* glibc's count of waiters is after its value; while it is not 0, each post is a system call. */
    uint32_t waiters;
    memcpy(&waiters, (char *)semaphore + 4, sizeof waiters);
    holds(waiters == 0);
    end();
}

static int signals, posting, cleaned;

static void handler(int number UNUSED)
{
    signals++;
    if (posting)
        (void)sem_post(semaphore);
}

static void *waits(void *how)
{
    struct timespec later = from_now(CLOCK_REALTIME, 3600 * 1000);
    sleeps_now();
    return (void *)(intptr_t)(how ? result(sem_timedwait(semaphore, &later)) : result(sem_wait(semaphore)));
}

static void interrupted(void)
{
    make(0);
    for (int restart = 0; restart < 2; restart++) {
        struct sigaction action = {.sa_handler = handler, .sa_flags = restart ? SA_RESTART : 0};
        sigaction(SIGUSR1, &action, NULL);
        for (int timed = 0; timed < 2; timed++) {
            signals = posting = 0;
            pthread_t thread = start_sleeper(waits, timed ? semaphore : NULL);
            is(pthread_kill(thread, SIGUSR1), 0);
            await_flag(&signals, 1);
            if (restart && !timed) {
                await_sleep(sleeper);
                is(sem_post(semaphore), 0);
            }
            int error = (int)(intptr_t)finish(thread);
            say("restart %d, timed %d: %s", restart, timed, code(error));
            quiet_is(error, restart && !timed ? 0 : EINTR);
            is(value(), 0);
        }
        /* The thread's own handler posts. */
        signals = 0;
        posting = 1;
        pthread_t thread = start_sleeper(waits, NULL);
        is(pthread_kill(thread, SIGUSR1), 0);
        int error = (int)(intptr_t)finish(thread);
        quiet_holds(error == 0 || error == EINTR);
        is(value() + (error == 0), 1);
        while (value() > 0)
            quiet_is(sem_wait(semaphore), 0);
    }
    end();
}

static void cleanup(void *unused UNUSED)
{
    cleaned++;
}

static void *waits_to_be_cancelled(void *how)
{
    pthread_cleanup_push(cleanup, NULL);
    if (how == (void *)2)
        quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    (void)waits(how == (void *)1 ? semaphore : NULL);
    fail("a cancelled wait returned");
    pthread_cleanup_pop(0);
    return NULL;
}

static int may_wait;

/* The ways in which a thread with a pending cancellation waits: sem_wait, sem_timedwait, sem_timedwait with an
 * invalid time, sem_clockwait. */
enum pending { WAITS, WAITS_TIMED, WAITS_INVALID, WAITS_CLOCK };

static void *waits_although_cancelled(void *how)
{
    const struct timespec invalid = {0, 1000000000}, later = from_now(CLOCK_REALTIME, 3600 * 1000);
    int outcome;

    pthread_cleanup_push(cleanup, NULL);
    set_flag(&about_to, 1);
    await_flag(&may_wait, 1);
    switch ((enum pending)(uintptr_t)how) {
    case WAITS: outcome = result(sem_wait(semaphore)); break;
    case WAITS_TIMED: outcome = result(sem_timedwait(semaphore, &later)); break;
    case WAITS_INVALID: outcome = result(sem_timedwait(semaphore, &invalid)); break;
    default: outcome = result(sem_clockwait(semaphore, CLOCK_REALTIME, &later)); break;
    }
    pthread_cleanup_pop(0);
    return (void *)(intptr_t)outcome;
}

/* Returns the thread's result. */
static void *waits_with_one(enum pending how)
{
    set_flag(&about_to, 0);
    set_flag(&may_wait, 0);
    pthread_t thread = start(waits_although_cancelled, (void *)(uintptr_t)how);
    await_flag(&about_to, 1);
    is(pthread_cancel(thread), 0);
    set_flag(&may_wait, 1);
    return finish(thread);
}

static void *takes_one(void *unused UNUSED)
{
    sleeps_now();
    return (void *)(intptr_t)result(sem_wait(semaphore));
}

static void cancelled(void)
{
    make(0);
    cleaned = 0;
    for (uintptr_t how = 0; how < 3; how++) {
        pthread_t thread = start_sleeper(waits_to_be_cancelled, (void *)how);
        is(pthread_cancel(thread), 0);
        holds(finish(thread) == PTHREAD_CANCELED);
        is(value(), 0);
    }
    is(cleaned, 3);
    /* A pending cancellation acts although a unit is available, except in sem_clockwait. */
    is(sem_post(semaphore), 0);
    holds(waits_with_one(WAITS) == PTHREAD_CANCELED);
    holds(waits_with_one(WAITS_TIMED) == PTHREAD_CANCELED);
    is((int)(intptr_t)waits_with_one(WAITS_INVALID), EINVAL);
    is(value(), 1);
    is((int)(intptr_t)waits_with_one(WAITS_CLOCK), 0);
    is(value(), 0);
    /* A cancelled thread no longer counts as a waiter: the other threads get the posted units. */
    pthread_t two[2] = {start_sleeper(takes_one, NULL), start_sleeper(takes_one, NULL)};
    pthread_t thread = start_sleeper(waits_to_be_cancelled, NULL);
    is(pthread_cancel(thread), 0);
    holds(finish(thread) == PTHREAD_CANCELED);
    is(sem_post(semaphore), 0);
    is(sem_post(semaphore), 0);
    for (int i = 0; i < 2; i++)
        is((int)(intptr_t)finish(two[i]), 0);
    is(value(), 0);
    end();
}

/* The thread that takes the posted unit unmaps the page at once. */
static sem_t *page;

static void *takes_and_unmaps(void *argument)
{
    sem_t *mine = argument;
    quiet_is(sem_wait(mine), 0);
    quiet_is(sem_destroy(mine), 0);
    if (munmap(mine, PAGE) != 0)
        abort();
    return NULL;
}

static void unmapped(void)
{
    for (int round = 0; round < 200; round++) {
        page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            abort();
        quiet_is(sem_init(page, sort == SHARED, 0), 0);
        pthread_t thread = start(takes_and_unmaps, page);
        if (round % 4 == 0)
            usleep(200);
        else if (round % 4 == 1)
            sched_yield();
        quiet_is(sem_post(page), 0);
        finish(thread);
    }
}

int main(void)
{
    for (sort = 0; sort < SORTS; sort++) {
        say("== %s", SORT_NAMES[sort]);
        counted();
        interrupted();
        cancelled();
        if (sort != NAMED)
            unmapped();
    }
    return conform_end();
}
