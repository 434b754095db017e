/* An object's memory ends as soon as POSIX allows it: after another thread's unlock or broadcast. Each object
 * has its own page, which is unmapped at once and whose address is not reused, so an access that comes too
 * late is a segmentation fault. */
#include "kinds.h"
#include "rwlock.h"

enum { THREADS = 3, ROUNDS = 240, PAGE = 4096 };

struct object {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_rwlock_t rwlock;
    int references, ready;
};

static struct object *current;
static pthread_mutex_t keeper = PTHREAD_MUTEX_INITIALIZER;
static int round_begun, round_left, waiting;
static char *next_page;

static struct object *map_object(void)
{
    void *page = mmap(next_page, PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page != (void *)next_page)
        abort();
    next_page += PAGE;
    return page;
}

static void unmap_object(struct object *object)
{
    if (munmap(object, PAGE) != 0)
        abort();
}

/* The lock of the objects is their reader-writer lock. */
static int by_rwlock;

/* The last reference is dropped: lock, count, unlock, and the thread that counted to zero frees the page. One of the
 * threads takes the mutex with a deadline, or reads first. */
static void drop(struct object *object, int round, int other_way)
{
    struct timespec later = from_now(CLOCK_REALTIME, 3600 * 1000);
    if (by_rwlock && other_way) {
        quiet_is(pthread_rwlock_rdlock(&object->rwlock), 0);
        quiet_is(pthread_rwlock_unlock(&object->rwlock), 0);
    }
    quiet_is(by_rwlock   ? pthread_rwlock_wrlock(&object->rwlock)
             : other_way ? pthread_mutex_timedlock(&object->mutex, &later)
                         : pthread_mutex_lock(&object->mutex),
             0);
    int last = --object->references == 0;
    if (round % 16 == 0 && !last)
        sched_yield();
    quiet_is(by_rwlock ? pthread_rwlock_unlock(&object->rwlock) : pthread_mutex_unlock(&object->mutex), 0);
    if (last) {
        quiet_is(by_rwlock ? pthread_rwlock_destroy(&object->rwlock) : pthread_mutex_destroy(&object->mutex), 0);
        unmap_object(object);
    }
}

static void *dropper(void *argument)
{
    for (int round = 1; round <= ROUNDS; round++) {
        await_flag(&round_begun, round);
        drop(current, round, argument != NULL);
        __atomic_fetch_add(&round_left, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void references(int type, enum flavour flavour, const struct rwlock_kind *kind)
{
    pthread_t threads[THREADS];
    by_rwlock = kind != NULL;
    set_flag(&round_begun, 0);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(dropper, i == 1 ? &keeper : NULL);
    for (int round = 1; round <= ROUNDS; round++) {
        current = map_object();
        current->references = THREADS;
        quiet_is(kind ? init_rwlock(&current->rwlock, kind) : init_kind(&current->mutex, type, flavour), 0);
        set_flag(&round_left, 0);
        set_flag(&round_begun, round);
        await_flag(&round_left, THREADS);
    }
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
}

/* The last reader lets a writer continue, which frees the page. */
static void *write_and_free(void *argument)
{
    struct object *object = argument;
    set_flag(&waiting, 1);
    quiet_is(pthread_rwlock_wrlock(&object->rwlock), 0);
    quiet_is(pthread_rwlock_unlock(&object->rwlock), 0);
    quiet_is(pthread_rwlock_destroy(&object->rwlock), 0);
    unmap_object(object);
    return NULL;
}

static void freed_after_a_reader(const struct rwlock_kind *kind)
{
    for (int round = 0; round < ROUNDS / 6; round++) {
        struct object *object = map_object();
        quiet_is(init_rwlock(&object->rwlock, kind), 0);
        quiet_is(pthread_rwlock_rdlock(&object->rwlock), 0);
        set_flag(&waiting, 0);
        pthread_t thread = start(write_and_free, object);
        await_flag(&waiting, 1);
        if (round % 4 == 0)
            usleep(300);
        quiet_is(pthread_rwlock_unlock(&object->rwlock), 0);
        finish(thread);
    }
}

/* A waiter that was notified under the mutex frees both objects as soon as it holds the mutex. */
static void *free_when_ready(void *argument)
{
    struct object *object = argument;
    quiet_is(pthread_mutex_lock(&object->mutex), 0);
    set_flag(&waiting, 1);
    while (!object->ready)
        quiet_is(pthread_cond_wait(&object->condition, &object->mutex), 0);
    quiet_is(pthread_mutex_unlock(&object->mutex), 0);
    quiet_is(pthread_cond_destroy(&object->condition), 0);
    quiet_is(pthread_mutex_destroy(&object->mutex), 0);
    unmap_object(object);
    return NULL;
}

static void freed_by_the_waiter(int type)
{
    for (int round = 0; round < ROUNDS / 6; round++) {
        struct object *object = map_object();
        quiet_is(init_kind(&object->mutex, type, PLAIN), 0);
        quiet_is(pthread_cond_init(&object->condition, NULL), 0);
        set_flag(&waiting, 0);
        pthread_t thread = start(free_when_ready, object);
        await_flag(&waiting, 1);
        quiet_is(pthread_mutex_lock(&object->mutex), 0);
        object->ready = 1;
        quiet_is(round % 2 ? pthread_cond_signal(&object->condition) : pthread_cond_broadcast(&object->condition),
                 0);
        quiet_is(pthread_mutex_unlock(&object->mutex), 0);
        finish(thread);
    }
}

/* The broadcasting thread destroys the condition variable at once. The waiters, which are awake but may not
 * have run, must no longer access it, unless the destruction waits for them. */
static void *wait_with_keeper(void *argument)
{
    struct object *object = argument;
    quiet_is(pthread_mutex_lock(&keeper), 0);
    set_flag(&waiting, waiting + 1);
    int round = round_begun;
    while (round_begun == round)
        quiet_is(pthread_cond_wait(&object->condition, &keeper), 0);
    quiet_is(pthread_mutex_unlock(&keeper), 0);
    return NULL;
}

static void freed_by_the_broadcaster(int under_mutex)
{
    for (int round = 0; round < ROUNDS / 6; round++) {
        pthread_t threads[THREADS];
        struct object *object = map_object();
        quiet_is(pthread_cond_init(&object->condition, NULL), 0);
        set_flag(&waiting, 0);
        for (int i = 0; i < THREADS; i++)
            threads[i] = start(wait_with_keeper, object);
        await_flag(&waiting, THREADS);
        quiet_is(pthread_mutex_lock(&keeper), 0);
        round_begun++;
        if (!under_mutex)
            quiet_is(pthread_mutex_unlock(&keeper), 0);
        quiet_is(pthread_cond_broadcast(&object->condition), 0);
        if (under_mutex)
            quiet_is(pthread_mutex_unlock(&keeper), 0);
        quiet_is(pthread_cond_destroy(&object->condition), 0);
        unmap_object(object);
        for (int i = 0; i < THREADS; i++)
            finish(threads[i]);
    }
}

static void *is_asynchronous(void *unused UNUSED)
{
    quiet_is(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    return NULL;
}

int main(void)
{
    /* Addresses that no other allocation gets: reserved, unmapped, and taken page by page from the middle. */
    size_t reserve = (size_t)1 << 36;
    char *area = mmap(NULL, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        abort();
    munmap(area, reserve);
    next_page = area + reserve / 4;

    for (int type = 0; type < TYPE_COUNT; type++) {
        say("references, %s", TYPES[type].name);
        references(TYPES[type].type, PLAIN, NULL);
    }
    say("references, shared");
    references(-1, SHARED, NULL);
    for (int type = 0; type < TYPE_COUNT; type++) {
        say("freed by the waiter, %s", TYPES[type].name);
        freed_by_the_waiter(TYPES[type].type);
    }
    say("freed by the broadcaster");
    freed_by_the_broadcaster(0);
    say("freed by the broadcaster under the mutex");
    freed_by_the_broadcaster(1);
    /* Once a thread of the process has had asynchronous cancellation, the shim locks in another way. */
    for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
        if (asynchronous)
            finish(start(is_asynchronous, NULL));
        for (int kind = 0; kind < RWLOCK_COUNT; kind++) {
            say("references, asynchronous %d, %s", asynchronous, RWLOCKS[kind].name);
            references(-1, PLAIN, &RWLOCKS[kind]);
            freed_after_a_reader(&RWLOCKS[kind]);
        }
    }
    references(-1, PLAIN, NULL);
    return conform_end();
}
