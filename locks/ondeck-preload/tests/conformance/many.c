/* Ten million mutexes, all of them locked and unlocked, some contended, and hardly any kept locked: the
 * process grows by the mutexes' own bytes only. */
#include "memory.h"

enum { MUTEXES = 10000000, CONTENDED = 20000, ALLOWED_KIB = 16 * 1024 };

static pthread_mutex_t *mutexes;
static int turn;

/* Two threads that traverse the same mutexes meet at some of them. */
static void *contender(void *unused UNUSED)
{
    for (int round = 1; round <= 2; round++) {
        __atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST);
        await_flag(&turn, 2 * round);
        for (int i = 0; i < CONTENDED; i++) {
            pthread_mutex_t *mutex = &mutexes[(size_t)i * (MUTEXES / CONTENDED)];
            quiet_is(pthread_mutex_lock(mutex), 0);
            for (int spin = 0; spin < 20; spin++)
                __asm__ volatile("");
            quiet_is(pthread_mutex_unlock(mutex), 0);
        }
    }
    return NULL;
}

int main(void)
{
    mutexes = mmap(NULL, MUTEXES * sizeof *mutexes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mutexes == MAP_FAILED)
        abort();
    /* Start the first thread, and touch the pages of its stack, before the count begins. */
    finish(start(contender, (turn = 2, NULL)));
    turn = 0;
    for (size_t i = 0; i < MUTEXES; i++) {
        if (pthread_mutex_init(&mutexes[i], NULL) != 0)
            abort();
    }
    long before = memory_kib("RssAnon:");
    for (size_t i = 0; i < MUTEXES; i++) {
        if (pthread_mutex_lock(&mutexes[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < MUTEXES; i++) {
        if (pthread_mutex_trylock(&mutexes[i]) != EBUSY || pthread_mutex_unlock(&mutexes[i]) != 0)
            abort();
    }
    pthread_t one = start(contender, NULL), other = start(contender, NULL);
    finish(one);
    finish(other);
    for (size_t i = 0; i < MUTEXES; i++) {
        if (pthread_mutex_destroy(&mutexes[i]) != 0)
            abort();
    }
    long grown = memory_kib("RssAnon:") - before;
    say("%d mutexes, memory grows by less than 16 MiB: %s", MUTEXES, grown < ALLOWED_KIB ? "yes" : "no");
    if (grown >= ALLOWED_KIB)
        fail("%ld KiB for %d mutexes", grown, MUTEXES);
    return conform_end();
}
