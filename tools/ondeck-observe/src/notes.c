/* The file of notes, a thread's entry in it, and its stacks. */

#include "notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

enum { RECALLED = 4 };

/* A stack that a thread has unwound: where its return addresses were, in words from the first. */
struct recall { uintptr_t base; uint32_t stack, count, offsets[DEPTH]; };

struct file *ondeck_notes;
__thread struct thread *ondeck_notes_own;
static __thread volatile int busy __attribute__((tls_model("initial-exec")));
static struct recall (*recalls)[RECALLED];
/* 1 while a thread makes the file, then 2; whether a stack had no room in it. */
static int making, is_full;
static uint32_t last_lock;
static char folder[3072], mappings[3200];

/* Appends the mappings of the process to a file beside the other. */
static void note_mappings(void)
{
    char text[4096];
    long length;
    int from = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    int to = (int)syscall(SYS_openat, AT_FDCWD, mappings, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (from >= 0 && to >= 0 && (length = syscall(SYS_read, from, text, sizeof text)) > 0)
        if (syscall(SYS_write, to, text, length) != length)
            break;
    syscall(SYS_close, from);
    syscall(SYS_close, to);
}

/* Makes the file; NULL if there is no room for it. */
static struct file *made(void)
{
    char name[sizeof folder + 64];
    struct rlimit most;
    struct stat namespace;
    struct timespec now;
    struct file *mapped = MAP_FAILED;

    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < sizeof(struct file))
        return NULL;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(name, sizeof name, "%s/%d-%ld%09ld.order", folder, getpid(), (long)now.tv_sec, now.tv_nsec);
    int opened = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (opened < 0)
        return NULL;
    if (syscall(SYS_fallocate, opened, 0, 0L, sizeof(struct file)) == 0)
        mapped = mmap(NULL, sizeof(struct file), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    syscall(SYS_close, opened);
    if (mapped == MAP_FAILED) {
        unlink(name);
        return NULL;
    }
    snprintf(mappings, sizeof mappings, "%s.maps", name);
    note_mappings();
    mapped->pid = (uint32_t)getpid();
    mapped->pid_namespace = stat("/proc/self/ns/pid", &namespace) == 0 ? namespace.st_ino : 0;
    last_lock = (uint32_t)mix((uint64_t)now.tv_nsec, mapped->pid);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(mapped->magic, "ondeckO1", sizeof mapped->magic);
    return mapped;
}

/* Whether there is a file. The first thread that asks makes it, once there are two. */
static int has_file(void)
{
    /* About a millisecond is enough. The end is for a signal handler that has interrupted the other thread. */
    enum { TRIES = 10000 };
    const struct timespec pause = {.tv_nsec = 100000};
    int before = errno, is_made = 0;

    if (likely(__atomic_load_n(&ondeck_notes, __ATOMIC_ACQUIRE)))
        return 1;
    if (__libc_single_threaded)
        return 0;
    if (exchange(&making, &is_made, 1)) {
        struct file *new = made();
        if (!new)
            __atomic_and_fetch(&ondeck_observe_is_wanted, ~ORDERS, __ATOMIC_RELAXED);
        publish(&ondeck_notes, new);
        publish(&making, 2);
    }
    for (int tries = 0; tries < TRIES && load(&making) == 1; tries++)
        syscall(SYS_nanosleep, &pause, NULL);
    errno = before;
    return __atomic_load_n(&ondeck_notes, __ATOMIC_ACQUIRE) != NULL;
}

/* Takes an entry of the file for the thread: a new one, else that of a thread that has ended. */
static struct thread *claim(void)
{
    static uint32_t next;
    int before = errno;
    uint32_t tid = (uint32_t)syscall(SYS_gettid), place = load(&ondeck_notes->threads);
    struct thread *found = NULL;

    while (place < THREADS && !found)
        if (exchange(&ondeck_notes->threads, &place, place + 1))
            found = &ondeck_notes->thread[place];
    for (int tries = 0; tries < THREADS && !found; tries++) {
        struct thread *thread = &ondeck_notes->thread[add(&next, 1) % THREADS];
        uint32_t other = load(&thread->tid);
        if (other && syscall(SYS_tgkill, ondeck_notes->pid, other, 0) < 0 && errno == ESRCH
            && exchange(&thread->tid, &other, 0))
            found = thread;
    }
    if (found) {
        store(&found->wait, 0);
        store(&found->count, 0);
        memset(recalls[found - ondeck_notes->thread], 0, sizeof *recalls);
        publish(&found->tid, tid);
    } else {
        add(&ondeck_notes->dropped, 1);
    }
    errno = before;
    return found;
}

struct thread *ondeck_notes_enter(void)
{
    if (busy)
        return NULL;
    busy++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!ondeck_notes_own && has_file())
        ondeck_notes_own = claim();
    if (!ondeck_notes_own)
        busy--;
    return ondeck_notes_own;
}

void ondeck_notes_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    busy--;
}

uint32_t ondeck_notes_number(void)
{
    return add(&last_lock, 1) + 1;
}

struct walk { uintptr_t base; uint32_t count, offsets[DEPTH]; uint64_t addresses[DEPTH]; int is_regular; };

static _Unwind_Reason_Code each(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    int is_before = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &is_before);
    uintptr_t slot = _Unwind_GetCFA(context) - sizeof(uintptr_t);

    /* A function of the observer. */
    if (!walk->count && slot < walk->base)
        return _URC_NO_REASON;
    if (!address)
        return _URC_END_OF_STACK;
    /* The frame below a signal handler has no return address. */
    if (is_before || slot < walk->base || (slot - walk->base) % sizeof(uintptr_t) || *(uintptr_t *)slot != address)
        walk->is_regular = 0;
    walk->offsets[walk->count] = (uint32_t)((slot - walk->base) / sizeof(uintptr_t));
    walk->addresses[walk->count++] = address;
    return walk->count < DEPTH ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The number of these return addresses, from 1 on; 0 if there is no room. */
static uint32_t stack_number(const struct walk *walk)
{
    uint64_t hash = 1;
    for (uint32_t at = 0; at < walk->count; at++)
        hash = mix(hash, walk->addresses[at]);
    hash |= 1;
    for (uint64_t probe = 0; probe < PROBES; probe++) {
        struct stack *stack = &ondeck_notes->stack[((hash >> 32) + probe) % STACKS];
        uint64_t other = 0;
        if (exchange(&stack->hash, &other, hash)) {
            memcpy(stack->addresses, walk->addresses, walk->count * sizeof(uint64_t));
            publish(&stack->count, walk->count);
            other = hash;
        }
        if (other == hash)
            return (uint32_t)(stack - ondeck_notes->stack) + 1;
    }
    store(&is_full, 1);
    return 0;
}

uint32_t ondeck_notes_stack(uintptr_t base)
{
    struct recall *known = recalls[ondeck_notes_own - ondeck_notes->thread];
    struct walk walk = {.base = base, .is_regular = 1};
    static uint32_t next;

    for (int at = 0; at < RECALLED; at++) {
        struct recall *recall = &known[at];
        uint32_t same = 0;
        if (recall->base != base || !recall->stack)
            continue;
        /* Innermost first: the next is read only where the same functions have put it. */
        while (same < recall->count
               && ((uintptr_t *)base)[recall->offsets[same]] == ondeck_notes->stack[recall->stack - 1].addresses[same])
            same++;
        if (same == recall->count)
            return recall->stack;
    }
    if (!load(&is_full))
        _Unwind_Backtrace(each, &walk);
    if (!walk.count)
        return 0;
    uint32_t stack = stack_number(&walk);
    if (walk.is_regular && stack) {
        struct recall *recall = &known[add(&next, 1) % RECALLED];
        *recall = (struct recall){.base = base, .stack = stack, .count = walk.count};
        memcpy(recall->offsets, walk.offsets, sizeof(walk.offsets));
    }
    return stack;
}

static void before_fork(void)
{
    busy++;
}

static void in_parent(void)
{
    busy--;
}

static void in_child(void)
{
    if (ondeck_notes)
        munmap(ondeck_notes, sizeof(struct file));
    ondeck_notes = NULL;
    ondeck_notes_own = NULL;
    making = is_full = 0;
    busy--;
}

/* After the constructor of observe.c. */
__attribute__((constructor(103))) static void start(void)
{
    const char *named = getenv("ONDECK_DEADLOCKS");
    if (!named || !*named || strlen(named) >= sizeof folder || getauxval(AT_SECURE)
        || ondeck_observe_is_loaded("libtsan.so"))
        return;
    strcpy(folder, named);
    recalls = mmap(NULL, THREADS * sizeof(*recalls), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (recalls != MAP_FAILED && pthread_atfork(before_fork, in_parent, in_child) == 0)
        ondeck_observe_is_wanted |= ORDERS;
}

__attribute__((destructor)) static void stop(void)
{
    if (ondeck_notes)
        note_mappings();
}
