/* A mutex of a private kind in memory that processes share, each with one thread. glibc's trylock nevertheless
 * excludes the other process, and programs have come to rely on that. Its lock does not.
 *
 * ptrace(2) steps one process through its trylock, and the other process tries between two instructions. */
#include "kinds.h"

#include <sys/ptrace.h>

enum stage { BEFORE, IN, AFTER };

struct shared {
    pthread_mutex_t mutex;
    volatile int stage;
};

static int is_stopped(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child)
        abort();
    return WIFSTOPPED(status);
}

static int step(pid_t child)
{
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0)
        abort();
    return is_stopped(child);
}

/* Both processes try, this one when the other has executed the given number of instructions. False if the other had
 * already finished. */
static int try_within(struct shared *shared, int type, int instructions)
{
    quiet_is(init_kind(&shared->mutex, type, PLAIN), 0);
    shared->stage = BEFORE;
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            abort();
        raise(SIGSTOP);
        shared->stage = IN;
        int error = pthread_mutex_trylock(&shared->mutex);
        shared->stage = AFTER;
        _exit(error);
    }
    if (!is_stopped(child))
        abort();
    while (shared->stage == BEFORE)
        quiet_holds(step(child));
    for (int i = 0; i < instructions && shared->stage == IN; i++)
        quiet_holds(step(child));
    int was_within = shared->stage == IN;
    int own = pthread_mutex_trylock(&shared->mutex);
    if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0)
        abort();
    int others = child_status(child);
    if (!(own == 0 && others == EBUSY) && !(own == EBUSY && others == 0))
        fail("after %d instructions: %s here, %s there", instructions, code(own), code(others));
    return was_within;
}

static void attempts_exclude_each_other(struct shared *shared, int type)
{
    /* Leaves no work to the dynamic linker in the child. */
    quiet_is(init_kind(&shared->mutex, type, PLAIN), 0);
    quiet_is(pthread_mutex_trylock(&shared->mutex), 0);
    quiet_is(pthread_mutex_unlock(&shared->mutex), 0);
    int instructions = 0;
    while (try_within(shared, type, instructions))
        instructions++;
    holds(instructions > 1);
}

/* A mutex that one process has locked, by either function, is locked for the other; after the unlock the other can
 * lock it. */
static void one_after_the_other(struct shared *shared, int type)
{
    is(init_kind(&shared->mutex, type, PLAIN), 0);
    for (int by_trylock = 0; by_trylock < 2; by_trylock++) {
        is(by_trylock ? pthread_mutex_trylock(&shared->mutex) : pthread_mutex_lock(&shared->mutex), 0);
        pid_t child = fork();
        if (child == 0)
            _exit(pthread_mutex_trylock(&shared->mutex) != EBUSY);
        is(child_status(child), 0);
        is(pthread_mutex_unlock(&shared->mutex), 0);
        child = fork();
        if (child == 0) {
            int refused = by_trylock ? pthread_mutex_trylock(&shared->mutex) : pthread_mutex_lock(&shared->mutex);
            _exit(refused != 0 || pthread_mutex_unlock(&shared->mutex) != 0);
        }
        is(child_status(child), 0);
    }
    is(pthread_mutex_destroy(&shared->mutex), 0);
}

int main(void)
{
    struct shared *shared = shared_memory(sizeof *shared);
    for (int type = 0; type < TYPE_COUNT; type++) {
        say("== %s", TYPES[type].name);
        one_after_the_other(shared, TYPES[type].type);
        attempts_exclude_each_other(shared, TYPES[type].type);
    }
    return conform_end();
}
