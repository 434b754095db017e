/* Reader-writer locks of every kind: readers beside a writer that waits, signals, exclusion, and more readers than can
 * be counted. */
#include "rwlock.h"

static pthread_rwlock_t rwlock;
static const struct rwlock_kind *kind;

/* The functions that read with a deadline. */
enum timed { TIMEDRD, CLOCKRD_REAL, CLOCKRD_MONO, TIMED };
static const char *const TIMED_NAMES[TIMED] = {"timedrdlock", "clockrdlock real", "clockrdlock monotonic"};

static int timed(enum timed how, long milliseconds)
{
    clockid_t clock = how == CLOCKRD_MONO ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    struct timespec deadline = from_now(clock, milliseconds);
    return how == TIMEDRD ? pthread_rwlock_timedrdlock(&rwlock, &deadline)
                          : pthread_rwlock_clockrdlock(&rwlock, clock, &deadline);
}

static int got;

static void *writes(void *how)
{
    sleeps_now();
    if (how == NULL) {
        quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
        quiet_is(pthread_rwlock_rdlock(&rwlock), EDEADLK);
        quiet_is(pthread_rwlock_wrlock(&rwlock), EDEADLK);
        set_flag(&got, 1);
        quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    } else {
        struct timespec soon = from_now(CLOCK_MONOTONIC, 200);
        quiet_is(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    }
    return NULL;
}

static void *reads(void *unused UNUSED)
{
    sleeps_now();
    quiet_is(pthread_rwlock_rdlock(&rwlock), 0);
    set_flag(&got, 1);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    return NULL;
}

static void *tries_to_read(void *unused UNUSED)
{
    int want = is_nonrecursive(kind) ? EBUSY : 0;
    int error = pthread_rwlock_tryrdlock(&rwlock);
    say("tryrdlock beside a reader, while a writer waits: %s", code(error));
    quiet_is(error, want);
    if (error == 0)
        quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    want = is_nonrecursive(kind) ? ETIMEDOUT : 0;
    for (int how = TIMEDRD; how < TIMED; how++) {
        error = timed(how, 3);
        say("%s beside a reader, while a writer waits: %s", TIMED_NAMES[how], code(error));
        quiet_is(error, want);
        if (error == 0)
            quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    }
    return NULL;
}

static void while_a_writer_waits(void)
{
    is(init_rwlock(&rwlock, kind), 0);
    is(pthread_rwlock_rdlock(&rwlock), 0);
    set_flag(&got, 0);
    pthread_t writer = start_sleeper(writes, NULL);
    elsewhere(tries_to_read, NULL);
    if (!is_nonrecursive(kind)) {
        /* A thread that already reads must not wait for a writer that waits for it. */
        for (int i = 0; i < 100; i++)
            quiet_is(pthread_rwlock_rdlock(&rwlock), 0);
        for (int i = 0; i < 100; i++)
            quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    }
    holds(!get_flag(&got));
    is(pthread_rwlock_unlock(&rwlock), 0);
    finish(writer);
    holds(got);

    /* The writer gives up: the threads behind it continue. */
    is(pthread_rwlock_rdlock(&rwlock), 0);
    set_flag(&got, 0);
    writer = start_sleeper(writes, &rwlock);
    pthread_t reader = start(reads, NULL);
    finish(writer);
    finish(reader);
    holds(got);
    is(pthread_rwlock_unlock(&rwlock), 0);

    /* A reader and a writer wait for a writer. */
    is(pthread_rwlock_wrlock(&rwlock), 0);
    reader = start_sleeper(reads, NULL);
    writer = start_sleeper(writes, NULL);
    is(pthread_rwlock_unlock(&rwlock), 0);
    finish(reader);
    finish(writer);
    is(pthread_rwlock_trywrlock(&rwlock), 0);
    is(pthread_rwlock_unlock(&rwlock), 0);
    is(pthread_rwlock_destroy(&rwlock), 0);
}

enum { THREADS = 6, ROUNDS = 2000 };
static long values[4];
static int readers;

static void *reads_and_writes(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument;
    struct timespec later = from_now(CLOCK_REALTIME, 3600 * 1000);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t random = next_random(&state);
        if (random % 4 == 0) {
            switch (random / 4 % 3) {
            case 0: quiet_is(pthread_rwlock_wrlock(&rwlock), 0); break;
            case 1: quiet_is(pthread_rwlock_timedwrlock(&rwlock, &later), 0); break;
            default:
                if (pthread_rwlock_trywrlock(&rwlock) == EBUSY)
                    quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
            }
            quiet_is(get_flag(&readers), 0);
            for (int v = 0; v < 4; v++)
                values[v]++;
        } else {
            switch (random / 4 % 3) {
            case 0: quiet_is(pthread_rwlock_rdlock(&rwlock), 0); break;
            case 1: quiet_is(pthread_rwlock_timedrdlock(&rwlock, &later), 0); break;
            default:
                if (pthread_rwlock_tryrdlock(&rwlock) == EBUSY)
                    quiet_is(pthread_rwlock_rdlock(&rwlock), 0);
            }
            __atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
            quiet_holds(values[0] == values[1] && values[1] == values[2] && values[2] == values[3]);
            if (random % 256 == 1)
                sched_yield();
            __atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
        }
        quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    }
    return NULL;
}

static void exclusion(void)
{
    pthread_t threads[THREADS];
    memset(values, 0, sizeof values);
    is(init_rwlock(&rwlock, kind), 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = start(reads_and_writes, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    holds(values[0] > 0 && values[0] == values[3]);
    is(pthread_rwlock_trywrlock(&rwlock), 0);
    is(pthread_rwlock_unlock(&rwlock), 0);
    is(pthread_rwlock_destroy(&rwlock), 0);
}

/* Many readers at once: each is counted or gets EAGAIN, and none waits forever. */
static void many_readers(void)
{
    enum { MANY = (1 << 24) + 10 };
    long had = 0;
    is(pthread_rwlock_init(&rwlock, NULL), 0);
    for (int i = 0; i < MANY; i++) {
        int error = pthread_rwlock_rdlock(&rwlock);
        quiet_holds(error == 0 || error == EAGAIN);
        had += error == 0;
    }
    int again = pthread_rwlock_tryrdlock(&rwlock);
    quiet_holds(again == 0 || again == EAGAIN);
    had += again == 0;
    holds(had >= 1 << 20);
    is(pthread_rwlock_trywrlock(&rwlock), EBUSY);
    while (had-- > 0)
        quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    is(pthread_rwlock_trywrlock(&rwlock), 0);
    is(pthread_rwlock_unlock(&rwlock), 0);
}

static void *waits_through_signals(void *read)
{
    sleeps_now();
    errno = 77;
    quiet_is(read ? pthread_rwlock_rdlock(&rwlock) : pthread_rwlock_wrlock(&rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    quiet_is(errno, 77);
    return NULL;
}

/* A signal handler runs, and the wait continues. A wait is not a cancellation point. */
static void interrupted(void)
{
    for (int read = 0; read < 2; read++) {
        is(init_rwlock(&rwlock, kind), 0);
        is(pthread_rwlock_wrlock(&rwlock), 0);
        pthread_t thread = start_sleeper(waits_through_signals, read ? &rwlock : NULL);
        interrupt_sleeper(thread);
        is(pthread_cancel(thread), 0);
        is(pthread_rwlock_unlock(&rwlock), 0);
        holds(finish(thread) == NULL);
        is(pthread_rwlock_destroy(&rwlock), 0);
    }
}

static void initializers(void)
{
    static pthread_rwlock_t by_default = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_rwlock_t nonrecursive = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    static pthread_rwlock_t zeros;
    pthread_rwlock_t *all[] = {&by_default, &nonrecursive, &zeros};
    static const struct rwlock_kind KINDS[] = {
        {"static default", -1, 0},
        {"static nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0},
        {"zeros", -1, 0},
    };
    for (int i = 0; i < 3; i++) {
        memcpy(&rwlock, all[i], sizeof rwlock);
        kind = &KINDS[i];
        say("== %s", kind->name);
        is(pthread_rwlock_rdlock(&rwlock), 0);
        pthread_t writer = start_sleeper(writes, NULL);
        elsewhere(tries_to_read, NULL);
        is(pthread_rwlock_unlock(&rwlock), 0);
        finish(writer);
        is(pthread_rwlock_destroy(all[i]), 0);
    }
}

int main(void)
{
    for (int i = 0; i < RWLOCK_COUNT; i++) {
        kind = &RWLOCKS[i];
        say("== %s", kind->name);
        while_a_writer_waits();
        interrupted();
        exclusion();
    }
    initializers();
    say("== many readers");
    many_readers();
    return conform_end();
}
