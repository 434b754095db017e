/* Statistics: the numbers are those that the test has arranged. With ONDECK_STATS also holds. */
#include <ondeck.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#if defined(ONDECK_STATS) && !defined(ONDECK_TSAN)
#define HOLDS 1
#else
#define HOLDS 0
#endif

static ondeck_mutex_t mutex = ONDECK_MUTEX_INIT;
static ondeck_cond_t cond = ONDECK_COND_INIT;

struct found {
    const char *name;
    int count;
    ondeck_lock_stats_t stats;
};

static void seen(const ondeck_lock_stats_t *stats, void *argument)
{
    struct found *found = argument;
    if (strcmp(stats->name, found->name) == 0 && found->count++ == 0)
        found->stats = *stats;
}

static struct found of(const char *name)
{
    struct found found = {name, 0, {0}};
    ondeck_stats_each(seen, &found);
    return found;
}

static void until_waiting(const char *name, unsigned count)
{
    while (of(name).stats.waiting != count)
        sleep_ms(1);
}

static void *wait_for(void *unused)
{
    ondeck_mutex_lock(&mutex);
    ondeck_mutex_unlock(&mutex);
    return unused;
}

static void *give_up(void *unused)
{
    const struct timespec soon = after_ms(CLOCK_REALTIME, 5);
    EQUAL(ondeck_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
    return unused;
}

/* Has a number of threads wait while this one holds the mutex. */
static void contend(const char *name, void *(*run)(void *), int count)
{
    pthread_t threads[3];
    ondeck_mutex_lock(&mutex);
    for (int i = 0; i < count; i++)
        threads[i] = begin(run, NULL);
    if (run == wait_for) {
        until_waiting(name, (unsigned)count);
        /* Longer than their holds, in which each of them may lose its CPU. */
        sleep_ms(100);
    } else
        for (int i = 0; i < count; i++)
            end(threads[i]);
    ondeck_mutex_unlock(&mutex);
    for (int i = 0; run == wait_for && i < count; i++)
        end(threads[i]);
}

static ondeck_rwlock_t shared = ONDECK_RWLOCK_INIT;
static ondeck_sem_t permits = ONDECK_SEM_INIT(0);

static void *read_shared(void *unused)
{
    EQUAL(ondeck_rwlock_rdlock(&shared), 0);
    ondeck_rwlock_rdunlock(&shared);
    const struct timespec past = {0, 0};
    EQUAL(ondeck_rwlock_clockwrlock(&shared, CLOCK_REALTIME, &past), 0);
    ondeck_rwlock_wrunlock(&shared);
    return unused;
}

static int has_shared(void)
{
    return of("shared").stats.holder == (size_t)pthread_self();
}

static void shared_locks(void)
{
    const struct timespec past = {0, 0};
    EQUAL(ondeck_rwlock_name(&shared, "shared"), 0);
    ondeck_rwlock_wrlock(&shared);
    pthread_t thread = begin(read_shared, NULL);
    until_waiting("shared", 1);
    ondeck_rwlock_wrunlock(&shared);
    end(thread);
    struct found found = of("shared");
    EQUAL(found.stats.waits, 1);
    EQUAL(strcmp(found.stats.kind, "RwLock"), 0);
    EQUAL(found.stats.site != NULL, HOLDS);
    EQUAL(found.stats.longest_hold != 0, HOLDS);
    EQUAL(found.stats.waiting, 0);

    EQUAL(ondeck_rwlock_rdlock(&shared), 0);
    EQUAL(has_shared(), 0);
    EQUAL(ondeck_rwlock_trywrlock(&shared), EBUSY);
    EQUAL(ondeck_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    EQUAL(of("shared").stats.gave_up, 1);
    ondeck_rwlock_rdunlock(&shared);
    /* A lock that has no room for another reader is not waited for. */
    shared.word = 1u << 31;
    EQUAL(ondeck_rwlock_clockrdlock(&shared, CLOCK_MONOTONIC, &past), EAGAIN);
    EQUAL(ondeck_rwlock_clockuplock(&shared, CLOCK_MONOTONIC, &past), EAGAIN);
    found = of("shared");
    EQUAL(found.stats.waits + found.stats.gave_up, 2);
    shared.word = 0;
    EQUAL(ondeck_rwlock_uplock(&shared), 0);
    EQUAL(has_shared(), 0);
    EQUAL(ondeck_rwlock_upgrade(&shared), 0);
    EQUAL(has_shared(), HOLDS);
    ondeck_rwlock_downgrade(&shared);
    EQUAL(has_shared(), 0);
    ondeck_rwlock_rdunlock(&shared);
    EQUAL(ondeck_rwlock_trywrlock(&shared), 0);
    EQUAL(has_shared(), HOLDS);
    ondeck_rwlock_wrunlock(&shared);
    EQUAL(of("shared").stats.holder, 0);
    EQUAL(ondeck_rwlock_destroy(&shared), 0);
}

static void *wait_for_permit(void *unused)
{
    ondeck_sem_wait(&permits);
    return unused;
}

static void semaphores(void)
{
    const struct timespec past = {0, 0};
    EQUAL(ondeck_sem_name(&permits, "permits"), 0);
    EQUAL(ondeck_sem_clockwait(&permits, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    pthread_t thread = begin(wait_for_permit, NULL);
    until_waiting("permits", 1);
    EQUAL(ondeck_sem_post(&permits), 0);
    end(thread);
    struct found found = of("permits");
    EQUAL(found.stats.waits, 1);
    EQUAL(found.stats.gave_up, 1);
    EQUAL(found.stats.waiting, 0);
    EQUAL(strcmp(found.stats.kind, "Semaphore"), 0);
    EQUAL(ondeck_sem_init(&permits, 0), 0);
}

static int call(int (*function)(ondeck_mutex_t *))
{
    return function(&mutex);
}

/* The compiler sees which function it is. */
static void lock_by_pointers(void)
{
    EQUAL(call(ondeck_mutex_lock), 0);
    EQUAL(call(ondeck_mutex_trylock), EBUSY);
    EQUAL(call(ondeck_mutex_unlock), 0);
}

static ondeck_event_t told;
static int calls;

static void warned(const ondeck_event_t *event)
{
    told = *event;
    calls++;
    /* It may lock the mutex, which it is not told of. */
    ondeck_mutex_lock(&mutex);
    ondeck_mutex_unlock(&mutex);
}

static void *notify(void *unused)
{
    ondeck_mutex_lock(&mutex);
    ondeck_cond_signal(&cond);
    ondeck_mutex_unlock(&mutex);
    return unused;
}

static void *wait_for_named(void *argument)
{
    ondeck_mutex_lock(argument);
    ondeck_mutex_unlock(argument);
    return NULL;
}

/* Has a thread wait for a mutex. */
static void wait_once(ondeck_mutex_t *for_mutex, const char *name, unsigned long long before)
{
    ondeck_mutex_lock(for_mutex);
    pthread_t thread = begin(wait_for_named, for_mutex);
    while (of(name).stats.waiting != 1)
        sleep_ms(1);
    ondeck_mutex_unlock(for_mutex);
    end(thread);
    EQUAL(of(name).stats.waits, before + 1);
}

static int is_over;

static void *give_and_take_names(void *unused)
{
    static ondeck_mutex_t others[64];
    for (int i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++)
        ondeck_mutex_name(&others[i / 2 % 64], i % 2 ? NULL : "other");
    return unused;
}

/* The child of a fork in whose parent another thread changes names. */
static void name_in_children(void)
{
    pthread_t thread = begin(give_and_take_names, NULL);
    for (int i = 0; i < 100; i++) {
        ondeck_mutex_t named = ONDECK_MUTEX_INIT;
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _exit(ondeck_mutex_name(&named, "named") != 0 || ondeck_mutex_destroy(&named) != 0);
        }
        int status;
        EQUAL(waitpid(child, &status, 0), child);
        EQUAL(status, 0);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    end(thread);
}

int main(void)
{
    char text[2000];
    name_in_children();
    EQUAL(ondeck_mutex_name(&mutex, "first"), 0);
    EQUAL(ondeck_stats_text(text, sizeof text), 0);
    EQUAL(text[0], 0);
    ondeck_on_long_hold(1, NULL);
    contend("first", give_up, 1);
    EQUAL(of("first").count, 0);
    ondeck_stats_enable();
    lock_by_pointers();

    contend("first", wait_for, 3);
    struct found found = of("first");
    EQUAL(found.count, 1);
    EQUAL(found.stats.waits, 3);
    EQUAL(found.stats.gave_up, 0);
    EQUAL(found.stats.waiting, 0);
    EQUAL(found.stats.holder, 0);
    EQUAL(found.stats.lock == &mutex, 1);
    EQUAL(found.stats.waited >= found.stats.longest_wait, 1);
    EQUAL(found.stats.p50 <= found.stats.p99, 1);
    EQUAL(found.stats.longest_hold != 0, HOLDS);
    EQUAL(found.stats.site != NULL, HOLDS);
    EQUAL(found.stats.longest_hold_site != NULL, HOLDS);
    /* The hold began in another function than the waits. */
    EQUAL(found.stats.longest_hold_site != found.stats.site, HOLDS);

    EQUAL(ondeck_mutex_trylock(&mutex), 0);
    found = of("first");
    EQUAL(found.stats.holder == (HOLDS ? (size_t)pthread_self() : 0), 1);
    EQUAL(ondeck_mutex_trylock(&mutex), EBUSY);
    ondeck_mutex_unlock(&mutex);

    contend("first", give_up, 1);
    found = of("first");
    EQUAL(found.stats.waits, 3);
    EQUAL(found.stats.gave_up, 1);
    shared_locks();
    semaphores();
    /* The file that has it, and where. */
    EQUAL(ondeck_stats_site(&is_over, text, sizeof text) > 4, 1);
    EQUAL(strstr(text, "+0x") != NULL, 1);
    EQUAL(ondeck_stats_site(NULL, text, sizeof text), 2);

#if HOLDS
    /* A wait for a condition is no hold. Its mutex is held again afterwards. */
    ondeck_mutex_lock(&mutex);
    pthread_t thread = begin(notify, NULL);
    EQUAL(ondeck_cond_wait(&cond, &mutex), 0);
    EQUAL(of("first").stats.holder == (size_t)pthread_self(), 1);
    ondeck_mutex_unlock(&mutex);
    end(thread);
    const struct timespec past = {0, 0};
    ondeck_mutex_lock(&mutex);
    EQUAL(ondeck_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
    ondeck_mutex_unlock(&mutex);
    EQUAL(of("first").stats.holder, 0);
    EQUAL(ondeck_mutex_clocklock(&mutex, 77, &past), EINVAL);

    ondeck_on_long_hold(0, warned);
    ondeck_mutex_lock(&mutex);
    ondeck_mutex_unlock(&mutex);
    EQUAL(calls, 1);
    EQUAL(strcmp(told.name, "first"), 0);
    EQUAL(told.lock == &mutex && told.site != NULL && told.other == NULL, 1);
    ondeck_on_long_hold(0, NULL);
    ondeck_on_long_wait(0, warned);
#else
    (void)warned;
    (void)notify;
    (void)told;
    (void)calls;
#endif

    const unsigned long long waits = of("first").stats.waits;
    EQUAL(ondeck_stats_text(text, sizeof text) > 20, 1);
    EQUAL(strstr(text, "Mutex ") != NULL && strstr(text, "\"first\"") != NULL, 1);
    EQUAL(ondeck_stats_text(text, 5) > 20, 1);
    EQUAL(strlen(text), 4);
    EQUAL(ondeck_stats_prometheus(NULL, 0) > 1000, 1);

    /* Another mutex in the same memory has another name, or none. */
    EQUAL(ondeck_mutex_destroy(&mutex), 0);
    wait_once(&mutex, "", 0);
    EQUAL(of("first").stats.waits, waits);
    EQUAL(ondeck_mutex_name(&mutex, "second"), 0);
    wait_once(&mutex, "second", 0);
    ondeck_mutex_init(&mutex);
    wait_once(&mutex, "", 1);

    /* Names have room again when their mutexes are gone; the table is not larger than it is. */
    static ondeck_mutex_t many[3000];
    int no_room = 0;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 3000; i++)
            no_room += ondeck_mutex_name(&many[i], "many") != 0;
        for (int i = 0; i < 3000; i++)
            EQUAL(ondeck_mutex_name(&many[i], NULL), 0);
        EQUAL(no_room >= 1976 * (turn + 1) && no_room < 3000 * (turn + 1), 1);
    }
    for (int i = 0; i < 50; i++)
        EQUAL(ondeck_mutex_name(&many[i * 50], "few"), 0);

    ondeck_stats_disable();
    ondeck_mutex_lock(&mutex);
    pthread_t last = begin(wait_for, NULL);
    sleep_ms(5);
    ondeck_mutex_unlock(&mutex);
    end(last);
    EQUAL(of("").stats.waits, 2);
    return 0;
}
