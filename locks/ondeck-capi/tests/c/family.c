/* Every function of the reader-writer lock, the semaphore, the once and the barrier, with every
 * code that it can return; and threads that use all of them at the same time. */
#include "check.h"

#include <ondeck.h>

_Static_assert(sizeof(ondeck_rwlock_t) == 4 && sizeof(ondeck_sem_t) == 4, "four bytes each");
_Static_assert(sizeof(ondeck_once_t) == 1 && sizeof(ondeck_barrier_t) == 8, "one and eight bytes");

enum { THREADS = 6, ROUNDS = 1500 };
static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
static const struct timespec past = {1, 0}, wrong = {0, 1000000000};
static const unsigned most_readers = 1u << 31;
static ondeck_rwlock_t lock = ONDECK_RWLOCK_INIT;
static ondeck_sem_t there = ONDECK_SEM_INIT(0), go = ONDECK_SEM_INIT(0);

/* The ways to hold the lock, and which attempts succeed beside a thread that holds it so. */
static const struct way {
    int (*wait)(ondeck_rwlock_t *), (*try)(ondeck_rwlock_t *), (*unlock)(ondeck_rwlock_t *);
    int (*clock)(ondeck_rwlock_t *, int, const struct timespec *);
    int is_open[3];
} ways[] = {
    {ondeck_rwlock_rdlock, ondeck_rwlock_tryrdlock, ondeck_rwlock_rdunlock,
     ondeck_rwlock_clockrdlock, {1, 1, 0}},
    {ondeck_rwlock_uplock, ondeck_rwlock_tryuplock, ondeck_rwlock_upunlock,
     ondeck_rwlock_clockuplock, {1, 0, 0}},
    {ondeck_rwlock_wrlock, ondeck_rwlock_trywrlock, ondeck_rwlock_wrunlock,
     ondeck_rwlock_clockwrlock, {0, 0, 0}},
};

/* Attempts in each way, by a thread that does not hold the lock. */
static void *attempt(void *beside)
{
    const int *is_open = beside;
    for (int i = 0; i < 3; i++) {
        EQUAL(ways[i].try(&lock), is_open[i] ? 0 : EBUSY);
        if (is_open[i])
            EQUAL(ways[i].unlock(&lock), 0);
        for (int c = 0; c < 2; c++) {
            struct timespec soon = after_ms(clocks[c], 3);
            EQUAL(ways[i].clock(&lock, clocks[c], &wrong), is_open[i] ? 0 : EINVAL);
            if (is_open[i])
                EQUAL(ways[i].unlock(&lock), 0);
            EQUAL(ways[i].clock(&lock, clocks[c], &past), is_open[i] ? 0 : ETIMEDOUT);
            if (is_open[i])
                EQUAL(ways[i].unlock(&lock), 0);
            else
                EQUAL(ways[i].clock(&lock, clocks[c], &soon), ETIMEDOUT);
            EQUAL(is_open[i] || has_come(clocks[c], soon), 1);
        }
        EQUAL(ways[i].clock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
    }
    return NULL;
}

static void beside(const int *is_open)
{
    end(begin(attempt, (void *)(uintptr_t)is_open));
}

static void *read_until_told(void *unused)
{
    (void)unused;
    EQUAL(ondeck_rwlock_rdlock(&lock), 0);
    EQUAL(ondeck_sem_post(&there), 0);
    EQUAL(ondeck_sem_wait(&go), 0);
    EQUAL(ondeck_rwlock_rdunlock(&lock), 0);
    return NULL;
}

static void locks(void)
{
    static const int all[] = {1, 1, 1};
    beside(all);
    for (int i = 0; i < 3; i++) {
        EQUAL(ways[i].wait(&lock), 0);
        EQUAL(ondeck_rwlock_destroy(&lock), EBUSY);
        beside(ways[i].is_open);
        EQUAL(ways[i].unlock(&lock), 0);
    }
    beside(all);

    EQUAL(ondeck_rwlock_uplock(&lock), 0);
    pthread_t reader = begin(read_until_told, NULL);
    EQUAL(ondeck_sem_wait(&there), 0);
    EQUAL(ondeck_rwlock_tryupgrade(&lock), EBUSY);
    for (int c = 0; c < 2; c++) {
        struct timespec soon = after_ms(clocks[c], 5);
        EQUAL(ondeck_rwlock_clockupgrade(&lock, clocks[c], &soon), ETIMEDOUT);
        EQUAL(ondeck_rwlock_clockupgrade(&lock, clocks[c], &wrong), EINVAL);
    }
    beside(ways[1].is_open);
    EQUAL(ondeck_sem_post(&go), 0);
    EQUAL(ondeck_rwlock_upgrade(&lock), 0);
    beside(ways[2].is_open);
    end(reader);
    EQUAL(ondeck_rwlock_downgrade_to_up(&lock), 0);
    beside(ways[1].is_open);
    EQUAL(ondeck_rwlock_tryupgrade(&lock), 0);
    beside(ways[2].is_open);
    EQUAL(ondeck_rwlock_downgrade(&lock), 0);
    beside(ways[0].is_open);
    EQUAL(ondeck_rwlock_rdunlock(&lock), 0);
    EQUAL(ondeck_rwlock_uplock(&lock), 0);
    EQUAL(ondeck_rwlock_clockupgrade(&lock, CLOCK_MONOTONIC, &past), 0);
    EQUAL(ondeck_rwlock_downgrade_to_up(&lock), 0);
    EQUAL(ondeck_rwlock_downgrade_up(&lock), 0);
    beside(ways[0].is_open);
    EQUAL(ondeck_rwlock_rdunlock(&lock), 0);
    EQUAL(ondeck_rwlock_destroy(&lock), 0);

    for (int i = 0; i < 2; i++) {
        lock.word = most_readers;
        EQUAL(ways[i].wait(&lock), EAGAIN);
        EQUAL(ways[i].try(&lock), EAGAIN);
        EQUAL(ways[i].clock(&lock, CLOCK_MONOTONIC, &past), EAGAIN);
        EQUAL(lock.word, most_readers);
    }
    EQUAL(ondeck_rwlock_rdlock(&lock), EAGAIN);
    ondeck_rwlock_init(&lock);
    beside(all);
}

static int are_done;

static void *read_over_and_over(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&are_done, __ATOMIC_RELAXED)) {
        EQUAL(ondeck_rwlock_rdlock(&lock), 0);
        EQUAL(ondeck_rwlock_rdunlock(&lock), 0);
    }
    return NULL;
}

/* Readers that meet make the lock biased: a read then changes no word of it, yet bars writers. */
static void visible(void)
{
    const uint32_t biased = ONDECK_RWLOCK_BIASED;
    pthread_t readers[] = {begin(read_over_and_over, NULL), begin(read_over_and_over, NULL)};
    while ((__atomic_load_n(&lock.word, __ATOMIC_RELAXED) & biased) == 0)
        sleep_ms(1);
    __atomic_store_n(&are_done, 1, __ATOMIC_RELAXED);
    end(readers[0]);
    end(readers[1]);
    EQUAL(lock.word, biased);
    EQUAL(ondeck_rwlock_rdlock(&lock), 0);
    EQUAL(ondeck_rwlock_destroy(&lock), EBUSY);
    EQUAL(lock.word, biased);
    beside(ways[0].is_open);
    EQUAL(ondeck_rwlock_rdunlock(&lock), 0);
    EQUAL(lock.word, biased);
    EQUAL(ondeck_rwlock_wrlock(&lock), 0);
    EQUAL(lock.word, ONDECK_RWLOCK_WRITER);
    EQUAL(ondeck_rwlock_wrunlock(&lock), 0);
}

static void semaphores(void)
{
    ondeck_sem_t sem;
    EQUAL(ondeck_sem_init(&sem, ONDECK_SEM_MOST + 1u), EINVAL);
    EQUAL(ondeck_sem_init(&sem, 2), 0);
    EQUAL(ondeck_sem_wait(&sem), 0);
    EQUAL(ondeck_sem_trywait(&sem), 0);
    EQUAL(ondeck_sem_trywait(&sem), EAGAIN);
    for (int c = 0; c < 2; c++) {
        struct timespec soon = after_ms(clocks[c], 5);
        EQUAL(ondeck_sem_clockwait(&sem, clocks[c], &soon), ETIMEDOUT);
        EQUAL(has_come(clocks[c], soon), 1);
        EQUAL(ondeck_sem_clockwait(&sem, clocks[c], &wrong), EINVAL);
        EQUAL(ondeck_sem_post(&sem), 0);
        EQUAL(ondeck_sem_clockwait(&sem, clocks[c], &wrong), 0);
    }
    EQUAL(ondeck_sem_clockwait(&sem, -1, &past), EINVAL);
    EQUAL(ondeck_sem_post_many(&sem, ONDECK_SEM_MOST + 1u), EOVERFLOW);
    EQUAL(ondeck_sem_post_many(&sem, ONDECK_SEM_MOST - 1), 0);
    EQUAL(ondeck_sem_post_many(&sem, 2), EOVERFLOW);
    EQUAL(ondeck_sem_post(&sem), 0);
    EQUAL(ondeck_sem_post(&sem), EOVERFLOW);
    EQUAL(ondeck_sem_trywait(&sem), 0);
    EQUAL(ondeck_sem_post(&sem), 0);
    /* Only the library may change a word with threads that wait; it finds that there are none. */
    sem.word = ONDECK_SEM_WAITED;
    EQUAL(ondeck_sem_post(&sem), 0);
    EQUAL(sem.word, ONDECK_SEM_PERMIT);
    sem.word |= 1u << 31 | ONDECK_SEM_WAITED;
    EQUAL(ondeck_sem_trywait(&sem), EAGAIN);
    EQUAL(ondeck_sem_wait(&sem), 0);
    EQUAL(sem.word, 0);
}

static ondeck_once_t once = ONDECK_ONCE_INIT;
static int value;

static void *run_it(void *unused)
{
    (void)unused;
    EQUAL(ondeck_once_begin(&once), 1);
    EQUAL(value, 1);
    value = 2;
    ondeck_once_end(&once);
    return NULL;
}

static void onces(void)
{
    EQUAL(ondeck_once_begin(&once), 1);
    pthread_t other = begin(run_it, NULL);
    sleep_ms(20);
    value = 1;
    ondeck_once_abandon(&once);
    end(other);
    EQUAL(ondeck_once_begin(&once), 0);
    EQUAL(value, 2);
}

static ondeck_barrier_t both = ONDECK_BARRIER_INIT(2);

static void *arrive(void *last)
{
    int is_last = ondeck_barrier_wait(&both) == ONDECK_BARRIER_LAST;
    __atomic_fetch_add((int *)last, is_last, __ATOMIC_RELAXED);
    return NULL;
}

static void barriers(void)
{
    for (int c = 0; c < 2; c++) {
        struct timespec soon = after_ms(clocks[c], 5), late = after_ms(clocks[c], 50000);
        EQUAL(ondeck_barrier_clockwait(&both, clocks[c], &soon), ETIMEDOUT);
        EQUAL(has_come(clocks[c], soon), 1);
        EQUAL(ondeck_barrier_clockwait(&both, clocks[c], &wrong), EINVAL);
        int last = 0;
        pthread_t other = begin(arrive, &last);
        int result = ondeck_barrier_clockwait(&both, clocks[c], &late);
        EQUAL(result == 0 || result == ONDECK_BARRIER_LAST, 1);
        end(other);
        EQUAL(last + (result == ONDECK_BARRIER_LAST), 1);
    }
    ondeck_barrier_t alone;
    ondeck_barrier_init(&alone, 1);
    EQUAL(ondeck_barrier_wait(&alone), ONDECK_BARRIER_LAST);
}

/* Whatever a lock protects is not atomic: ThreadSanitizer sees that the threads are ordered. */
static ondeck_sem_t one = ONDECK_SEM_INIT(1), three = ONDECK_SEM_INIT(3);
static ondeck_barrier_t all = ONDECK_BARRIER_INIT(THREADS);
static ondeck_once_t flags[ROUNDS];
static int made[ROUNDS], arrived[THREADS];
static int inside, wrote, counted, last;
static long reads;

static void *use_all(void *argument)
{
    int number = (int)(intptr_t)argument;
    errno = 4711;
    for (int i = 0; i < ROUNDS; i++) {
        int is_slow = (i + number) % 64 == 0;
        if ((i + number) % 8 == 0) {
            EQUAL(ondeck_rwlock_wrlock(&lock), 0);
            wrote++;
            if (is_slow)
                sleep_ms(1);
            EQUAL(ondeck_rwlock_wrunlock(&lock), 0);
        } else if ((i + number) % 8 == 1) {
            EQUAL(ondeck_rwlock_uplock(&lock), 0);
            int before = wrote;
            EQUAL(ondeck_rwlock_upgrade(&lock), 0);
            EQUAL(wrote++, before);
            EQUAL(ondeck_rwlock_wrunlock(&lock), 0);
        } else {
            EQUAL(ondeck_rwlock_rdlock(&lock), 0);
            __atomic_fetch_add(&reads, wrote >= 0, __ATOMIC_RELAXED);
            if (is_slow)
                sleep_ms(1);
            EQUAL(ondeck_rwlock_rdunlock(&lock), 0);
        }
        EQUAL(ondeck_sem_wait(&one), 0);
        counted++;
        if ((i + number) % 64 == 1)
            sleep_ms(1);
        EQUAL(i % 2 ? ondeck_sem_post(&one) : ondeck_sem_post_many(&one, 1), 0);
        EQUAL(ondeck_sem_wait(&three), 0);
        EQUAL(__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED) <= 3, 1);
        __atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
        EQUAL(ondeck_sem_post(&three), 0);
        if (ondeck_once_begin(&flags[i])) {
            made[i]++;
            ondeck_once_end(&flags[i]);
        }
        EQUAL(made[i], 1);
        if (i % 4 == 0) {
            arrived[number] = i;
            int is_last = ondeck_barrier_wait(&all) == ONDECK_BARRIER_LAST;
            EQUAL(arrived[(number + 1) % THREADS], i);
            if (is_last)
                last++;
            ondeck_barrier_wait(&all);
        }
    }
    EQUAL(errno, 4711);
    return NULL;
}

int main(void)
{
    progress();
    locks();
    visible();
    semaphores();
    onces();
    barriers();
    progress();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = begin(use_all, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        end(threads[i]);
    EQUAL(counted, THREADS * ROUNDS);
    EQUAL(wrote + reads, THREADS * ROUNDS);
    EQUAL(last, (ROUNDS + 3) / 4);
    EQUAL(ondeck_rwlock_destroy(&lock), 0);
    return 0;
}
