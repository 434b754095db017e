/* Every function of the mutex and the condition variable, with every code that it can return. */
#include "check.h"

#include <ondeck.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

_Static_assert(ONDECK_ABI == 6, "a program can ask for the ABI that it was written for");
_Static_assert(sizeof(ondeck_mutex_t) == 1 && sizeof(ondeck_cond_t) == 1, "one byte each");
_Static_assert(_Alignof(ondeck_mutex_t) == 1, "at any address");

static ondeck_mutex_t mutex = ONDECK_MUTEX_INIT;
static ondeck_cond_t cond = ONDECK_COND_INIT;
static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
static int is_there;

static void *try_it(void *unused)
{
    (void)unused;
    EQUAL(ondeck_mutex_trylock(&mutex), EBUSY);
    EQUAL(ondeck_mutex_destroy(&mutex), EBUSY);
    return NULL;
}

static void attempts(void)
{
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    end(begin(try_it, NULL));
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    EQUAL(ondeck_mutex_trylock(&mutex), 0);
    EQUAL(ondeck_mutex_trylock(&mutex), EBUSY);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
}

/* Calls on a mutex that another thread holds. */
static void *time_out(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct timespec soon = after_ms(clocks[i], 30);
        EQUAL(ondeck_mutex_clocklock(&mutex, clocks[i], &soon), ETIMEDOUT);
        EQUAL(has_come(clocks[i], soon), 1);
        struct timespec past = {1, 0}, before_all = {-1, 999999999};
        EQUAL(ondeck_mutex_clocklock(&mutex, clocks[i], &past), ETIMEDOUT);
        EQUAL(ondeck_mutex_clocklock(&mutex, clocks[i], &before_all), ETIMEDOUT);
        struct timespec wrong[] = {{0, -1}, {0, 1000000000}, {5000000000, 2000000000}};
        for (int w = 0; w < 3; w++)
            EQUAL(ondeck_mutex_clocklock(&mutex, clocks[i], &wrong[w]), EINVAL);
    }
    struct timespec soon = after_ms(CLOCK_REALTIME, 10);
    EQUAL(ondeck_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
    EQUAL(has_come(CLOCK_REALTIME, soon), 1);
    return NULL;
}

static void *wait_for_ever(void *clock)
{
    struct timespec never;
    never.tv_sec = (time_t)((~(unsigned long)0) >> 1);
    never.tv_nsec = 999999999;
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    EQUAL(ondeck_mutex_clocklock(&mutex, *(const clockid_t *)clock, &never), 0);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    return NULL;
}

static ondeck_mutex_t others = ONDECK_MUTEX_INIT;
static ondeck_cond_t come = ONDECK_COND_INIT;
static int waiting, has_come_now;

/* Two threads do this, and one broadcast ends both waits, each of which has more than a second left. */
static void *wait_for_long(void *clock)
{
    struct timespec late = after_ms(*(const clockid_t *)clock, 50000);
    EQUAL(ondeck_mutex_lock(&others), 0);
    waiting++;
    while (!has_come_now)
        EQUAL(ondeck_cond_clockwait(&come, &others, *(const clockid_t *)clock, &late), 0);
    EQUAL(ondeck_mutex_unlock(&others), 0);
    return NULL;
}

static void let_them_come(void)
{
    EQUAL(ondeck_mutex_lock(&others), 0);
    while (waiting != 2) {
        EQUAL(ondeck_mutex_unlock(&others), 0);
        sleep_ms(1);
        EQUAL(ondeck_mutex_lock(&others), 0);
    }
    waiting = 0;
    has_come_now = 1;
    EQUAL(ondeck_cond_broadcast(&come), 0);
    EQUAL(ondeck_mutex_unlock(&others), 0);
}

static void deadlines(void)
{
    struct timespec past = {0, 0}, wrong = {0, -1};
    EQUAL(ondeck_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
    EQUAL(ondeck_mutex_clocklock(&mutex, -1, &past), EINVAL);
    /* A free mutex is locked regardless of the deadline. */
    for (int i = 0; i < 2; i++) {
        EQUAL(ondeck_mutex_clocklock(&mutex, clocks[i], &past), 0);
        EQUAL(ondeck_mutex_unlock(&mutex), 0);
        EQUAL(ondeck_mutex_clocklock(&mutex, clocks[i], &wrong), 0);
        EQUAL(ondeck_mutex_unlock(&mutex), 0);
    }
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    end(begin(time_out, NULL));
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    for (int i = 0; i < 2; i++) {
        clockid_t clock = clocks[i];
        EQUAL(ondeck_mutex_lock(&mutex), 0);
        __atomic_store_n(&is_there, 0, __ATOMIC_RELAXED);
        has_come_now = 0;
        pthread_t waiters[] = {begin(wait_for_long, &clock), begin(wait_for_long, &clock)};
        pthread_t thread = begin(wait_for_ever, &clock);
        while (__atomic_load_n(&is_there, __ATOMIC_ACQUIRE) == 0)
            sleep_ms(1);
        /* Past the end of a part, so that the clock is read again. */
        sleep_ms(clock == CLOCK_REALTIME ? 1100 : 20);
        let_them_come();
        EQUAL(ondeck_mutex_unlock(&mutex), 0);
        end(thread);
        end(waiters[0]);
        end(waiters[1]);
    }
}

static int flag;

static void *set_flag(void *unused)
{
    (void)unused;
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    flag = 1;
    EQUAL(ondeck_cond_signal(&cond), 0);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    return NULL;
}

static int waits(int kind)
{
    struct timespec real = after_ms(CLOCK_REALTIME, 60000),
                    monotonic = after_ms(CLOCK_MONOTONIC, 60000);
    switch (kind) {
    case 0:
        return ondeck_cond_wait(&cond, &mutex);
    case 1:
        return ondeck_cond_timedwait(&cond, &mutex, &real);
    case 2:
        return ondeck_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &real);
    default:
        return ondeck_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &monotonic);
    }
}

static void *destroy_early(void *unused)
{
    (void)unused;
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    EQUAL(ondeck_cond_destroy(&cond), EBUSY);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    return set_flag(NULL);
}

static void conditions(void)
{
    EQUAL(ondeck_cond_signal(&cond), 0);
    EQUAL(ondeck_cond_broadcast(&cond), 0);
    for (int kind = 0; kind < 4; kind++) {
        EQUAL(ondeck_mutex_lock(&mutex), 0);
        flag = 0;
        pthread_t thread = begin(kind == 0 ? destroy_early : set_flag, NULL);
        while (!flag)
            EQUAL(waits(kind), 0);
        EQUAL(ondeck_mutex_trylock(&mutex), EBUSY);
        EQUAL(ondeck_mutex_unlock(&mutex), 0);
        end(thread);
    }
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    for (int i = 0; i < 2; i++) {
        struct timespec soon = after_ms(clocks[i], 30), past = {-3, 0}, wrong = {0, 1000000000};
        EQUAL(ondeck_cond_clockwait(&cond, &mutex, clocks[i], &soon), ETIMEDOUT);
        EQUAL(has_come(clocks[i], soon), 1);
        EQUAL(ondeck_cond_clockwait(&cond, &mutex, clocks[i], &past), ETIMEDOUT);
        EQUAL(ondeck_cond_clockwait(&cond, &mutex, clocks[i], &wrong), EINVAL);
        EQUAL(ondeck_mutex_trylock(&mutex), EBUSY);
    }
    struct timespec past = {0, 0};
    EQUAL(ondeck_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
    EQUAL(ondeck_cond_clockwait(&cond, &mutex, CLOCK_THREAD_CPUTIME_ID, &past), EINVAL);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    EQUAL(ondeck_cond_destroy(&cond), 0);
}

static void memory(void)
{
    unsigned char bytes[2] = {0xff, 0xff};
    ondeck_mutex_t *m = (ondeck_mutex_t *)&bytes[0];
    ondeck_cond_t *c = (ondeck_cond_t *)&bytes[1];
    ondeck_mutex_init(m);
    ondeck_cond_init(c);
    EQUAL(bytes[0] | bytes[1], 0);
    EQUAL(ondeck_mutex_trylock(m), 0);
    EQUAL(ondeck_mutex_unlock(m), 0);
    EQUAL(ondeck_cond_signal(c), 0);
    EQUAL(ondeck_mutex_destroy(m), 0);
    EQUAL(ondeck_cond_destroy(c), 0);
}

/* A thread that waits is interrupted by signals and finds its errno unchanged. */
static void *wait_with_errno(void *unused)
{
    (void)unused;
    errno = 4711;
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    EQUAL(errno, 4711);
    struct timespec soon = after_ms(CLOCK_MONOTONIC, 5);
    EQUAL(ondeck_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    EQUAL(errno, 4711);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    EQUAL(errno, 4711);
    return NULL;
}

static void handle(int number)
{
    (void)number;
}

static void interruptions(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    __atomic_store_n(&is_there, 0, __ATOMIC_RELAXED);
    pthread_t thread = begin(wait_with_errno, NULL);
    while (__atomic_load_n(&is_there, __ATOMIC_ACQUIRE) == 0)
        sleep_ms(1);
    for (int i = 0; i < 20; i++) {
        EQUAL(pthread_kill(thread, SIGUSR1), 0);
        sleep_ms(1);
    }
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    end(thread);
}

/* Under ThreadSanitizer the child of a multithreaded process cannot start threads. */
#if !defined(ONDECK_TSAN)
static int turns;

/* Two threads do this at the same time, so that they wait for each other. */
static void *take_in_turn(void *unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        EQUAL(ondeck_mutex_lock(&mutex), 0);
        turns++;
        if (i % 16 == 0)
            sleep_ms(1);
        EQUAL(ondeck_mutex_unlock(&mutex), 0);
    }
    return NULL;
}

static void *park(void *unused)
{
    (void)unused;
    __atomic_store_n(&is_there, 1, __ATOMIC_RELEASE);
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    return NULL;
}

/* After a fork the child's table contains none of the parent's threads. */
static void children(void)
{
    EQUAL(ondeck_mutex_lock(&mutex), 0);
    __atomic_store_n(&is_there, 0, __ATOMIC_RELAXED);
    pthread_t parked = begin(park, NULL);
    while (__atomic_load_n(&is_there, __ATOMIC_ACQUIRE) == 0)
        sleep_ms(1);
    sleep_ms(20);
    pid_t child = fork();
    EQUAL(child >= 0, 1);
    if (child == 0) {
        progress();
#if defined(ONDECK_INLINE)
        /* The thread that waits in the parent does not exist here, and the bucket is in its initial
         * state. */
        EQUAL(*ondeck_unlock_mode(&mutex), 0);
#endif
        EQUAL(ondeck_mutex_unlock(&mutex), 0);
        EQUAL(ondeck_mutex_trylock(&mutex), 0);
        EQUAL(ondeck_mutex_unlock(&mutex), 0);
        pthread_t other = begin(take_in_turn, NULL);
        take_in_turn(NULL);
        end(other);
        EQUAL(turns, 400);
        _exit(0);
    }
    int status;
    EQUAL(waitpid(child, &status, 0), child);
    EQUAL(status, 0);
    EQUAL(ondeck_mutex_unlock(&mutex), 0);
    end(parked);
}
#endif

int main(void)
{
    progress();
    EQUAL(ondeck_abi(), ONDECK_ABI);
    EQUAL(strncmp(ondeck_version(), "0.", 2), 0);
    ondeck_prepare();
    memory();
    attempts();
    deadlines();
    conditions();
    interruptions();
#if !defined(ONDECK_TSAN)
    children();
#endif
    EQUAL(ondeck_mutex_destroy(&mutex), 0);
    return 0;
}
