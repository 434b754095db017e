/* Threads whose cancellation is asynchronous. First a thread is cancelled while it waits for a mutex that stays locked,
 * or for a reader-writer lock: its stack is reused, and other threads use the object. Then threads are cancelled anywhere in
 * a lock or an unlock, after which a new mutex at the same address must work. */
#include "kinds.h"
#include "rwlock.h"

#include <ucontext.h>
#include <x86intrin.h>

enum how { LOCK, TIMEDLOCK, CLOCKLOCK, HOWS };

static const char *const HOW_NAMES[HOWS] = {"lock", "timedlock", "clocklock"};

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;
static int ended;

static void *waits_for_the_mutex(void *argument)
{
    struct timespec realtime = from_now(CLOCK_REALTIME, 3600 * 1000);
    struct timespec monotonic = from_now(CLOCK_MONOTONIC, 3600 * 1000);
    quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    sleeps_now();
    switch ((enum how)(intptr_t)argument) {
    case LOCK: (void)pthread_mutex_lock(&mutex); break;
    case TIMEDLOCK: (void)pthread_mutex_timedlock(&mutex, &realtime); break;
    default: (void)pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &monotonic); break;
    }
    fail("a cancelled thread has the mutex");
    return NULL;
}

static void *locks(void *unused UNUSED)
{
    sleeps_now();
    quiet_is(pthread_mutex_lock(&mutex), 0);
    quiet_is(pthread_mutex_unlock(&mutex), 0);
    return NULL;
}

/* The calling thread has locked the mutex, and keeps it locked. */
static void others_use_it(void)
{
    finish(start(writes_on_its_stack, NULL));
    pthread_t other = start_sleeper(locks, NULL);
    is(pthread_mutex_unlock(&mutex), 0);
    finish(other);
    is(pthread_mutex_lock(&mutex), 0);
    is(pthread_mutex_unlock(&mutex), 0);
}

static void a_thread_that_waits_for_a_mutex(int type, enum how how)
{
    is(init_kind(&mutex, type, PLAIN), 0);
    is(pthread_mutex_lock(&mutex), 0);
    pthread_t waiting = start_sleeper(waits_for_the_mutex, (void *)(intptr_t)how);
    is(pthread_cancel(waiting), 0);
    holds(finish(waiting) == PTHREAD_CANCELED);
    others_use_it();
    is(pthread_mutex_destroy(&mutex), 0);
}

static void *waits_for_the_rwlock(void *reads)
{
    quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    sleeps_now();
    (void)(reads ? pthread_rwlock_rdlock(&rwlock) : pthread_rwlock_wrlock(&rwlock));
    fail("a cancelled thread has the lock");
    return NULL;
}

static void *reads_and_writes(void *unused UNUSED)
{
    sleeps_now();
    quiet_is(pthread_rwlock_rdlock(&rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    return NULL;
}

/* glibc 2.36 keeps a cancelled reader or writer counted in its word, so only the next initialization of the lock is
 * tested. */
static void a_thread_that_waits_for_a_rwlock(const struct rwlock_kind *kind, int reads)
{
    is(init_rwlock(&rwlock, kind), 0);
    is(pthread_rwlock_wrlock(&rwlock), 0);
    pthread_t waiting = start_sleeper(waits_for_the_rwlock, reads ? &rwlock : NULL);
    is(pthread_cancel(waiting), 0);
    holds(finish(waiting) == PTHREAD_CANCELED);
    finish(start(writes_on_its_stack, NULL));
    is(init_rwlock(&rwlock, kind), 0);
    is(pthread_rwlock_wrlock(&rwlock), 0);
    pthread_t other = start_sleeper(reads_and_writes, NULL);
    is(pthread_rwlock_unlock(&rwlock), 0);
    finish(other);
}

/* Contends with the cancelled thread, which may end as the owner. */
static void *contends(void *unused UNUSED)
{
    sleeps_now();
    while (!get_flag(&ended)) {
        struct timespec soon = from_now(CLOCK_REALTIME, 5);
        if (pthread_mutex_timedlock(&mutex, &soon) == 0) {
            sched_yield();
            (void)pthread_mutex_unlock(&mutex);
        }
    }
    return NULL;
}

/* The processor's flag for a trap after each instruction. */
enum { TRAP = 1 << 8 };

/* The number of instructions after which the thread is cancelled. */
static int left;

static void cancels_itself(int number UNUSED, siginfo_t *info UNUSED, void *context)
{
    if (left-- > 0)
        return;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
    quiet_is(pthread_cancel(pthread_self()), 0);
}

/* First in an unlock for which a thread waits. */
static void *is_cancelled_anywhere(void *unused UNUSED)
{
    quiet_is(pthread_mutex_lock(&mutex), 0);
    await_flag(&about_to, 1);
    await_sleep(sleeper);
    quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    __writeeflags(__readeflags() | TRAP);
    for (;;) {
        (void)pthread_mutex_unlock(&mutex);
        (void)pthread_mutex_lock(&mutex);
    }
    return NULL;
}

static void threads_that_are_cancelled_anywhere(void)
{
    /* More instructions than an unlock and a lock have, and fewer at a time than the table is locked for. */
    enum { INSTRUCTIONS = 900, AT_A_TIME = 5 };
    struct sigaction action;
    int cancelled = 0;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = cancels_itself;
    action.sa_flags = SA_SIGINFO;
    is(sigaction(SIGTRAP, &action, NULL), 0);
    for (int i = 0; i < INSTRUCTIONS; i += AT_A_TIME) {
        quiet_is(pthread_mutex_init(&mutex, NULL), 0);
        set_flag(&about_to, 0);
        set_flag(&ended, 0);
        left = i;
        pthread_t victim = start(is_cancelled_anywhere, NULL);
        pthread_t other = start(contends, NULL);
        cancelled += finish(victim) == PTHREAD_CANCELED;
        set_flag(&ended, 1);
        finish(other);
    }
    holds(cancelled == INSTRUCTIONS / AT_A_TIME);
}

int main(void)
{
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int how = 0; how < HOWS; how++) {
            say("== %s, %s", HOW_NAMES[how], TYPES[type].name);
            a_thread_that_waits_for_a_mutex(TYPES[type].type, how);
        }
    }
    for (int kind = 0; kind < RWLOCK_COUNT; kind++) {
        say("== rwlock, %s", RWLOCKS[kind].name);
        for (int reads = 0; reads < 2 && !RWLOCKS[kind].shared; reads++)
            a_thread_that_waits_for_a_rwlock(&RWLOCKS[kind], reads);
    }
    say("== anywhere");
    threads_that_are_cancelled_anywhere();
    say("== new objects at the same addresses");
    is(pthread_mutex_init(&mutex, NULL), 0);
    is(pthread_mutex_lock(&mutex), 0);
    others_use_it();
    return conform_end();
}
