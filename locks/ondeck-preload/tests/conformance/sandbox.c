/* A program that forbids itself all system calls that its own locks do not need, once while its threads
 * already contend. A lock may use other system calls only if it can do without them. */
#include "kinds.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

enum { THREADS = 4, ROUNDS = 2000 };

static pthread_mutex_t mutexes[TYPE_COUNT];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static long counters[TYPE_COUNT], turn;
static int go_on, ready;

static void forbid(void)
{
    static const int FORBIDDEN[] = {SYS_membarrier, SYS_madvise,   SYS_sched_yield,     SYS_sched_getaffinity,
                                    SYS_getcpu,     SYS_gettid,    SYS_nanosleep,       SYS_clock_nanosleep,
                                    SYS_mlock,      SYS_sched_getparam};
    enum { COUNT = sizeof FORBIDDEN / sizeof *FORBIDDEN };
    struct sock_filter filter[COUNT + 3];
    filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++)
        filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)FORBIDDEN[i],
                                                     (unsigned char)(COUNT - i), 0);
    filter[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = {.len = COUNT + 3, .filter = filter};
    is(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    /* All threads get the filter. */
    is((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program), 0);
    holds(syscall(SYS_membarrier, 0, 0, 0) < 0 && errno == EPERM);
}

static void *contends(void *argument)
{
    long mine = (long)(intptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        /* The filter is installed while these rounds run. */
        if (i == ROUNDS / 2) {
            __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
            while (!get_flag(&go_on)) {
                quiet_is(pthread_mutex_lock(&mutexes[0]), 0);
                quiet_is(pthread_mutex_unlock(&mutexes[0]), 0);
            }
        }
        int m = i % TYPE_COUNT;
        quiet_is(pthread_mutex_lock(&mutexes[m]), 0);
        counters[m]++;
        quiet_is(pthread_mutex_unlock(&mutexes[m]), 0);
        if (i % 8 == 0) {
            quiet_is(pthread_mutex_lock(&mutexes[0]), 0);
            while (turn % THREADS != mine)
                quiet_is(pthread_cond_wait(&condition, &mutexes[0]), 0);
            turn++;
            quiet_is(pthread_cond_broadcast(&condition), 0);
            quiet_is(pthread_mutex_unlock(&mutexes[0]), 0);
        }
    }
    return NULL;
}

static void run(int filter_is_there)
{
    pthread_t threads[THREADS];
    memset(counters, 0, sizeof counters);
    turn = ready = 0;
    set_flag(&go_on, filter_is_there);
    for (intptr_t i = 0; i < THREADS; i++)
        threads[i] = start(contends, (void *)i);
    await_flag(&ready, THREADS);
    if (!filter_is_there)
        forbid();
    set_flag(&go_on, 1);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    for (int m = 0; m < TYPE_COUNT; m++)
        holds(counters[m] == THREADS * ROUNDS / TYPE_COUNT);
    holds(turn == THREADS * ROUNDS / 8);
}

int main(void)
{
    for (int m = 0; m < TYPE_COUNT; m++)
        is(init_kind(&mutexes[m], TYPES[m].type, PLAIN), 0);
    say("== the filter comes amid contention");
    run(0);
    say("== the filter is there");
    run(1);
    return conform_end();
}
