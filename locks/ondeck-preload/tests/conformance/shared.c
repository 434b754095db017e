/* Process-shared objects between processes: children of fork, and a process without any preloaded library.
 *
 * `shared FD` is the other process of a pair; the objects are in the memory behind the file descriptor. */
#include "kinds.h"

enum { TURNS = 300, INCREMENTS = 3000 };

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    long turn, value;
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

static void map(int fd)
{
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        abort();
    shared = memory;
}

/* The other process runs this program without LD_PRELOAD. */
static pid_t run_without_preload(int fd)
{
    pid_t pid = fork();
    if (pid == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", fd);
        unsetenv("LD_PRELOAD");
        execl("/proc/self/exe", "shared", number, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static pid_t run_forked(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(take_turns(1) != 0);
    return pid;
}

static void one_kind(int type, enum flavour flavour, int fd)
{
    for (int without = 0; without < 2; without++) {
        pthread_condattr_t attributes;
        is(pthread_condattr_init(&attributes), 0);
        is(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
        is(pthread_cond_init(&shared->condition, &attributes), 0);
        is(init_kind(&shared->mutex, type, flavour), 0);
        shared->turn = shared->value = 0;
        pid_t other = without ? run_without_preload(fd) : run_forked();
        is(take_turns(0), 0);
        is(child_status(other), 0);
        holds(shared->turn == 2 * TURNS && shared->value == 2 * INCREMENTS);
        is(pthread_cond_destroy(&shared->condition), 0);
        is(pthread_mutex_destroy(&shared->mutex), 0);
    }
}

int main(int count, char **arguments)
{
    if (count > 1) {
        map(atoi(arguments[1]));
        return take_turns(1) != 0;
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
    return conform_end();
}
