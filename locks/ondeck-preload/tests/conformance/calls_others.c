/* Every function of reader-writer locks, semaphores and spinlocks, for every kind, in an order that is drawn. */
#include "calls.h"
#include "rwlock.h"

#include <semaphore.h>

enum {
    RDLOCK, TRYRDLOCK, TIMEDRDLOCK, CLOCKRDLOCK, WRLOCK, TRYWRLOCK, TIMEDWRLOCK, CLOCKWRLOCK, UNLOCK, UNLOCK_AGAIN,
    INIT, DESTROY, FUNCTIONS
};
static const char *const NAMES[FUNCTIONS] = {
    "rdlock",      "tryrdlock",   "timedrdlock", "clockrdlock", "wrlock", "trywrlock",
    "timedwrlock", "clockwrlock", "unlock",      "unlock",      "init",   "destroy",
};

static pthread_rwlock_t rwlock;
static const struct rwlock_kind *kind;
static int owner, reads[THREADS], readers;

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
    case INIT: return init_rwlock(&rwlock, kind);
    case DESTROY:
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
        int f = call.function = draw(FUNCTIONS), is_read = f < WRLOCK;
        int is_unlock = f == UNLOCK || f == UNLOCK_AGAIN;
        call.thread = draw(THREADS);
        int mine = owner == call.thread, returns = mine || (owner == NOBODY && (is_read || readers == 0));
        if (((f == RDLOCK || f == WRLOCK) && !returns) || (is_unlock && !mine && !reads[call.thread]) ||
            (f == INIT && draw(8) != 0) || (f == DESTROY && (owner != NOBODY || readers != 0)))
            continue;
        draw_end(f == CLOCKRDLOCK || f == CLOCKWRLOCK ? CLOCKS[draw(CLOCK_COUNT)] : CLOCK_REALTIME, returns);
        if (make(call_rwlock, NAMES[f]) != 0)
            continue;
        if (f == INIT) {
            owner = NOBODY;
            memset(reads, 0, sizeof reads);
            readers = 0;
        } else if (is_unlock && mine) {
            owner = NOBODY;
        } else if (is_read || is_unlock) {
            reads[call.thread] += is_read ? 1 : -1;
            readers += is_read ? 1 : -1;
        } else if (f < UNLOCK) {
            owner = call.thread;
        }
    }
}

/* Semaphores and spinlocks, together. */

enum {
    SEM_WAIT, SEM_TRYWAIT, SEM_TIMEDWAIT, SEM_CLOCKWAIT, SEM_POST, SEM_POST_AGAIN, SPIN_LOCK, SPIN_TRYLOCK, SPIN_UNLOCK,
    OTHERS
};
static const char *const OTHER_NAMES[OTHERS] = {
    "sem_wait", "sem_trywait", "sem_timedwait", "sem_clockwait", "sem_post",
    "sem_post", "spin_lock",   "spin_trylock",  "spin_unlock",
};

static sem_t *semaphore;
static pthread_spinlock_t spin;

static int call_other(const struct call *now)
{
    int outcome;
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
    if (outcome == 0)
        return 0;
    int error = errno;
    errno = EXFULL;
    return error;
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
        draw_end(f == SEM_CLOCKWAIT ? CLOCKS[draw(CLOCK_COUNT)] : CLOCK_REALTIME, value > 0);
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
    say("sizes %zu %zu %zu %zu", sizeof(pthread_rwlock_t), sizeof(pthread_spinlock_t), sizeof(pthread_barrier_t),
        sizeof(sem_t));
    begin_all();
    for (kind = RWLOCKS; kind < RWLOCKS + RWLOCK_COUNT; kind++)
        rwlocks();
    for (int most = 0; most < 2; most++) {
        others(0, 0, most);
        others(1, 0, most);
        others(0, 1, most);
    }
    return end_all();
}
