/* Every function of a mutex, and those of a condition variable that return at once or after a deadline, for every kind,
 * also by the names of <threads.h>, in an order that is drawn. A thread may end, whatever it holds. */
#include "calls.h"
#include "kinds.h"

#include <threads.h>

enum function {
    LOCK, MTX_LOCK, TRYLOCK, MTX_TRYLOCK, TIMEDLOCK, MTX_TIMEDLOCK, CLOCKLOCK, UNLOCK, MTX_UNLOCK, UNLOCK_AGAIN,
    INIT, DESTROY, CONSISTENT, CEILING, TIMEDWAIT, CLOCKWAIT, CND_TIMEDWAIT, SIGNAL, BROADCAST, END, FUNCTIONS
};
static const char *const NAMES[FUNCTIONS] = {
    "lock",    "mtx_lock",   "trylock", "mtx_trylock", "timedlock", "mtx_timedlock", "clocklock",
    "unlock",  "mtx_unlock", "unlock",  "init",        "destroy",   "consistent",    "ceiling",
    "timedwait", "clockwait", "cnd_timedwait", "signal", "broadcast", "end",
};
/* Of a mutex whose owner has ended. */
enum { THE_DEAD = -2 };

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
    int again = type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;
    if (destroyed && (f > DESTROY || (word && f >= INIT)))
        return 0;
    switch (f) {
    case LOCK:
    case MTX_LOCK:
        return destroyed || owner == NOBODY || (mine && again);
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
        call.function = draw(FUNCTIONS);
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
        draw_end(by_clock ? CLOCKS[draw(CLOCK_COUNT)] : is_wait ? clock : CLOCK_REALTIME,
                 !is_wait && owner == NOBODY && !destroyed);
        after_mutex(make(call_mutex, NAMES[call.function]));
    }
    say("kind %d", kind_of_now());
}

static void all_mutexes(void)
{
    by_mtx_init = -1;
    for (int which = 0; which < 4 * FLAVOURS * TYPE_COUNT; which++) {
        clockid_t clock = which & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
        type = TYPES[which / 4 % TYPE_COUNT].type;
        flavour = which / 4 / TYPE_COUNT;
        say("== %s %s, condition of clock %d, %s", TYPES[which / 4 % TYPE_COUNT].name, FLAVOUR_NAMES[flavour],
            (int)clock, which & 2 ? "shared" : "private");
        is(init_condition(&condition, clock, which >> 1 & 1), 0);
        is(init_mutex(), 0);
        destroyed = 0;
        mutexes(clock);
        is(pthread_cond_destroy(&condition), 0);
    }
    /* glibc treats an unknown type as a plain one. */
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

int main(void)
{
    say("sizes %zu %zu", sizeof(pthread_mutex_t), sizeof(pthread_cond_t));
    begin_all();
    all_mutexes();
    overflow();
    ceilings();
    return end_all();
}
