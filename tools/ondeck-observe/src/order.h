/* What is noted for `ondeck run --deadlocks`: the locks that each thread has, the one that it waits for, and the orders
   in which threads wanted locks. It stands in a file that the command reads, which looks for circles and for names.

     thread   held: locks, each with the stack that acquired it        wanted: the lock that it waits for
     edge     a thread that had a lock wanted another, without a deadline; each once
     stack    return addresses; each once

   Threads write their own entries, without a lock. As in tools/ondeck-cli/src/run/deadlocks/file.rs. */

#ifndef ONDECK_OBSERVE_ORDER_H
#define ONDECK_OBSERVE_ORDER_H

#include "observe.h"

/* A bit of ondeck_observe_is_wanted. */
enum { ORDERS = 2 };

/* How a lock is wanted. PATIENT: a reader that waits after writers which wait. TIMED: it does not wait, or until a
   deadline. */
enum way { ALONE = 0, READ = 1, PATIENT = 2, IS_RWLOCK = 4, TIMED = 8 };

OURS void ondeck_order_locked(void *lock, int way, uintptr_t base);
OURS void ondeck_order_waits(void *lock, int way, uintptr_t base);
OURS void ondeck_order_waited(const void *lock, int is_locked);
OURS void ondeck_order_unlocks(void *lock, int way);

static inline int is_ordered(void)
{
    return __builtin_expect(ondeck_observe_is_wanted & ORDERS, 0);
}

static inline int is_locked(int result)
{
    enum { OWNER_DIED = 130 };
    return result == 0 || result == OWNER_DIED;
}

/* After an attempt. */
static inline void order_tried(void *lock, int way, int result, uintptr_t base)
{
    if (is_ordered() && is_locked(result))
        ondeck_order_locked(lock, way, base);
}

static inline void order_waits(void *lock, int way, uintptr_t base)
{
    if (is_ordered() && !(way & TIMED))
        ondeck_order_waits(lock, way, base);
}

static inline void order_waited(void *lock, int way, int result, uintptr_t base)
{
    if (way & TIMED)
        order_tried(lock, way, result, base);
    else if (is_ordered())
        ondeck_order_waited(lock, is_locked(result));
}

static inline void order_unlocks(void *lock, int way)
{
    if (is_ordered())
        ondeck_order_unlocks(lock, way);
}

/* CALL, which may wait for the lock, between the notes of that. */
#define ORDERED(lock, way, call)                   \
    ({                                             \
        order_waits(lock, way, BASE);              \
        int ordered = call;                        \
        order_waited(lock, way, ordered, BASE);    \
        ordered;                                   \
    })

#endif
