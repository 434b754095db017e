/* The file of a process image, which `ondeck run --deadlocks` reads: tools/ondeck-cli/src/run/deadlocks/file.rs. */

#ifndef ONDECK_OBSERVE_NOTES_H
#define ONDECK_OBSERVE_NOTES_H

#include "order.h"

#define load(place) __atomic_load_n(place, __ATOMIC_RELAXED)
#define store(place, value) __atomic_store_n(place, value, __ATOMIC_RELAXED)
/* After what was written before. */
#define publish(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#define add(place, value) __atomic_fetch_add(place, value, __ATOMIC_RELAXED)
#define exchange(place, expected, value) \
    __atomic_compare_exchange_n(place, expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

/* How many there are at most; NAME is the kernel's number. */
enum { HELD = 32, THREADS = 1024, EDGES = 16384, STACKS = 8192, DEPTH = 24, OTHERS = HELD - 1, KEYS = 2 * EDGES };
enum { PROBES = 32, NAME = 16 };

struct hold { uint64_t address; uint32_t lock, stack, way, depth; };
struct thread { uint32_t tid, wait, last_wait, count; struct hold wanted, held[HELD]; };
struct edge {
    uint32_t is_whole, tid;
    char name[NAME];
    struct hold from, to;
    struct { uint32_t lock, way; } held[OTHERS];
};
struct stack { uint64_t hash; uint32_t count, unused; uint64_t addresses[DEPTH]; };
struct file {
    char magic[8];
    uint64_t pid_namespace;
    uint32_t pid, threads, edges, dropped;
    struct thread thread[THREADS];
    struct edge edge[EDGES];
    struct stack stack[STACKS];
    uint64_t keys[KEYS];
};

OURS extern struct file *ondeck_notes;
/* The calling thread's entry. */
extern OURS __thread struct thread *ondeck_notes_own __attribute__((tls_model("initial-exec")));

static inline uint64_t mix(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return sum << 23 | sum >> 41;
}

/* The calling thread's entry, until `leave`; NULL if there is none, or the thread is in a note already. */
OURS struct thread *ondeck_notes_enter(void);
OURS void ondeck_notes_leave(void);

/* A number for a new lock. */
OURS uint32_t ondeck_notes_number(void);

/* The number of the stack from the return address at `base` on; 0 if there is no room. */
OURS uint32_t ondeck_notes_stack(uintptr_t base);

#endif
