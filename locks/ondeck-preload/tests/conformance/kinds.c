/* Every function of a mutex, for every kind, with every code that this kind can return. */
#include "kinds.h"

static pthread_mutex_t mutex;

#define ELSEWHERE(name, call)                                                                                  \
    static void *name(void *unused UNUSED)                                                                     \
    {                                                                                                          \
        return (void *)(intptr_t)(call);                                                                       \
    }

static int timed(clockid_t clock, long milliseconds)
{
    struct timespec deadline = from_now(clock, milliseconds);
    int error = pthread_mutex_clocklock(&mutex, clock, &deadline);
    if (error == ETIMEDOUT)
        quiet_holds(has_passed(clock, &deadline));
    return error;
}

static int timed_default(long milliseconds)
{
    struct timespec deadline = from_now(CLOCK_REALTIME, milliseconds);
    int error = pthread_mutex_timedlock(&mutex, &deadline);
    if (error == ETIMEDOUT)
        quiet_holds(has_passed(CLOCK_REALTIME, &deadline));
    return error;
}

static int timed_at(clockid_t clock, time_t seconds, long nanoseconds)
{
    struct timespec deadline = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    return pthread_mutex_clocklock(&mutex, clock, &deadline);
}

static int timed_default_at(time_t seconds, long nanoseconds)
{
    struct timespec deadline = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    return pthread_mutex_timedlock(&mutex, &deadline);
}

ELSEWHERE(try_lock, pthread_mutex_trylock(&mutex))
ELSEWHERE(unlock, pthread_mutex_unlock(&mutex))
ELSEWHERE(timed_past, timed_default(-1000))
ELSEWHERE(timed_soon, timed_default(1))
ELSEWHERE(clock_past, timed(CLOCK_MONOTONIC, -1000))
ELSEWHERE(clock_soon, timed(CLOCK_MONOTONIC, 1))
ELSEWHERE(clock_real, timed(CLOCK_REALTIME, 1))
ELSEWHERE(timed_epoch, timed_default_at(0, 0))
ELSEWHERE(timed_before_epoch, timed_default_at(-1, 0))
ELSEWHERE(clock_before_epoch, timed_at(CLOCK_MONOTONIC, -1, 999999999))
ELSEWHERE(timed_never, timed_default_at(LONG_MIN, 0))
ELSEWHERE(clock_never, timed_at(CLOCK_MONOTONIC, LONG_MIN, 999999999))
ELSEWHERE(nanoseconds_large, timed_default_at(1, 1000000000))
ELSEWHERE(nanoseconds_negative, timed_default_at(1, -1))
ELSEWHERE(clock_nanoseconds_large, timed_at(CLOCK_MONOTONIC, 1, 1000000000))
ELSEWHERE(clock_nanoseconds_negative, timed_at(CLOCK_MONOTONIC, 1, LONG_MIN))
ELSEWHERE(clock_invalid, timed_at(CLOCK_PROCESS_CPUTIME_ID, 1, 0))

/* Waits for the mutex with the latest possible deadline, and unlocks it. */
static int waiting;
static pid_t waiting_thread;

static void *wait_to_the_end_of_time(void *clock)
{
    waiting_thread = thread_id();
    set_flag(&waiting, 1);
    int error = timed_at((clockid_t)(intptr_t)clock, LONG_MAX, 999999999);
    if (error == 0)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    return (void *)(intptr_t)error;
}

static void late_deadline(clockid_t clock)
{
    set_flag(&waiting, 0);
    is(pthread_mutex_lock(&mutex), 0);
    pthread_t thread = start(wait_to_the_end_of_time, (void *)(intptr_t)clock);
    await_flag(&waiting, 1);
    await_sleep(waiting_thread);
    is(pthread_mutex_unlock(&mutex), 0);
    is((int)(intptr_t)finish(thread), 0);
}

/* The owner locks a second time. A default mutex would wait for itself forever, so this uses deadlines. */
static void lock_again(int type, enum flavour flavour)
{
    int recursive = type == PTHREAD_MUTEX_RECURSIVE;
    int checked = type == PTHREAD_MUTEX_ERRORCHECK;
    int again = recursive ? 0 : checked ? EDEADLK : ETIMEDOUT;
    if (recursive || checked)
        is(pthread_mutex_lock(&mutex), recursive ? 0 : EDEADLK);
    is(pthread_mutex_trylock(&mutex), recursive ? 0 : checked && flavour > SHARED ? EDEADLK : EBUSY);
    is(timed_default(-1000), again);
    is(timed_default(1), again);
    is(timed(CLOCK_MONOTONIC, 1), again);
    is(timed(CLOCK_REALTIME, -1), again);
    for (int depth = 0; recursive && depth < 6; depth++)
        is(pthread_mutex_unlock(&mutex), 0);
}

static void others_while_locked(int type, enum flavour flavour)
{
    /* For a mutex that inherits priorities, the kernel itself refuses a moment before 1970. */
    int before_epoch = is_inherit(flavour) ? EINVAL : ETIMEDOUT;
    is(elsewhere(try_lock, NULL), EBUSY);
    is(elsewhere(timed_past, NULL), ETIMEDOUT);
    is(elsewhere(timed_soon, NULL), ETIMEDOUT);
    is(elsewhere(clock_past, NULL), ETIMEDOUT);
    is(elsewhere(clock_soon, NULL), ETIMEDOUT);
    is(elsewhere(clock_real, NULL), ETIMEDOUT);
    is(elsewhere(timed_epoch, NULL), ETIMEDOUT);
    is(elsewhere(timed_before_epoch, NULL), before_epoch);
    is(elsewhere(clock_before_epoch, NULL), before_epoch);
    is(elsewhere(timed_never, NULL), before_epoch);
    is(elsewhere(clock_never, NULL), before_epoch);
    is(elsewhere(nanoseconds_large, NULL), EINVAL);
    is(elsewhere(nanoseconds_negative, NULL), EINVAL);
    is(elsewhere(clock_nanoseconds_large, NULL), EINVAL);
    is(elsewhere(clock_nanoseconds_negative, NULL), EINVAL);
    is(elsewhere(clock_invalid, NULL), EINVAL);
    if (has_owner(type, flavour))
        is(elsewhere(unlock, NULL), EPERM);
    /* glibc destroys a robust mutex although it is locked. */
    if (!is_robust(flavour))
        is(pthread_mutex_destroy(&mutex), EBUSY);
    is(elsewhere(try_lock, NULL), EBUSY);
}

/* The deadline is not checked if the mutex is free. The clock always is. */
static void timed_while_free(void)
{
    is(timed_default(-1000), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    is(timed_default_at(1, 1000000000), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    is(timed_default_at(-1, -1), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    is(timed(CLOCK_MONOTONIC, -1000), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    is(timed_at(CLOCK_MONOTONIC, 1, 1000000000), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    is(timed(CLOCK_REALTIME, 1000), 0);
    is(pthread_mutex_unlock(&mutex), 0);
    is(timed_at(CLOCK_PROCESS_CPUTIME_ID, 1, 0), EINVAL);
    is(timed_at(CLOCK_MONOTONIC_RAW, 1, 0), EINVAL);
    is(timed_at(-1, 1, 0), EINVAL);
    is(timed_at(12345, 1, 0), EINVAL);
}

static void one_kind(int type, enum flavour flavour)
{
    int ceiling = 0;
    is(init_kind(&mutex, type, flavour), 0);
    say("kind %d", kind_word(&mutex));

    is(pthread_mutex_lock(&mutex), 0);
    lock_again(type, flavour);
    others_while_locked(type, flavour);
    is(pthread_mutex_unlock(&mutex), 0);
    is(elsewhere(try_lock, NULL), 0);
    if (has_owner(type, flavour)) {
        /* The thread that locked it has ended. A robust mutex reports that, and any other stays locked. */
        is(pthread_mutex_trylock(&mutex), is_robust(flavour) ? EOWNERDEAD : EBUSY);
        is(pthread_mutex_unlock(&mutex), is_robust(flavour) ? 0 : EPERM);
        /* Later threads are not the owner either, although they may have the same stack. */
        for (int i = 0; i < 3 && !is_robust(flavour); i++) {
            is(elsewhere(unlock, NULL), EPERM);
            is(elsewhere(try_lock, NULL), EBUSY);
        }
        is(init_kind(&mutex, type, flavour), 0);
    } else {
        /* A mutex that does not track its owner may be unlocked by any thread. */
        is(pthread_mutex_trylock(&mutex), EBUSY);
        is(elsewhere(unlock, NULL), 0);
    }
    if (has_owner(type, flavour)) {
        is(pthread_mutex_unlock(&mutex), EPERM);
        is(elsewhere(unlock, NULL), EPERM);
    }
    is(pthread_mutex_trylock(&mutex), 0);
    is(elsewhere(try_lock, NULL), EBUSY);
    is(pthread_mutex_unlock(&mutex), 0);
    timed_while_free();
    late_deadline(CLOCK_REALTIME);
    late_deadline(CLOCK_MONOTONIC);

    is(pthread_mutex_consistent(&mutex), EINVAL);
    is(pthread_mutex_getprioceiling(&mutex, &ceiling), EINVAL);
    is(pthread_mutex_setprioceiling(&mutex, 1, &ceiling), EINVAL);

    is(pthread_mutex_destroy(&mutex), 0);
    say("kind %d", kind_word(&mutex));
    is(pthread_mutex_lock(&mutex), EINVAL);
    is(pthread_mutex_trylock(&mutex), EINVAL);
    is(timed_default(1), EINVAL);
    is(timed(CLOCK_MONOTONIC, 1), EINVAL);
    is(pthread_mutex_unlock(&mutex), EINVAL);
    is(pthread_mutex_destroy(&mutex), 0);

    /* Initializes a locked mutex: allocators do that in a child of fork. */
    is(init_kind(&mutex, type, flavour), 0);
    is(pthread_mutex_lock(&mutex), 0);
    if (!is_robust(flavour)) {
        is(init_kind(&mutex, type, flavour), 0);
        is(pthread_mutex_trylock(&mutex), 0);
    }
    is(pthread_mutex_unlock(&mutex), 0);
    is(pthread_mutex_destroy(&mutex), 0);
}

/* Invalid kinds. */
static void unknown_kinds(void)
{
    static const int WORDS[] = {-1, 4, 5, 15, 127};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        say("kind word %d", WORDS[i]);
        memset(&mutex, 0, sizeof mutex);
        memcpy((char *)&mutex + 16, &WORDS[i], sizeof WORDS[i]);
        is(pthread_mutex_lock(&mutex), EINVAL);
        is(pthread_mutex_trylock(&mutex), EINVAL);
        is(timed_default(-1), EINVAL);
        is(timed(CLOCK_MONOTONIC, -1), EINVAL);
        is(pthread_mutex_unlock(&mutex), EINVAL);
    }
}

/* Attributes that glibc does not accept. */
static void attributes(void)
{
    pthread_mutexattr_t attribute;
    is(pthread_mutexattr_init(&attribute), 0);
    is(pthread_mutexattr_settype(&attribute, -1), EINVAL);
    is(pthread_mutexattr_settype(&attribute, 4), EINVAL);
    is(pthread_mutexattr_setpshared(&attribute, 2), EINVAL);
    is(pthread_mutexattr_setrobust(&attribute, 2), EINVAL);
    is(pthread_mutexattr_setprotocol(&attribute, 3), EINVAL);
    is(pthread_mutexattr_setprioceiling(&attribute, 0), EINVAL);
    is(pthread_mutexattr_setprotocol(&attribute, PTHREAD_PRIO_PROTECT), 0);
    is(pthread_mutexattr_setrobust(&attribute, PTHREAD_MUTEX_ROBUST), 0);
    is(pthread_mutex_init(&mutex, &attribute), ENOTSUP);
    is(pthread_mutexattr_destroy(&attribute), 0);
    say("size %zu, alignment %zu", sizeof(pthread_mutex_t), _Alignof(pthread_mutex_t));
}

int main(void)
{
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
            say("== %s %s", TYPES[type].name, FLAVOUR_NAMES[flavour]);
            one_kind(TYPES[type].type, flavour);
        }
    }
    say("== no kinds");
    unknown_kinds();
    say("== attributes");
    attributes();
    return conform_end();
}
