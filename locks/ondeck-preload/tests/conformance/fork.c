/* fork and _Fork while other threads contend. The child finds locks that are held by threads that do not
 * exist in it, but no other trace of those threads. */
#include "kinds.h"
#include "rwlock.h"

enum { FORKS = 60, THREADS = 4, PLAIN_TYPES = TYPE_COUNT };

static pthread_mutex_t mutexes[PLAIN_TYPES];
/* Those of private kinds. */
enum { PRIVATE_RWLOCKS = 4 };
static pthread_rwlock_t rwlocks[PRIVATE_RWLOCKS];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
/* Locked by fork handlers, as in allocators and libraries. */
static pthread_mutex_t guarded = PTHREAD_MUTEX_INITIALIZER;
static long guarded_value[2];
static long turn;
static int stopping;

static void contend_for(pthread_rwlock_t *rwlock, uint32_t *state)
{
    quiet_is(next_random(state) % 4 ? pthread_rwlock_rdlock(rwlock) : pthread_rwlock_wrlock(rwlock), 0);
    quiet_is(pthread_rwlock_unlock(rwlock), 0);
}

static void *contender(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument;
    while (!get_flag(&stopping)) {
        pthread_mutex_t *mutex = &mutexes[next_random(&state) % PLAIN_TYPES];
        quiet_is(pthread_mutex_lock(mutex), 0);
        for (int i = next_random(&state) % 64; i > 0; i--)
            __asm__ volatile("");
        quiet_is(pthread_mutex_unlock(mutex), 0);
        contend_for(&rwlocks[next_random(&state) % PRIVATE_RWLOCKS], &state);
        quiet_is(pthread_mutex_lock(&guarded), 0);
        guarded_value[0]++;
        guarded_value[1]++;
        quiet_is(pthread_mutex_unlock(&guarded), 0);
    }
    return NULL;
}

static void *turn_taker(void *argument)
{
    long mine = (long)(intptr_t)argument;
    quiet_is(pthread_mutex_lock(&turn_mutex), 0);
    while (!stopping) {
        while (turn % 2 != mine && !stopping)
            quiet_is(pthread_cond_wait(&condition, &turn_mutex), 0);
        turn++;
        quiet_is(pthread_cond_signal(&condition), 0);
    }
    quiet_is(pthread_mutex_unlock(&turn_mutex), 0);
    return NULL;
}

static void before_fork(void)
{
    quiet_is(pthread_mutex_lock(&guarded), 0);
}

static void after_fork(void)
{
    quiet_holds(guarded_value[0] == guarded_value[1]);
    quiet_is(pthread_mutex_unlock(&guarded), 0);
}

/* Run by the only thread of the child, or by one of several: every kind of lock and a condition
 * variable. */
static void use_anew(pthread_mutex_t *mutex, int type)
{
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    /* Overwrites the state that the parent's threads left. */
    quiet_is(init_kind(mutex, type, PLAIN), 0);
    quiet_is(pthread_mutex_trylock(mutex), 0);
    quiet_is(pthread_mutex_unlock(mutex), 0);
    quiet_is(pthread_mutex_lock(mutex), 0);
    pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
    quiet_is(pthread_cond_signal(&fresh), 0);
    int error;
    while ((error = pthread_cond_timedwait(&fresh, mutex, &past)) == 0)
        ;
    quiet_is(error, ETIMEDOUT);
    quiet_is(pthread_cond_destroy(&fresh), 0);
    quiet_is(pthread_mutex_unlock(mutex), 0);
    quiet_is(pthread_mutex_timedlock(mutex, &past), 0);
    quiet_is(pthread_mutex_unlock(mutex), 0);
}

static void use_rwlocks_anew(void)
{
    for (int i = 0; i < PRIVATE_RWLOCKS; i++) {
        quiet_is(init_rwlock(&rwlocks[i], &RWLOCKS[i]), 0);
        quiet_is(pthread_rwlock_tryrdlock(&rwlocks[i]), 0);
        quiet_is(pthread_rwlock_unlock(&rwlocks[i]), 0);
        quiet_is(pthread_rwlock_wrlock(&rwlocks[i]), 0);
        quiet_is(pthread_rwlock_unlock(&rwlocks[i]), 0);
    }
}

/* A lock that was held at the moment of fork stays locked, and its timed lock times out. */
static void meet_what_was_left(void)
{
    for (int i = 0; i < PLAIN_TYPES; i++) {
        struct timespec soon = from_now(CLOCK_REALTIME, 1);
        int error = pthread_mutex_timedlock(&mutexes[i], &soon);
        quiet_holds(error == 0 || error == ETIMEDOUT);
        if (error == 0)
            quiet_is(pthread_mutex_unlock(&mutexes[i]), 0);
    }
}

static long child_turn;
static pthread_mutex_t child_mutex;
static pthread_cond_t child_condition;

static void *child_turns(void *argument)
{
    long mine = (long)(intptr_t)argument;
    uint32_t state = (uint32_t)mine + 1;
    for (int i = 0; i < 50; i++) {
        quiet_is(pthread_mutex_lock(&child_mutex), 0);
        while (child_turn % 2 != mine)
            quiet_is(pthread_cond_wait(&child_condition, &child_mutex), 0);
        child_turn++;
        quiet_is(pthread_cond_broadcast(&child_condition), 0);
        quiet_is(pthread_mutex_unlock(&child_mutex), 0);
        use_anew(&mutexes[mine], -1);
        contend_for(&rwlocks[i % PRIVATE_RWLOCKS], &state);
    }
    return NULL;
}

/* Uses objects at the addresses at which the parent's threads wait. */
static void start_threads_in_the_child(void)
{
    pthread_t threads[2];
    child_turn = 0;
    quiet_is(pthread_mutex_init(&turn_mutex, NULL), 0);
    quiet_is(pthread_cond_init(&condition, NULL), 0);
    quiet_is(pthread_mutex_init(&child_mutex, NULL), 0);
    quiet_is(pthread_cond_init(&child_condition, NULL), 0);
    for (intptr_t i = 0; i < 2; i++)
        threads[i] = start(child_turns, (void *)i);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    quiet_holds(child_turn == 100);

    stopping = turn = 0;
    for (intptr_t i = 0; i < 2; i++)
        threads[i] = start(turn_taker, (void *)i);
    for (int done = 0; !done; sched_yield()) {
        quiet_is(pthread_mutex_lock(&turn_mutex), 0);
        done = turn >= 20;
        stopping = done;
        quiet_is(pthread_cond_broadcast(&condition), 0);
        quiet_is(pthread_mutex_unlock(&turn_mutex), 0);
    }
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
}

static void child(int may_start_threads, int may_fork)
{
    conform_failures = 0;
    meet_what_was_left();
    for (int i = 0; i < PLAIN_TYPES; i++)
        use_anew(&mutexes[i], TYPES[i].type);
    use_rwlocks_anew();
    quiet_is(pthread_mutex_init(&child_mutex, NULL), 0);
    use_anew(&child_mutex, -1);
    if (may_start_threads)
        start_threads_in_the_child();
    if (may_fork) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            start_threads_in_the_child();
            _exit(conform_failures != 0);
        }
        quiet_is(child_status(grandchild), 0);
    }
    _exit(conform_failures != 0);
}

int main(void)
{
    pthread_t threads[THREADS + 2];
    is(pthread_atfork(before_fork, after_fork, after_fork), 0);
    for (int i = 0; i < PLAIN_TYPES; i++)
        is(init_kind(&mutexes[i], TYPES[i].type, PLAIN), 0);
    for (int i = 0; i < PRIVATE_RWLOCKS; i++)
        is(init_rwlock(&rwlocks[i], &RWLOCKS[i]), 0);

    say("== fork of a process with one thread, a mutex locked, and a reader-writer lock read");
    is(pthread_rwlock_rdlock(&rwlocks[0]), 0);
    is(pthread_mutex_lock(&mutexes[0]), 0);
    pid_t first = fork();
    if (first == 0)
        _exit(pthread_mutex_trylock(&mutexes[0]) == EBUSY && pthread_mutex_unlock(&mutexes[0]) == 0 &&
                      pthread_mutex_trylock(&mutexes[0]) == 0 && pthread_rwlock_trywrlock(&rwlocks[0]) == EBUSY &&
                      pthread_rwlock_unlock(&rwlocks[0]) == 0 && pthread_rwlock_wrlock(&rwlocks[0]) == 0
                  ? 0
                  : 1);
    is(child_status(first), 0);
    is(pthread_mutex_unlock(&mutexes[0]), 0);
    is(pthread_rwlock_unlock(&rwlocks[0]), 0);

    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = start(contender, (void *)(i + 1));
    for (intptr_t i = 0; i < 2; i++)
        threads[THREADS + i] = start(turn_taker, (void *)i);
    for (int kind = 0; kind < 2; kind++) {
        int bad = 0;
        for (int i = 0; i < FORKS; i++) {
            pid_t pid = kind == 0 ? fork() : _Fork();
            if (pid == 0)
                child(kind == 0 && i % 4 == 0, kind == 0 && i % 8 == 0);
            if (pid < 0)
                abort();
            bad += child_status(pid) != 0;
        }
        say("%s: %d of %d children failed", kind == 0 ? "fork" : "_Fork", bad, FORKS);
        quiet_holds(bad == 0);
    }
    quiet_is(pthread_mutex_lock(&turn_mutex), 0);
    set_flag(&stopping, 1);
    quiet_is(pthread_cond_broadcast(&condition), 0);
    quiet_is(pthread_mutex_unlock(&turn_mutex), 0);
    for (int i = 0; i < THREADS + 2; i++)
        finish(threads[i]);
    holds(guarded_value[0] == guarded_value[1]);
    return conform_end();
}
