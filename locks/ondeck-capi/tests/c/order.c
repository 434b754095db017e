/*
 * Checks each access of the inlined unlock: it reads the unlock mode of its bucket, stores 0, reads
 * the mode again, and calls the library if the mode was not ONDECK_UNLOCK_QUIET. If a step were
 * missing, a lost wake would only come late, so no multithreaded program would show the mistake.
 *
 * This program defines the table itself, on pages without read permission. Each load raises a
 * signal, whose handler supplies the value, records the mutex, and lets one instruction execute.
 */
#define _GNU_SOURCE
#include "check.h"

#include <ondeck.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__x86_64__)

enum { BUCKETS = 1 << ONDECK_BUCKET_BITS, TRAP = 0x100 };

uintptr_t ondeck_parking_table_6[BUCKETS] __attribute__((__aligned__(65536)));

static ondeck_mutex_t mutex;
static ondeck_mutex_t *volatile used = &mutex;
/* The modes that successive loads return. */
static uintptr_t modes[2];
static int readings;
/* The mutex's byte at each load, and at the call of the library. */
static int bytes[2], byte_at_call;
static uintptr_t *addresses[2];
static const char *call;

static void protect(int protection)
{
    EQUAL(mprotect(ondeck_parking_table_6, sizeof ondeck_parking_table_6, protection), 0);
}

static void reading(int number, siginfo_t *info, void *context)
{
    (void)number;
    EQUAL(readings < 2, 1);
    protect(PROT_READ | PROT_WRITE);
    addresses[readings] = info->si_addr;
    *addresses[readings] = modes[readings];
    bytes[readings++] = __atomic_load_n(&mutex.byte, __ATOMIC_RELAXED);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP;
}

static void passed(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    protect(PROT_NONE);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
}

/* Does the library's part. */
void ondeck_mutex_lock_contended(ondeck_mutex_t *called_with)
{
    EQUAL(called_with == &mutex, 1);
    call = "lock_contended";
}

void ondeck_mutex_unlock_contended(ondeck_mutex_t *called_with)
{
    EQUAL(called_with == &mutex, 1);
    byte_at_call = mutex.byte;
    call = "unlock_contended";
}

void ondeck_mutex_unlocked(const ondeck_mutex_t *called_with)
{
    EQUAL(called_with == &mutex, 1);
    byte_at_call = mutex.byte;
    call = "unlocked";
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    EQUAL(sigaction(number, &action, NULL), 0);
}

/* Unlocks while the two loads return the two given modes. */
static void unlock(uintptr_t before, uintptr_t after)
{
    modes[0] = before;
    modes[1] = after;
    readings = 0;
    call = "";
    mutex.byte = 1;
    EQUAL(ondeck_mutex_unlock(used), 0);
    for (int i = 0; i < readings; i++)
        EQUAL(addresses[i] - ondeck_parking_table_6,
              ((uintptr_t)&mutex * ONDECK_BUCKET_FACTOR) >> (64 - ONDECK_BUCKET_BITS));
}

int main(void)
{
    handle(SIGSEGV, reading);
    handle(SIGTRAP, passed);
    protect(PROT_NONE);

    EQUAL(ondeck_mutex_lock(used), 0);
    EQUAL(mutex.byte, 1);
    EQUAL(strcmp(call == NULL ? "" : call, ""), 0);
    EQUAL(ondeck_mutex_trylock(used), EBUSY);
    EQUAL(ondeck_mutex_lock(used), 0);
    EQUAL(strcmp(call, "lock_contended"), 0);
    EQUAL(readings, 0);

    /* No thread: done. */
    unlock(ONDECK_UNLOCK_QUIET, ONDECK_UNLOCK_QUIET);
    EQUAL(strcmp(call, ""), 0);
    EQUAL(readings, 2);
    EQUAL(bytes[0], 1);
    EQUAL(bytes[1], 0);
    EQUAL(mutex.byte, 0);

    for (uintptr_t mode = 0; mode < 4; mode++) {
        if (mode == ONDECK_UNLOCK_QUIET)
            continue;
        /* Threads wait: the library unlocks. */
        unlock(mode, ONDECK_UNLOCK_QUIET);
        EQUAL(strcmp(call, "unlock_contended"), 0);
        EQUAL(readings, 1);
        EQUAL(byte_at_call, 1);

        /* A thread has parked in between. */
        unlock(ONDECK_UNLOCK_QUIET, mode);
        EQUAL(strcmp(call, "unlocked"), 0);
        EQUAL(readings, 2);
        EQUAL(bytes[1], 0);
        EQUAL(byte_at_call, 0);
    }
    return 0;
}

#else
int main(void)
{
    return 0;
}
#endif
