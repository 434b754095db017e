/* Process-shared objects between processes: children of fork, and a process without any preloaded library.
 *
 * `shared FD` is the other process of a pair; the objects are in the memory behind the file descriptor.
 * `shared FD NAME` uses those that are no mutexes and condition variables, and a semaphore of that name. */
#include "kinds.h"
#include "rwlock.h"

#include <semaphore.h>

enum { TURNS = 300, INCREMENTS = 3000, ROUNDS = 2000, MEETINGS = 200 };

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    long turn, value;
    pthread_rwlock_t rwlocks[2];
    pthread_spinlock_t spin;
    pthread_barrier_t barrier;
    sem_t ping, pong, exclusive;
    long rwlock_values[2][2], spin_value, semaphore_value, named_value;
    long serial, met[2];
    int here;
};

static struct shared *shared;

static int take_turns(long mine)
{
    int failures = conform_failures;
    for (long i = 0; i < TURNS; i++) {
        quiet_is(pthread_mutex_lock(&shared->mutex), 0);
        while (shared->turn % 2 != mine) {
            struct timespec later = from_now(CLOCK_MONOTONIC, 3600 * 1000);
            quiet_is(i % 2 ? pthread_cond_wait(&shared->condition, &shared->mutex)
                           : pthread_cond_clockwait(&shared->condition, &shared->mutex, CLOCK_MONOTONIC, &later),
                     0);
        }
        shared->turn++;
        quiet_is(i % 3 ? pthread_cond_signal(&shared->condition) : pthread_cond_broadcast(&shared->condition), 0);
        quiet_is(pthread_mutex_unlock(&shared->mutex), 0);
    }
    for (long i = 0; i < INCREMENTS; i++) {
        quiet_is(pthread_mutex_lock(&shared->mutex), 0);
        shared->value++;
        quiet_is(pthread_mutex_unlock(&shared->mutex), 0);
    }
    return conform_failures - failures;
}

static void read_and_write(long mine)
{
    for (int which = 0; which < 2; which++) {
        pthread_rwlock_t *rwlock = &shared->rwlocks[which];
        volatile long *values = shared->rwlock_values[which];
        for (int i = 0; i < ROUNDS; i++) {
            if (i % 3 == mine) {
                quiet_is(pthread_rwlock_wrlock(rwlock), 0);
                values[0]++;
                if (i % 32 == mine)
                    usleep(100);
                values[1]++;
            } else {
                struct timespec later = from_now(CLOCK_MONOTONIC, 3600 * 1000);
                quiet_is(i % 2 ? pthread_rwlock_rdlock(rwlock)
                               : pthread_rwlock_clockrdlock(rwlock, CLOCK_MONOTONIC, &later),
                         0);
                quiet_is(values[0] == values[1], 1);
            }
            quiet_is(pthread_rwlock_unlock(rwlock), 0);
        }
    }
}

static int use_the_others(long mine, const char *name)
{
    int failures = conform_failures;
    /* From here on both processes run. */
    __atomic_fetch_add(&shared->here, 1, __ATOMIC_SEQ_CST);
    await_flag(&shared->here, 2);
    read_and_write(mine);
    for (int i = 0; i < ROUNDS; i++) {
        quiet_is(pthread_spin_lock(&shared->spin), 0);
        *(volatile long *)&shared->spin_value += 1;
        if (i % 512 == 0)
            usleep(200);
        quiet_is(pthread_spin_unlock(&shared->spin), 0);
    }
    for (long i = 1; i <= MEETINGS; i++) {
        __atomic_store_n(&shared->met[mine], i, __ATOMIC_RELAXED);
        int result = pthread_barrier_wait(&shared->barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&shared->serial, 1, __ATOMIC_RELAXED);
        else
            quiet_is(result, 0);
        quiet_is(__atomic_load_n(&shared->met[!mine], __ATOMIC_RELAXED) >= i, 1);
    }
    sem_t *waits = mine ? &shared->ping : &shared->pong, *posts = mine ? &shared->pong : &shared->ping;
    sem_t *named = sem_open(name, 0);
    quiet_is(named == SEM_FAILED, 0);
    for (int i = 0; i < MEETINGS; i++) {
        struct timespec later = from_now(CLOCK_REALTIME, 3600 * 1000);
        quiet_is(sem_post(posts), 0);
        quiet_is(i % 2 ? sem_wait(waits) : sem_timedwait(waits, &later), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        quiet_is(sem_wait(&shared->exclusive), 0);
        *(volatile long *)&shared->semaphore_value += 1;
        quiet_is(sem_post(&shared->exclusive), 0);
        quiet_is(sem_wait(named), 0);
        *(volatile long *)&shared->named_value += 1;
        quiet_is(sem_post(named), 0);
    }
    quiet_is(sem_close(named), 0);
    return conform_failures - failures;
}

static int take_part(long mine, const char *name)
{
    return name == NULL ? take_turns(mine) : use_the_others(mine, name);
}

static void map(int fd)
{
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        abort();
    shared = memory;
}

/* The other process is a child of fork, or runs this program without LD_PRELOAD. */
static pid_t run_other(int fd, const char *name, int without)
{
    pid_t pid = fork();
    if (pid == 0) {
        char number[16];
        if (!without)
            _exit(take_part(1, name) != 0);
        snprintf(number, sizeof number, "%d", fd);
        unsetenv("LD_PRELOAD");
        execl("/proc/self/exe", "shared", number, name, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void one_kind(int type, enum flavour flavour, int fd)
{
    for (int without = 0; without < 2; without++) {
        is(init_condition(&shared->condition, CLOCK_REALTIME, PTHREAD_PROCESS_SHARED), 0);
        is(init_kind(&shared->mutex, type, flavour), 0);
        shared->turn = shared->value = 0;
        pid_t other = run_other(fd, NULL, without);
        is(take_turns(0), 0);
        is(child_status(other), 0);
        holds(shared->turn == 2 * TURNS && shared->value == 2 * INCREMENTS);
        is(pthread_cond_destroy(&shared->condition), 0);
        is(pthread_mutex_destroy(&shared->mutex), 0);
    }
}

static void the_others(int fd)
{
    for (int without = 0; without < 2; without++) {
        pthread_barrierattr_t attributes;
        char name[64];
        memset(shared, 0, sizeof *shared);
        is(init_rwlock(&shared->rwlocks[0], &RWLOCKS[4]), 0);
        is(init_rwlock(&shared->rwlocks[1], &RWLOCKS[5]), 0);
        is(pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED), 0);
        is(pthread_barrierattr_init(&attributes), 0);
        is(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
        is(pthread_barrier_init(&shared->barrier, &attributes, 2), 0);
        is(sem_init(&shared->ping, 1, 0), 0);
        is(sem_init(&shared->pong, 1, 0), 0);
        is(sem_init(&shared->exclusive, 1, 1), 0);
        snprintf(name, sizeof name, "/conform-shared-%d", (int)getpid());
        sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
        holds(named != SEM_FAILED);
        pid_t other = run_other(fd, name, without);
        is(take_part(0, name), 0);
        is(child_status(other), 0);
        is(sem_unlink(name), 0);
        is(sem_close(named), 0);
        long writes = (ROUNDS + 2) / 3 + (ROUNDS + 1) / 3;
        for (int which = 0; which < 2; which++) {
            holds(shared->rwlock_values[which][0] == writes && shared->rwlock_values[which][1] == writes);
            is(pthread_rwlock_destroy(&shared->rwlocks[which]), 0);
        }
        holds(shared->spin_value == 2 * ROUNDS);
        holds(shared->serial == MEETINGS);
        holds(shared->semaphore_value == 2 * ROUNDS && shared->named_value == 2 * ROUNDS);
        is(pthread_barrier_destroy(&shared->barrier), 0);
        is(sem_destroy(&shared->exclusive), 0);
    }
}

int main(int count, char **arguments)
{
    if (count > 1) {
        map(atoi(arguments[1]));
        return take_part(1, count > 2 ? arguments[2] : NULL) != 0;
    }
    int fd = memfd_create("shared", 0);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0)
        abort();
    map(fd);
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int flavour = PLAIN; flavour < FLAVOURS; flavour++) {
            if (!is_shared(flavour))
                continue;
            say("== %s %s", TYPES[type].name, FLAVOUR_NAMES[flavour]);
            one_kind(TYPES[type].type, flavour, fd);
        }
    }
    say("== others");
    the_others(fd);
    return conform_end();
}
