/* Situations that a recorder of all operations has to survive: more threads than it has room for, each kind of
   mutex, locks in memory that is freed, signal handlers that lock, and children of forks. Exits with 0 if each call
   had the same result as without a recorder. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 200, ROUNDS = 300, FORKS = 20 };

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, handled = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t all;
static int tokens;

static void expect(int it) {
    if (!it) abort();
}

static void on_alarm(int signal) {
    (void)signal;
    if (!pthread_mutex_trylock(&handled)) pthread_mutex_unlock(&handled);
}

static void lock_in_freed_memory(void) {
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    expect(mutex && !pthread_mutex_init(mutex, NULL));
    expect(!pthread_mutex_lock(mutex) && !pthread_mutex_unlock(mutex));
    memset(mutex, 0xee, sizeof *mutex);
    free(mutex);
}

static void wait_for_a_token(void) {
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec = (soon.tv_nsec + 1000) % 1000000000;
    if (pthread_mutex_timedlock(&plain, &soon)) return;
    if (tokens > 0)
        tokens -= 1;
    else
        pthread_cond_timedwait(&changed, &plain, &soon);
    expect(!pthread_mutex_unlock(&plain));
}

static void *work(void *unused) {
    pthread_barrier_wait(&all);
    for (int round = 0; round < ROUNDS; round += 1) {
        expect(!pthread_mutex_lock(&plain));
        tokens += 1;
        pthread_cond_signal(&changed);
        expect(!pthread_mutex_unlock(&plain));
        expect(!pthread_mutex_lock(&recursive) && !pthread_mutex_lock(&recursive));
        expect(!pthread_mutex_unlock(&recursive) && !pthread_mutex_unlock(&recursive));
        expect(!pthread_mutex_lock(&checked) && pthread_mutex_lock(&checked));
        expect(!pthread_mutex_unlock(&checked) && pthread_mutex_unlock(&checked));
        expect(!pthread_mutex_lock(&adaptive) && pthread_mutex_trylock(&adaptive));
        expect(!pthread_mutex_unlock(&adaptive));
        expect(!pthread_rwlock_rdlock(&rwlock) && !pthread_rwlock_unlock(&rwlock));
        expect(!pthread_rwlock_wrlock(&rwlock) && !pthread_rwlock_unlock(&rwlock));
        lock_in_freed_memory();
        wait_for_a_token();
    }
    return unused;
}

static void fork_once(void) {
    int status;
    pid_t child = fork();
    if (!child) {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        for (int round = 0; round < 2000; round += 1) expect(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
        _exit(7);
    }
    while (waitpid(child, &status, 0) < 0) continue;
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(void) {
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}};
    pthread_t threads[THREADS];
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    expect(!pthread_barrier_init(&all, NULL, THREADS));
    for (int thread = 0; thread < THREADS; thread += 1) expect(!pthread_create(&threads[thread], NULL, work, NULL));
    for (int number = 0; number < FORKS; number += 1) fork_once();
    for (int thread = 0; thread < THREADS; thread += 1) pthread_join(threads[thread], NULL);
    pthread_barrier_destroy(&all);
    return 0;
}
