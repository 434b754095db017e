/* Reader-writer locks whose memory or threads end: the page is unmapped as soon as another thread has unlocked;
 * a thread is cancelled asynchronously in its wait; the child of a fork under contention reinitializes and uses
 * them. */
#include "rwlock.h"

enum { THREADS = 3, ROUNDS = 100, PAGE = 4096, FORKS = 10 };

struct object {
    pthread_rwlock_t rwlock;
    int references;
};

static struct object *current;
static int round_begun, round_left;
static char *next_page;

static struct object *map_object(void)
{
    void *page = mmap(next_page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                      0);
    if (page != (void *)next_page)
        abort();
    next_page += PAGE;
    return page;
}

/* The thread that counts to zero frees the page; the others may be within their unlock. */
static void *drops(void *reads_first)
{
    for (int round = 1; round <= ROUNDS; round++) {
        await_flag(&round_begun, round);
        struct object *object = current;
        if (reads_first != NULL) {
            quiet_is(pthread_rwlock_rdlock(&object->rwlock), 0);
            quiet_is(pthread_rwlock_unlock(&object->rwlock), 0);
        }
        quiet_is(pthread_rwlock_wrlock(&object->rwlock), 0);
        int last = --object->references == 0;
        if (round % 16 == 0 && !last)
            sched_yield();
        quiet_is(pthread_rwlock_unlock(&object->rwlock), 0);
        if (last) {
            quiet_is(pthread_rwlock_destroy(&object->rwlock), 0);
            if (munmap(object, PAGE) != 0)
                abort();
        }
        __atomic_fetch_add(&round_left, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void unmapped(const struct rwlock_kind *kind)
{
    pthread_t threads[THREADS];
    set_flag(&round_begun, 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(drops, i == 1 ? threads : NULL);
    for (int round = 1; round <= ROUNDS; round++) {
        current = map_object();
        current->references = THREADS;
        quiet_is(init_rwlock(&current->rwlock, kind), 0);
        set_flag(&round_left, 0);
        set_flag(&round_begun, round);
        await_flag(&round_left, THREADS);
    }
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
}

/* The last reader lets a writer continue, which frees the page. */
static void *writes_and_unmaps(void *argument)
{
    struct object *object = argument;
    set_flag(&round_begun, 1);
    quiet_is(pthread_rwlock_wrlock(&object->rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&object->rwlock), 0);
    quiet_is(pthread_rwlock_destroy(&object->rwlock), 0);
    if (munmap(object, PAGE) != 0)
        abort();
    return NULL;
}

static void unmapped_after_a_reader(const struct rwlock_kind *kind)
{
    for (int round = 0; round < ROUNDS / 2; round++) {
        struct object *object = map_object();
        quiet_is(init_rwlock(&object->rwlock, kind), 0);
        quiet_is(pthread_rwlock_rdlock(&object->rwlock), 0);
        set_flag(&round_begun, 0);
        pthread_t thread = start(writes_and_unmaps, object);
        await_flag(&round_begun, 1);
        if (round % 4 == 0)
            usleep(300);
        quiet_is(pthread_rwlock_unlock(&object->rwlock), 0);
        finish(thread);
    }
}

static pthread_rwlock_t rwlock;
static int about_to;
static pid_t sleeper;

static void *waits(void *reads)
{
    quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    sleeper = thread_id();
    set_flag(&about_to, 1);
    (void)(reads ? pthread_rwlock_rdlock(&rwlock) : pthread_rwlock_wrlock(&rwlock));
    fail("a cancelled thread has the lock");
    return NULL;
}

static void *writes_on_its_stack(void *unused UNUSED)
{
    unsigned char bytes[200 * 1024];
    memset(bytes, 0x5a, sizeof bytes);
    __asm__ volatile("" : : "r"(bytes) : "memory");
    return NULL;
}

static void *locks(void *unused UNUSED)
{
    sleeper = thread_id();
    set_flag(&about_to, 1);
    quiet_is(pthread_rwlock_rdlock(&rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    return NULL;
}

/* glibc 2.36 keeps a cancelled reader or writer counted in its word, so only the next initialization of the lock is
 * tested. */
static void cancelled(const struct rwlock_kind *kind)
{
    for (int reads = 0; reads < 2; reads++) {
        quiet_is(init_rwlock(&rwlock, kind), 0);
        quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
        set_flag(&about_to, 0);
        pthread_t thread = start(waits, reads ? &rwlock : NULL);
        await_flag(&about_to, 1);
        await_sleep(sleeper);
        is(pthread_cancel(thread), 0);
        holds(finish(thread) == PTHREAD_CANCELED);
        finish(start(writes_on_its_stack, NULL));
        quiet_is(init_rwlock(&rwlock, kind), 0);
        quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
        set_flag(&about_to, 0);
        thread = start(locks, NULL);
        await_flag(&about_to, 1);
        await_sleep(sleeper);
        is(pthread_rwlock_unlock(&rwlock), 0);
        finish(thread);
    }
}

static int stopping;

static void contend(uint32_t *state)
{
    quiet_is(next_random(state) % 4 ? pthread_rwlock_rdlock(&rwlock) : pthread_rwlock_wrlock(&rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
}

static void *contends(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument;
    while (!get_flag(&stopping))
        contend(&state);
    return NULL;
}

static void *contends_for_a_while(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument;
    for (int i = 0; i < 200; i++)
        contend(&state);
    return NULL;
}

/* Overwrites the state that the parent's threads left. */
static void child(const struct rwlock_kind *kind)
{
    pthread_t threads[2];
    conform_failures = 0;
    quiet_is(init_rwlock(&rwlock, kind), 0);
    quiet_is(pthread_rwlock_tryrdlock(&rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
    set_flag(&about_to, 0);
    threads[0] = start(locks, NULL);
    await_flag(&about_to, 1);
    await_sleep(sleeper);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    finish(threads[0]);
    for (intptr_t i = 0; i < 2; i++)
        threads[i] = start(contends_for_a_while, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    _exit(conform_failures != 0);
}

static void forked(const struct rwlock_kind *kind)
{
    pthread_t threads[THREADS];
    int bad = 0;
    quiet_is(init_rwlock(&rwlock, kind), 0);
    /* A lock that is read-locked at the fork stays read-locked in the child, which unlocks it. */
    quiet_is(pthread_rwlock_rdlock(&rwlock), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(pthread_rwlock_trywrlock(&rwlock) == EBUSY && pthread_rwlock_unlock(&rwlock) == 0 &&
                      pthread_rwlock_wrlock(&rwlock) == 0
                  ? 0
                  : 1);
    is(child_status(pid), 0);
    quiet_is(pthread_rwlock_unlock(&rwlock), 0);
    set_flag(&stopping, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = start(contends, (void *)(i + 1));
    for (int i = 0; i < FORKS; i++) {
        pid = fork();
        if (pid == 0)
            child(kind);
        bad += child_status(pid) != 0;
    }
    set_flag(&stopping, 1);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    say("%d of %d children failed", bad, FORKS);
    quiet_is(bad, 0);
}

int main(void)
{
    size_t reserve = (size_t)1 << 36;
    char *area = mmap(NULL, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        abort();
    munmap(area, reserve);
    next_page = area + reserve / 4;
    for (int i = 0; i < RWLOCK_COUNT; i++) {
        say("== %s", RWLOCKS[i].name);
        unmapped(&RWLOCKS[i]);
        unmapped_after_a_reader(&RWLOCKS[i]);
        if (!RWLOCKS[i].shared)
            forked(&RWLOCKS[i]);
    }
    /* From here on a thread of the process has asynchronous cancellation. */
    for (int i = 0; i < RWLOCK_COUNT; i++) {
        say("== cancelled, %s", RWLOCKS[i].name);
        if (!RWLOCKS[i].shared)
            cancelled(&RWLOCKS[i]);
        unmapped(&RWLOCKS[i]);
    }
    return conform_end();
}
