/* Every lock of the zoo excludes threads from each other through the opaque type. */
#include "check.h"

#include <ondeck.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 100 };

static ondeck_zoo_lock_t *lock, *other;
static long counted;
/* How many threads are in a section: some give up their CPU there, so that two at once are seen. */
static int inside;

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        EQUAL(ondeck_zoo_lock_lock(lock), 0);
        /* Two of one kind at once: a thread needs two contexts. */
        EQUAL(ondeck_zoo_lock_lock(other), 0);
        EQUAL(++inside, 1);
        counted++;
        if (i % 16 == 0)
            sched_yield();
        EQUAL(--inside, 0);
        EQUAL(ondeck_zoo_lock_unlock(lock), 0);
        EQUAL(ondeck_zoo_lock_unlock(other), 0);
        int error = ondeck_zoo_lock_trylock(lock);
        if (error == 0) {
            EQUAL(++inside, 1);
            EQUAL(--inside, 0);
            EQUAL(ondeck_zoo_lock_unlock(lock), 0);
        } else {
            EQUAL(error == EBUSY || error == ENOTSUP, 1);
        }
    }
    return NULL;
}

int main(void)
{
    size_t locks = 0;
    for (const char *name; (name = ondeck_zoo_name(locks)) != NULL; locks++) {
        progress();
        lock = ondeck_zoo_lock_new(name);
        other = ondeck_zoo_lock_new(name);
        EQUAL(lock != NULL && other != NULL, 1);
        counted = 0;
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            threads[i] = begin(count, NULL);
        for (int i = 0; i < THREADS; i++)
            end(threads[i]);
        EQUAL(counted, THREADS * ROUNDS);
        EQUAL(ondeck_zoo_lock_trylock(lock) == (strcmp(name, "clh") == 0 ? ENOTSUP : 0), 1);
        if (strcmp(name, "clh") != 0) {
            EQUAL(ondeck_zoo_lock_trylock(lock), EBUSY);
            EQUAL(ondeck_zoo_lock_unlock(lock), 0);
        }
        ondeck_zoo_lock_free(lock);
        ondeck_zoo_lock_free(other);
    }
    printf("%zu locks\n", locks);
    return locks > 15 ? 0 : 1;
}
