/* See order.h.

   An address is not an identity: `std::mutex` has no destructor that could be seen. So each lock has a number, in a word
   that the C library clears at its initialization and does not use: the links of a mutex that is not robust, the padding
   of a reader-writer lock. Robust locks, and those that processes share, take no part.

   Nothing here allocates, takes a lock, or is a cancellation point. A stack is unwound once for each place, and then
   recognized by its return addresses. A signal handler that interrupts a note notes nothing. A process begins when it
   has a second thread, and the child of a fork anew. */

#include "notes.h"

#include <sys/prctl.h>

/* The number of a lock, and how a reader of it waits; 0 if the lock takes no part. */
static uint32_t number(void *lock, int *way)
{
    enum { ROBUST = 16, SHARED = 128 };
    pthread_mutex_t *mutex = lock;
    pthread_rwlock_t *rwlock = lock;
    uint64_t *note = (uint64_t *)&mutex->__data.__list.__prev, known;
    uint32_t place = (uint32_t)(mix(0, (uintptr_t)lock) >> 32) | 1;

    *way &= ~TIMED;
    if (*way & IS_RWLOCK) {
        if (rwlock->__data.__shared)
            return 0;
        note = (uint64_t *)&rwlock->__data.__pad2;
        if (*way & READ && rwlock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
            *way |= PATIENT;
    } else if (mutex->__data.__kind & (ROBUST | SHARED)) {
        return 0;
    }
    known = load(note);
    while ((uint32_t)known != place) {
        uint64_t fresh = (uint64_t)ondeck_notes_number() << 32 | place;
        if (exchange(note, &known, fresh))
            return (uint32_t)(fresh >> 32);
    }
    return (uint32_t)(known >> 32);
}

/* Whether the order is new. */
static int is_new(uint64_t key)
{
    for (uint64_t probe = 0; probe < PROBES; probe++) {
        uint64_t *place = &ondeck_notes->keys[((key >> 32) + probe) % KEYS], other = load(place);
        if (other == key || (!other && !exchange(place, &other, key) && other == key))
            return 0;
        if (!other)
            return 1;
    }
    add(&ondeck_notes->dropped, 1);
    return 0;
}

/* Notes that the thread wants a lock while it has others, unless it has that one. */
static void learn(struct thread *thread, const struct hold *to)
{
    uint64_t all = 0;
    for (uint32_t at = 0; at < thread->count; at++) {
        const struct hold *hold = &thread->held[at];
        if (hold->lock == to->lock)
            return;
        if (hold->lock)
            all += mix(hold->way, hold->lock);
    }
    for (uint32_t at = 0; at < thread->count; at++) {
        const struct hold *from = &thread->held[at];
        if (!from->lock || !is_new(mix(mix(mix(all, from->lock), to->lock), to->way) | 1))
            continue;
        uint32_t place = load(&ondeck_notes->edges), others = 0;
        while (place < EDGES && !exchange(&ondeck_notes->edges, &place, place + 1))
            ;
        if (place >= EDGES) {
            add(&ondeck_notes->dropped, 1);
            return;
        }
        struct edge *edge = &ondeck_notes->edge[place];
        edge->tid = thread->tid;
        prctl(PR_GET_NAME, edge->name);
        edge->from = *from;
        edge->to = *to;
        for (uint32_t other = 0; other < thread->count; other++) {
            const struct hold *hold = &thread->held[other];
            if (hold->lock && hold != from) {
                edge->held[others].lock = hold->lock;
                edge->held[others++].way = hold->way;
            }
        }
        publish(&edge->is_whole, 1);
    }
}

/* Notes that the thread has a lock. */
static void hold(struct thread *thread, const struct hold *new)
{
    uint32_t free = thread->count;
    for (uint32_t at = thread->count; at-- > 0;) {
        struct hold *hold = &thread->held[at];
        if (hold->lock == new->lock) {
            hold->depth++;
            return;
        }
        /* That lock is gone without an unlock. */
        if (hold->address == new->address)
            store(&hold->lock, 0);
        if (!load(&hold->lock))
            free = at;
    }
    if (free == HELD) {
        add(&ondeck_notes->dropped, 1);
        return;
    }
    struct hold *hold = &thread->held[free];
    uint32_t lock = new->lock;
    *hold = *new;
    hold->depth = 1;
    publish(&hold->lock, lock);
    if (free == thread->count)
        publish(&thread->count, free + 1);
}

void ondeck_order_locked(void *lock, int way, uintptr_t base)
{
    struct thread *thread = ondeck_notes_enter();
    if (!thread)
        return;
    int is_timed = way & TIMED;
    struct hold new = {.address = (uintptr_t)lock, .lock = number(lock, &way)};
    new.way = (uint32_t)way;
    if (new.lock) {
        new.stack = ondeck_notes_stack(base);
        if (!is_timed)
            learn(thread, &new);
        hold(thread, &new);
    }
    ondeck_notes_leave();
}

void ondeck_order_waits(void *lock, int way, uintptr_t base)
{
    struct thread *thread = ondeck_notes_enter();
    if (!thread)
        return;
    struct hold new = {.address = (uintptr_t)lock, .lock = number(lock, &way)};
    new.way = (uint32_t)way;
    if (new.lock) {
        new.stack = ondeck_notes_stack(base);
        learn(thread, &new);
        thread->wanted = new;
        publish(&thread->wait, ++thread->last_wait);
    }
    ondeck_notes_leave();
}

void ondeck_order_waited(const void *lock, int is_locked)
{
    struct thread *thread = ondeck_notes_enter();
    if (!thread)
        return;
    if (thread->wait && thread->wanted.address == (uintptr_t)lock) {
        if (is_locked)
            hold(thread, &thread->wanted);
        publish(&thread->wait, 0);
    }
    ondeck_notes_leave();
}

/* Removes a thread's hold of a lock; returns whether there is one. */
static int removed(struct thread *thread, uint32_t lock, int is_own)
{
    for (uint32_t at = load(&thread->count); at-- > 0;) {
        struct hold *hold = &thread->held[at];
        uint32_t known = lock;
        if (load(&hold->lock) != lock)
            continue;
        if (is_own && hold->depth > 1)
            hold->depth--;
        else
            exchange(&hold->lock, &known, 0);
        while (is_own && thread->count && !load(&thread->held[thread->count - 1].lock))
            store(&thread->count, thread->count - 1);
        return 1;
    }
    return 0;
}

void ondeck_order_unlocks(void *lock, int way)
{
    struct thread *thread = ondeck_notes_enter();
    if (!thread)
        return;
    uint32_t known = number(lock, &way);
    if (thread->wait && thread->wanted.lock == known) {
        /* The thread was cancelled while it waited for a condition, and has the mutex. */
        publish(&thread->wait, 0);
    } else if (known && !removed(thread, known, 1)) {
        /* Another thread has locked it. */
        uint32_t threads = load(&ondeck_notes->threads);
        for (uint32_t at = 0; at < threads && !removed(&ondeck_notes->thread[at], known, 0); at++)
            ;
    }
    ondeck_notes_leave();
}

NAME(ondeck_order_mutex_trylock, "pthread_mutex_trylock@@GLIBC_2.34");
NAME(ondeck_order_mutex_trylock, "pthread_mutex_trylock@GLIBC_2.2.5");
NAME(ondeck_order_mutex_trylock, "__pthread_mutex_trylock@GLIBC_2.2.5");
int ondeck_order_mutex_trylock(void *mutex)
{
    int result = ((int (*)(void *))real(MUTEX_TRYLOCK))(mutex);
    order_tried(mutex, ALONE | TIMED, result, BASE);
    return result;
}

NAME(ondeck_order_mtx_trylock, "mtx_trylock@@GLIBC_2.34");
NAME(ondeck_order_mtx_trylock, "mtx_trylock@GLIBC_2.28");
int ondeck_order_mtx_trylock(void *mutex)
{
    int result = ((int (*)(void *))real(MTX_TRYLOCK))(mutex);
    order_tried(mutex, ALONE | TIMED, result, BASE);
    return result;
}

NAME(ondeck_order_tryrdlock, "pthread_rwlock_tryrdlock@@GLIBC_2.34");
NAME(ondeck_order_tryrdlock, "pthread_rwlock_tryrdlock@GLIBC_2.2.5");
NAME(ondeck_order_tryrdlock, "__pthread_rwlock_tryrdlock@GLIBC_2.2.5");
int ondeck_order_tryrdlock(void *lock)
{
    int result = ((int (*)(void *))real(TRYRDLOCK))(lock);
    order_tried(lock, READ | IS_RWLOCK | TIMED, result, BASE);
    return result;
}

NAME(ondeck_order_trywrlock, "pthread_rwlock_trywrlock@@GLIBC_2.34");
NAME(ondeck_order_trywrlock, "pthread_rwlock_trywrlock@GLIBC_2.2.5");
NAME(ondeck_order_trywrlock, "__pthread_rwlock_trywrlock@GLIBC_2.2.5");
int ondeck_order_trywrlock(void *lock)
{
    int result = ((int (*)(void *))real(TRYWRLOCK))(lock);
    order_tried(lock, ALONE | IS_RWLOCK | TIMED, result, BASE);
    return result;
}
