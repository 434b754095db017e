/* Programs for `ondeck run --deadlocks`, by name: wrong ones, whose report names `inner` and `outer`, and right ones, of
   which there is none. */

#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define APART __attribute__((noinline, noclone))

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
                       third = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER, other_shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static int is_met, is_ready;

APART static void inner(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    __asm__ volatile("");
}

APART static void outer(pthread_mutex_t *held, pthread_mutex_t *wanted)
{
    pthread_mutex_lock(held);
    if (is_met)
        pthread_barrier_wait(&both);
    inner(wanted);
    pthread_mutex_unlock(held);
    __asm__ volatile("");
}

typedef void part(void);

static void *run(void *what)
{
    (*(part **)what)();
    return NULL;
}

/* Runs the parts in threads: one after the other, or at once. */
static void in_threads(int at_once, part **parts, size_t count)
{
    pthread_t threads[8];
    for (size_t at = 0; at < count; at++) {
        assert(pthread_create(&threads[at], NULL, run, &parts[at]) == 0);
        if (!at_once)
            pthread_join(threads[at], NULL);
    }
    for (size_t at = 0; at_once && at < count; at++)
        pthread_join(threads[at], NULL);
}

#define ONE_BY_ONE(...) in_threads(0, (part *[]){__VA_ARGS__}, COUNT(((part *[]){__VA_ARGS__})))
#define AT_ONCE(...) in_threads(1, (part *[]){__VA_ARGS__}, COUNT(((part *[]){__VA_ARGS__})))

static void first_second(void) { outer(&first, &second); }
static void second_first(void) { outer(&second, &first); }

/* Wrong ones. */

static void inversion(void) { ONE_BY_ONE(first_second, second_first); }

static void deadlock(void)
{
    is_met = 1;
    pthread_barrier_init(&both, NULL, 2);
    AT_ONCE(first_second, second_first);
}

static void itself(void) { outer(&first, &first); }
static void alone(void) { ONE_BY_ONE(itself); }

APART static void outer_read(void)
{
    pthread_rwlock_rdlock(&shared);
    inner(&first);
    pthread_rwlock_unlock(&shared);
}

static void first_write(void)
{
    pthread_mutex_lock(&first);
    pthread_rwlock_wrlock(&shared);
    pthread_rwlock_unlock(&shared);
    pthread_mutex_unlock(&first);
}

static void reader(void) { ONE_BY_ONE(outer_read, first_write); }

/* It keeps `second` while it waits, after which it needs `first`. */
APART static void outer_wait(void)
{
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
    while (is_ready != 2)
        pthread_cond_wait(&condition, &first);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
}

static void notify(void)
{
    while (!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE))
        sched_yield();
    pthread_mutex_lock(&first);
    is_ready = 2;
    pthread_cond_signal(&condition);
    inner(&second);
    pthread_mutex_unlock(&first);
}

static void waiting(void) { AT_ONCE(outer_wait, notify); }

static void child(void)
{
    outer(&first, &second);
    if (fork() == 0) {
        inversion();
        _exit(0);
    }
    wait(NULL);
}

static void forked(void) { ONE_BY_ONE(child); }

static mtx_t of_c11[2];

static void c11_first(void)
{
    mtx_lock(&of_c11[0]);
    mtx_lock(&of_c11[1]);
    mtx_unlock(&of_c11[1]);
    mtx_unlock(&of_c11[0]);
}

static void c11_second(void)
{
    mtx_lock(&of_c11[1]);
    assert(mtx_trylock(&of_c11[0]) == thrd_success);
    mtx_unlock(&of_c11[0]);
    mtx_lock(&of_c11[0]);
    mtx_unlock(&of_c11[0]);
    mtx_unlock(&of_c11[1]);
}

static void c11(void)
{
    mtx_init(&of_c11[0], mtx_plain);
    mtx_init(&of_c11[1], mtx_plain);
    ONE_BY_ONE(c11_first, c11_second);
}

/* Right ones. */

static void both_or_none(pthread_mutex_t *one, pthread_mutex_t *other)
{
    for (;;) {
        pthread_mutex_lock(one);
        if (pthread_mutex_trylock(other) == 0)
            break;
        pthread_mutex_unlock(one);
        sched_yield();
    }
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(one);
}

static void try_second(void) { for (int at = 0; at < 200; at++) both_or_none(&first, &second); }
static void try_first(void) { for (int at = 0; at < 200; at++) both_or_none(&second, &first); }
static void back_off(void) { AT_ONCE(try_second, try_first); }

/* Locks as `std::mutex` makes them, without a call, in memory that was another lock's. */
static void used_again(void)
{
    pthread_mutex_t *two = calloc(2, sizeof *two);
    outer(&two[0], &two[1]);
    memcpy(two, &(pthread_mutex_t[2]){PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER}, 2 * sizeof *two);
    outer(&two[1], &two[0]);
    pthread_rwlock_t *readers = calloc(2, sizeof *readers);
    for (int at = 0; at < 2; at++) {
        pthread_rwlock_wrlock(&readers[at]);
        pthread_rwlock_wrlock(&readers[!at]);
        pthread_rwlock_unlock(&readers[!at]);
        pthread_rwlock_unlock(&readers[at]);
        memset(readers, 0, 2 * sizeof *readers);
    }
}

static void reuse(void) { ONE_BY_ONE(used_again); }

static void lock_again(void)
{
    pthread_mutexattr_t kind;
    pthread_mutex_t recursive, checked;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    pthread_mutex_lock(&recursive);
    outer(&first, &recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    inner(&first);
    pthread_mutex_unlock(&recursive);
    outer(&first, &second);
    pthread_mutex_lock(&checked);
    assert(pthread_mutex_lock(&checked) == EDEADLK);
    usleep(300 * 1000);
    pthread_mutex_unlock(&checked);
}

static void recursive(void) { ONE_BY_ONE(lock_again); }

static void read_both(pthread_rwlock_t *one, pthread_rwlock_t *other)
{
    pthread_rwlock_rdlock(one);
    pthread_rwlock_rdlock(other);
    pthread_rwlock_unlock(other);
    pthread_rwlock_unlock(one);
}

static void read_shared(void) { read_both(&shared, &other_shared); }
static void read_other(void) { read_both(&other_shared, &shared); }
static void readers(void) { ONE_BY_ONE(read_shared, read_other); }

/* It has released `first` when `notify_right` locks the two in the other order. */
static void wait_right(void)
{
    pthread_mutex_lock(&first);
    while (!is_ready)
        pthread_cond_wait(&condition, &first);
    pthread_mutex_unlock(&first);
    first_second();
}

static void notify_right(void)
{
    pthread_mutex_lock(&first);
    is_ready = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&first);
}

static void wait_in_time(void)
{
    struct timespec end = {0, 0};
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&third);
    pthread_cond_timedwait(&condition, &third, &end);
    pthread_mutex_unlock(&third);
    pthread_mutex_unlock(&second);
}

static void conditions(void) { AT_ONCE(wait_right, wait_right, notify_right, wait_in_time); }

static void until(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    pthread_mutex_lock(&second);
    if (pthread_mutex_timedlock(&first, &end) == 0)
        pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
}

static void timed(void) { ONE_BY_ONE(first_second, until); }

static void orders_of_child(void)
{
    outer(&first, &second);
    if (fork() == 0) {
        ONE_BY_ONE(second_first);
        _exit(0);
    }
    wait(NULL);
}

static void anew(void) { ONE_BY_ONE(orders_of_child); }

/* A lock that another thread unlocks is not held. */
static void take(void) { pthread_mutex_lock(&first); }
static void give(void) { pthread_mutex_unlock(&first); }
static void only_second(void) { inner(&second); }
static void handed(void)
{
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    ONE_BY_ONE(only_second);
    pthread_mutex_lock(&first);
    ONE_BY_ONE(give);
    inner(&second);
    ONE_BY_ONE(take, give, second_first);
}

static void unlock(void *lock) { pthread_mutex_unlock(lock); }

static void *wait_for_ever(void *unused)
{
    pthread_mutex_lock(&first);
    pthread_cleanup_push(unlock, &first);
    is_ready = 1;
    for (;;)
        pthread_cond_wait(&condition, &first);
    pthread_cleanup_pop(0);
    return unused;
}

static void cancelled(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    for (int ready = 0; !ready;) {
        pthread_mutex_lock(&first);
        ready = is_ready;
        pthread_mutex_unlock(&first);
    }
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    ONE_BY_ONE(first_second);
    inner(&first);
}

/* More threads than there is room for, in a program whose orders are then wrong. */
static void many(void)
{
    for (int at = 0; at < 1500; at++)
        ONE_BY_ONE(only_second);
    inversion();
}

static void on_signal(int number)
{
    (void)number;
    inner(&third);
}

static void interrupted(void)
{
    for (int at = 0; at < 20000; at++)
        first_second();
}

static void signals(void)
{
    pthread_t thread;
    part *what = interrupted;
    signal(SIGUSR1, on_signal);
    pthread_create(&thread, NULL, run, &what);
    for (int at = 0; at < 500; at++) {
        pthread_kill(thread, SIGUSR1);
        usleep(50);
    }
    pthread_join(thread, NULL);
}

int main(int count, char **words)
{
    static const struct { const char *name; part *run; } programs[] = {
#define PROGRAM(name) {#name, name}
        PROGRAM(inversion), PROGRAM(deadlock), PROGRAM(alone), PROGRAM(reader), PROGRAM(waiting), PROGRAM(forked),
        PROGRAM(c11), PROGRAM(many),
        PROGRAM(back_off), PROGRAM(reuse), PROGRAM(recursive), PROGRAM(readers), PROGRAM(conditions), PROGRAM(timed),
        PROGRAM(anew), PROGRAM(handed), PROGRAM(cancelled), PROGRAM(signals),
    };
    for (size_t at = 0; count == 2 && at < COUNT(programs); at++)
        if (strcmp(words[1], programs[at].name) == 0) {
            programs[at].run();
            return 0;
        }
    return 1;
}
