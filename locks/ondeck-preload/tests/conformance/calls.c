/* Every function that returns at once or after a deadline, for every kind of mutex, condition variable, reader-writer
 * lock, semaphore and spinlock, in an order that is drawn. Three threads make one call at a time, and a thread may end,
 * whatever it holds. A small model leaves out the calls that would never return and those that POSIX leaves undefined.
 * It expects no code: run.sh compares the logs. */
#include "kinds.h"
#include "rwlock.h"

#include <semaphore.h>
#include <threads.h>

enum { THREADS = 3, CALLS = 160, NOBODY = -1, THE_DEAD = -2 };

static uint32_t seed = 1;

static int draw(int count)
{
    return (int)(next_random(&seed) >> 8) % count;
}

/* Deadlines and clocks, most of them wrong. LATER is drawn only if the call returns before. */
enum { PAST, SOON, LATER, AT };
static const struct timespec MOMENTS[] = {
    {0, 0},          {-1, 0}, {-1, 999999999}, {LONG_MIN, 0},        {LONG_MIN, 999999999},
    {1, 1000000000}, {1, -1}, {1, LONG_MIN},   {LONG_MAX, LONG_MAX},
};
enum { MOMENT_COUNT = sizeof MOMENTS / sizeof *MOMENTS };
static const clockid_t CLOCKS[] = {
    CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_MONOTONIC_RAW, -1, 12345,
};

/* One call: which thread makes which function, by which clock, until when. */
struct call {
    int thread, function, when;
    clockid_t clock;
    struct timespec end;
};

typedef int (*caller)(const struct call *);

static struct call call;
static caller caller_now;
static pthread_t threads[THREADS];
/* A byte in a thread's pipe tells it to make the call, and a byte in `made` that the call has returned. */
static int asked[THREADS][2], made[2], result;

static void tell(const int *pipe)
{
    conform_write(pipe[1], "", 1);
}

static void await(const int *pipe)
{
    char byte;
    while (read(pipe[0], &byte, 1) != 1)
        ;
}

static void *makes_calls(void *argument)
{
    for (;;) {
        await(asked[(intptr_t)argument]);
        if (caller_now == NULL)
            return NULL;
        result = caller_now(&call);
        tell(made);
    }
}

static void begin(int thread)
{
    threads[thread] = start(makes_calls, (void *)(intptr_t)thread);
}

static void end(int thread)
{
    caller_now = NULL;
    tell(asked[thread]);
    finish(threads[thread]);
}

/* Draws the deadline of the call, by the clock that the function takes; `returns` if it returns whatever the deadline. */
static void draw_end(clockid_t clock, int returns)
{
    int when = draw(16);
    call.clock = clock;
    call.when = when == SOON || (when == LATER && returns) ? when : when > AT ? AT + draw(MOMENT_COUNT) : PAST;
    clockid_t shown = clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    call.end = call.when >= AT ? MOMENTS[call.when - AT]
                               : from_now(shown, call.when == PAST ? -1000 : call.when == SOON ? 1 : 3600 * 1000);
}

static int make(caller caller, const char *name)
{
    caller_now = caller;
    tell(asked[call.thread]);
    await(made);
    say("%d %s, clock %d, moment %d: %s", call.thread, name, (int)call.clock, call.when, code(result));
    if (result == ETIMEDOUT && call.when == SOON)
        quiet_holds(has_passed(call.clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME, &call.end));
    return result;
}

/* Mutexes and condition variables. */

enum {
    LOCK, MTX_LOCK, TRYLOCK, MTX_TRYLOCK, TIMEDLOCK, MTX_TIMEDLOCK, CLOCKLOCK, UNLOCK, MTX_UNLOCK, UNLOCK_AGAIN, INIT, DESTROY,
    CONSISTENT, CEILING, TIMEDWAIT, CLOCKWAIT, CND_TIMEDWAIT, SIGNAL, BROADCAST, END, MUTEX_FUNCTIONS
};
static const char *const MUTEX_NAMES[MUTEX_FUNCTIONS] = {
    "lock", "mtx_lock", "trylock", "mtx_trylock", "timedlock", "mtx_timedlock", "clocklock", "unlock", "mtx_unlock", "unlock",
    "init", "destroy", "consistent", "ceiling", "timedwait", "clockwait", "cnd_timedwait", "signal", "broadcast", "end",
};

static pthread_mutex_t mutex;
static pthread_cond_t condition;
static int type, destroyed, owner, depth;
static enum flavour flavour;
/* As C11's mtx_init makes it; or of a kind that does not exist, by its word. */
static int by_mtx_init, word;

static int of_c11(int outcome)
{
    return outcome == thrd_success ? 0 : outcome == thrd_busy ? EBUSY : outcome == thrd_timedout ? ETIMEDOUT : EIO;
}

static int init_mutex(void)
{
    if (by_mtx_init >= 0)
        return of_c11(mtx_init((mtx_t *)&mutex, by_mtx_init));
    return init_kind(&mutex, type, flavour);
}

static int call_mutex(const struct call *now)
{
    int ceiling = 0, error;
    switch (now->function) {
    case LOCK: return pthread_mutex_lock(&mutex);
    case MTX_LOCK: return of_c11(mtx_lock((mtx_t *)&mutex));
    case TRYLOCK: return pthread_mutex_trylock(&mutex);
    case MTX_TRYLOCK: return of_c11(mtx_trylock((mtx_t *)&mutex));
    case TIMEDLOCK: return pthread_mutex_timedlock(&mutex, &now->end);
    case MTX_TIMEDLOCK: return of_c11(mtx_timedlock((mtx_t *)&mutex, &now->end));
    case CLOCKLOCK: return pthread_mutex_clocklock(&mutex, now->clock, &now->end);
    case MTX_UNLOCK: return of_c11(mtx_unlock((mtx_t *)&mutex));
    case INIT: return init_mutex();
    case DESTROY: return pthread_mutex_destroy(&mutex);
    case CONSISTENT: return pthread_mutex_consistent(&mutex);
    case CEILING: return pthread_mutex_getprioceiling(&mutex, &ceiling);
    case SIGNAL: return pthread_cond_signal(&condition);
    case BROADCAST: return pthread_cond_broadcast(&condition);
    case TIMEDWAIT:
        while ((error = pthread_cond_timedwait(&condition, &mutex, &now->end)) == 0)
            ;
        return error;
    case CLOCKWAIT:
        while ((error = pthread_cond_clockwait(&condition, &mutex, now->clock, &now->end)) == 0)
            ;
        return error;
    case CND_TIMEDWAIT:
        while ((error = of_c11(cnd_timedwait((cnd_t *)&condition, (mtx_t *)&mutex, &now->end))) == 0)
            ;
        return error;
    default: return pthread_mutex_unlock(&mutex);
    }
}

static int may_call_mutex(void)
{
    int mine = owner == call.thread, checks = has_owner(type, flavour), f = call.function;
    if (destroyed && (f > DESTROY || (word && f >= INIT)))
        return 0;
    switch (f) {
    case LOCK:
    case MTX_LOCK:
        return destroyed || owner == NOBODY ||
               (mine && (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK));
    case UNLOCK:
    case UNLOCK_AGAIN:
    case MTX_UNLOCK: return destroyed || checks || owner != NOBODY;
    /* glibc initializes and destroys a robust mutex that is locked, and leaves it in the owner's list. */
    case INIT:
    case DESTROY: return draw(4) == 0 && (owner == NOBODY || !is_robust(flavour));
    /* The kernel knows the owner of these: see the program `robust`. */
    case END: return draw(2) == 0 && !(mine && flavour >= ROBUST);
    case TIMEDWAIT:
    case CLOCKWAIT:
    case CND_TIMEDWAIT: return mine || checks;
    default: return 1;
    }
}

static void after_mutex(int error)
{
    if (call.function == INIT && error == 0) {
        owner = NOBODY;
        depth = destroyed = 0;
    } else if (call.function == DESTROY && error == 0) {
        destroyed = 1;
    } else if (call.function <= CLOCKLOCK && error == 0) {
        owner = call.thread;
        depth++;
    } else if (call.function <= UNLOCK_AGAIN && error == 0 && --depth == 0) {
        owner = NOBODY;
    }
}

static int kind_of_now(void)
{
    return destroyed ? -1 : kind_word(&mutex);
}

static void mutexes(clockid_t clock)
{
    owner = NOBODY;
    depth = 0;
    say("kind %d", kind_of_now());
    for (int i = 0; i < CALLS; i++) {
        call.thread = draw(THREADS);
        call.function = draw(MUTEX_FUNCTIONS);
        if (!may_call_mutex())
            continue;
        if (call.function == END) {
            say("%d ends", call.thread);
            end(call.thread);
            begin(call.thread);
            owner = owner == call.thread ? THE_DEAD : owner;
            continue;
        }
        int is_wait = call.function >= TIMEDWAIT && call.function <= CND_TIMEDWAIT;
        int by_clock = call.function == CLOCKLOCK || call.function == CLOCKWAIT;
        draw_end(by_clock ? CLOCKS[draw(8)] : is_wait ? clock : CLOCK_REALTIME, !is_wait && owner == NOBODY && !destroyed);
        after_mutex(make(call_mutex, MUTEX_NAMES[call.function]));
    }
    say("kind %d", kind_of_now());
}

static void all_mutexes(void)
{
    by_mtx_init = -1;
    for (int which = 0; which < 4 * FLAVOURS * TYPE_COUNT; which++) {
        pthread_condattr_t attributes;
        clockid_t clock = which & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
        type = TYPES[which / 4 % TYPE_COUNT].type;
        flavour = which / 4 / TYPE_COUNT;
        say("== %s %s, condition of clock %d, %s", TYPES[which / 4 % TYPE_COUNT].name, FLAVOUR_NAMES[flavour], (int)clock,
            which & 2 ? "shared" : "private");
        quiet_is(pthread_condattr_init(&attributes), 0);
        quiet_is(pthread_condattr_setclock(&attributes, clock), 0);
        quiet_is(pthread_condattr_setpshared(&attributes, which >> 1 & 1), 0);
        is(pthread_cond_init(&condition, &attributes), 0);
        is(init_mutex(), 0);
        destroyed = 0;
        mutexes(clock);
        is(pthread_cond_destroy(&condition), 0);
    }
    static const int MTX_TYPES[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive, 64};
    flavour = PLAIN;
    for (int i = 0; i < 5; i++) {
        by_mtx_init = MTX_TYPES[i];
        type = by_mtx_init & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL;
        say("== mtx_init %d", by_mtx_init);
        is(of_c11(cnd_init((cnd_t *)&condition)), 0);
        is(init_mutex(), 0);
        destroyed = 0;
        mutexes(CLOCK_REALTIME);
        cnd_destroy((cnd_t *)&condition);
    }
    static const int WORDS[] = {-1, 4, 5, 15, 127};
    for (int i = 0; i < 5; i++) {
        say("== kind word %d", WORDS[i]);
        memset(&mutex, 0, sizeof mutex);
        memcpy((char *)&mutex + 16, &WORDS[i], sizeof WORDS[i]);
        destroyed = word = 1;
        mutexes(CLOCK_REALTIME);
    }
}

/* The count is at offset 4, where debuggers read it. If it is full, each function fails with EAGAIN, and the mutex is
 * unchanged. */
static void overflow(void)
{
    const uint32_t counts[] = {UINT32_MAX, 2};
    struct timespec past = {1, 0};
    for (flavour = PLAIN; flavour < FLAVOURS; flavour++) {
        say("== overflow, %s", FLAVOUR_NAMES[flavour]);
        is(init_kind(&mutex, PTHREAD_MUTEX_RECURSIVE, flavour), 0);
        is(pthread_mutex_lock(&mutex), 0);
        is(pthread_mutex_lock(&mutex), 0);
        memcpy((char *)&mutex + 4, &counts[0], sizeof counts[0]);
        is(pthread_mutex_lock(&mutex), EAGAIN);
        is(pthread_mutex_trylock(&mutex), EAGAIN);
        is(pthread_mutex_timedlock(&mutex, &past), EAGAIN);
        is(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), EAGAIN);
        holds(memcmp((char *)&mutex + 4, &counts[0], sizeof counts[0]) == 0);
        memcpy((char *)&mutex + 4, &counts[1], sizeof counts[1]);
        is(pthread_mutex_unlock(&mutex), 0);
        is(pthread_mutex_unlock(&mutex), 0);
        is(pthread_mutex_unlock(&mutex), EPERM);
    }
}

/* A priority ceiling. The codes are those of the process's rights. */
static void ceilings(void)
{
    pthread_mutexattr_t attributes;
    int ceiling = -1;
    say("== ceiling");
    is(pthread_mutexattr_init(&attributes), 0);
    is(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT), 0);
    is(pthread_mutexattr_setprioceiling(&attributes, 10), 0);
    is(pthread_mutex_init(&mutex, &attributes), 0);
    int error = pthread_mutex_lock(&mutex);
    say("lock %s, trylock %s", code(error), code(pthread_mutex_trylock(&mutex)));
    is(pthread_mutex_getprioceiling(&mutex, &ceiling), 0);
    say("ceiling %d, unlock %s", ceiling, error == 0 ? code(pthread_mutex_unlock(&mutex)) : "none");
    is(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
    is(pthread_mutex_init(&mutex, &attributes), ENOTSUP);
}

/* Reader-writer locks. */

enum {
    RDLOCK, TRYRDLOCK, TIMEDRDLOCK, CLOCKRDLOCK, WRLOCK, TRYWRLOCK, TIMEDWRLOCK, CLOCKWRLOCK, RW_UNLOCK, RW_UNLOCK_AGAIN, RW_INIT,
    RW_DESTROY, RW_FUNCTIONS
};
static const char *const RW_NAMES[RW_FUNCTIONS] = {
    "rdlock", "tryrdlock", "timedrdlock", "clockrdlock", "wrlock", "trywrlock", "timedwrlock", "clockwrlock", "unlock", "unlock",
    "init", "destroy",
};

static pthread_rwlock_t rwlock;
static const struct rwlock_kind *kind;
static int reads[THREADS], readers;

static int call_rwlock(const struct call *now)
{
    int error;
    switch (now->function) {
    case RDLOCK: return pthread_rwlock_rdlock(&rwlock);
    case TRYRDLOCK: return pthread_rwlock_tryrdlock(&rwlock);
    case TIMEDRDLOCK: return pthread_rwlock_timedrdlock(&rwlock, &now->end);
    case CLOCKRDLOCK: return pthread_rwlock_clockrdlock(&rwlock, now->clock, &now->end);
    case WRLOCK: return pthread_rwlock_wrlock(&rwlock);
    case TRYWRLOCK: return pthread_rwlock_trywrlock(&rwlock);
    case TIMEDWRLOCK: return pthread_rwlock_timedwrlock(&rwlock, &now->end);
    case CLOCKWRLOCK: return pthread_rwlock_clockwrlock(&rwlock, now->clock, &now->end);
    case RW_INIT: return init_rwlock(&rwlock, kind);
    case RW_DESTROY:
        error = pthread_rwlock_destroy(&rwlock);
        return error == 0 ? init_rwlock(&rwlock, kind) : error;
    default: return pthread_rwlock_unlock(&rwlock);
    }
}

static void rwlocks(void)
{
    int shown[2];
    say("== rwlock, %s", kind->name);
    is(init_rwlock(&rwlock, kind), 0);
    memcpy(&shown[0], (char *)&rwlock + 48, sizeof shown[0]);
    memcpy(&shown[1], (char *)&rwlock + 28, sizeof shown[1]);
    say("kind %d, shared %d", shown[0], shown[1] != 0);
    owner = NOBODY;
    memset(reads, 0, sizeof reads);
    readers = 0;
    for (int i = 0; i < 6 * CALLS; i++) {
        int f = call.function = draw(RW_FUNCTIONS), is_read = f < WRLOCK;
        call.thread = draw(THREADS);
        int mine = owner == call.thread, returns = mine || (owner == NOBODY && (is_read || readers == 0));
        if (((f == RDLOCK || f == WRLOCK) && !returns) || ((f == RW_UNLOCK || f == RW_UNLOCK_AGAIN) && !mine && !reads[call.thread]) ||
            (f == RW_INIT && draw(8) != 0) || (f == RW_DESTROY && (owner != NOBODY || readers != 0)))
            continue;
        draw_end(f == CLOCKRDLOCK || f == CLOCKWRLOCK ? CLOCKS[draw(8)] : CLOCK_REALTIME, returns);
        if (make(call_rwlock, RW_NAMES[f]) != 0)
            continue;
        if (f == RW_INIT || f == RW_UNLOCK || f == RW_UNLOCK_AGAIN)
            owner = mine || f == RW_INIT ? NOBODY : owner;
        if (f == RW_INIT) {
            memset(reads, 0, sizeof reads);
            readers = 0;
        } else if (is_read || (f >= RW_UNLOCK && f <= RW_UNLOCK_AGAIN && !mine)) {
            reads[call.thread] += is_read ? 1 : -1;
            readers += is_read ? 1 : -1;
        } else if (f < RW_UNLOCK) {
            owner = call.thread;
        }
    }
}

/* Semaphores, and spinlocks. */

enum { SEM_WAIT, SEM_TRYWAIT, SEM_TIMEDWAIT, SEM_CLOCKWAIT, SEM_POST, SEM_POST_AGAIN, SPIN_LOCK, SPIN_TRYLOCK, SPIN_UNLOCK, OTHERS };
static const char *const OTHER_NAMES[OTHERS] = {
    "sem_wait", "sem_trywait", "sem_timedwait", "sem_clockwait", "sem_post", "sem_post", "spin_lock", "spin_trylock", "spin_unlock",
};

static sem_t *semaphore;
static pthread_spinlock_t spin;

static int call_other(const struct call *now)
{
    int outcome;
    errno = EXFULL;
    switch (now->function) {
    case SPIN_LOCK: return pthread_spin_lock(&spin);
    case SPIN_TRYLOCK: return pthread_spin_trylock(&spin);
    case SPIN_UNLOCK: return pthread_spin_unlock(&spin);
    case SEM_WAIT: outcome = sem_wait(semaphore); break;
    case SEM_TRYWAIT: outcome = sem_trywait(semaphore); break;
    case SEM_TIMEDWAIT: outcome = sem_timedwait(semaphore, &now->end); break;
    case SEM_CLOCKWAIT: outcome = sem_clockwait(semaphore, now->clock, &now->end); break;
    default: outcome = sem_post(semaphore);
    }
    quiet_holds(outcome == 0 || outcome == -1);
    quiet_holds(outcome != 0 || errno == EXFULL);
    return outcome == 0 ? 0 : errno;
}

/* Units are counted up to their limit: the model begins with three, or with three less than the most. */
static void others(int shared, int named, int most)
{
    sem_t own;
    int first = most ? SEM_VALUE_MAX - 3 : 3, value = first, spun = 0, now;
    say("== semaphore, shared %d, named %d, value %d", shared, named, first);
    semaphore = &own;
    if (named) {
        char name[64];
        snprintf(name, sizeof name, "/conform-%d", (int)getpid());
        semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, (unsigned)first);
        quiet_holds(semaphore != SEM_FAILED);
        is(sem_unlink(name), 0);
    } else {
        is(sem_init(&own, shared, (unsigned)first), 0);
    }
    is(pthread_spin_init(&spin, shared), 0);
    for (int i = 0; i < 2 * CALLS; i++) {
        int f = call.function = draw(OTHERS);
        call.thread = draw(THREADS);
        if ((f == SEM_WAIT && value == 0) || (f == SPIN_LOCK && spun) || (f == SPIN_UNLOCK && !spun))
            continue;
        draw_end(f == SEM_CLOCKWAIT ? CLOCKS[draw(8)] : CLOCK_REALTIME, value > 0);
        int error = make(call_other, OTHER_NAMES[f]);
        if (f >= SPIN_LOCK)
            spun = f != SPIN_UNLOCK;
        else if (error == 0)
            value += f >= SEM_POST ? 1 : -1;
        quiet_is(sem_getvalue(semaphore, &now), 0);
        quiet_holds(now == value);
        say("value %d, word %d", now, *(volatile int *)&spin);
    }
    is(named ? sem_close(semaphore) : sem_destroy(semaphore), 0);
}

int main(void)
{
    say("sizes %zu %zu %zu %zu %zu %zu", sizeof(pthread_mutex_t), sizeof(pthread_cond_t), sizeof(pthread_rwlock_t),
        sizeof(pthread_spinlock_t), sizeof(pthread_barrier_t), sizeof(sem_t));
    quiet_is(pipe(made), 0);
    for (int i = 0; i < THREADS; i++) {
        quiet_is(pipe(asked[i]), 0);
        begin(i);
    }
    all_mutexes();
    overflow();
    ceilings();
    for (kind = RWLOCKS; kind < RWLOCKS + RWLOCK_COUNT; kind++)
        rwlocks();
    for (int which = 0; which < 8; which++)
        if (which >> 1 != 3)
            others(which >> 1 == 1, which >> 1 == 2, which & 1);
    for (int i = 0; i < THREADS; i++)
        end(i);
    return conform_end();
}
