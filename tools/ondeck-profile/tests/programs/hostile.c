/* Situations that a recorder has to survive.

   hostile switch    a thread that waits while another recording begins: ONDECK_CONTROL names a page,
                     and the folders 1 and 2 are in the working directory
   hostile stack     the child of a fork, in which a thread with the smallest stack waits first
   hostile reuse     one mutex after another at the same address
   hostile relock    waiters of a condition variable that find their mutex locked when they are notified
   hostile full      threads that wait for many locks, once a line was read from standard input */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t crowded = PTHREAD_MUTEX_INITIALIZER;

static volatile pid_t taker;

static void *take(void *lock) {
    taker = gettid();
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* Waits until the thread that was started last has found its lock held, and sleeps. */
static void until_it_sleeps(void) {
    char path[64], state = 'R';
    while (!taker) usleep(100);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", taker);
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) abort();
        fclose(file);
        usleep(100);
    }
}

static pthread_t start_taker(pthread_mutex_t *lock, size_t stack) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (stack) pthread_attr_setstacksize(&attributes, stack);
    taker = 0;
    if (pthread_create(&thread, &attributes, take, lock)) abort();
    pthread_attr_destroy(&attributes);
    until_it_sleeps();
    return thread;
}

/* Starts another thread, with this much stack, that waits for a lock. */
static void wait_once(pthread_mutex_t *lock, size_t stack) {
    pthread_mutex_lock(lock);
    pthread_t thread = start_taker(lock, stack);
    pthread_mutex_unlock(lock);
    pthread_join(thread, NULL);
}

struct control {
    char magic[8];
    uint32_t wanted;
    uint32_t unused;
    char folder[4080];
};

static void record_into(struct control *page, const char *folder, uint32_t number) {
    char here[3000];
    if (!getcwd(here, sizeof here)) abort();
    snprintf(page->folder, sizeof page->folder, "%s/%s", here, folder);
    __atomic_store_n(&page->wanted, number << 2 | 1, __ATOMIC_SEQ_CST);
}

static volatile sig_atomic_t is_kept, may_go;

static void keep(int unused) {
    (void)unused;
    is_kept = 1;
    while (!may_go) usleep(100);
}

static int switches(void) {
    int fd = open(getenv("ONDECK_CONTROL"), O_RDWR);
    struct control *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
    struct timespec past = {1, 0};
    if (page == MAP_FAILED) abort();
    record_into(page, "1", 1);
    pthread_mutex_lock(&crowded);
    pthread_t thread = start_taker(&crowded, 0);
    /* The waiting thread does not notice the other recording before it has acquired the lock. */
    signal(SIGUSR1, keep);
    pthread_kill(thread, SIGUSR1);
    while (!is_kept) usleep(100);
    record_into(page, "2", 2);
    /* The first recorded wait begins the other recording. */
    pthread_mutex_lock(&other);
    pthread_mutex_timedlock(&other, &past);
    pthread_mutex_unlock(&crowded);
    may_go = 1;
    pthread_join(thread, NULL);
    for (int i = 0; i < 5; i++) wait_once(&crowded, 0);
    return 0;
}

static int stack(void) {
    pid_t child = fork();
    int status;
    if (child == 0) {
        wait_once(&crowded, PTHREAD_STACK_MIN);
        exit(0);
    }
    waitpid(child, &status, 0);
    return status != 0;
}

static pthread_mutex_t slot;

static int reuse(void) {
    for (int lock = 0; lock < 10; lock++) {
        pthread_mutex_init(&slot, NULL);
        wait_once(&slot, 0);
        for (int i = 0; i < 100; i++) take(&slot);
        wait_once(&slot, 0);
        pthread_mutex_destroy(&slot);
    }
    return 0;
}

static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int tells;

static void *wait_to_be_told(void *unused) {
    pthread_mutex_lock(&crowded);
    taker = gettid();
    while (!tells) pthread_cond_wait(&told, &crowded);
    tells = 0;
    pthread_mutex_unlock(&crowded);
    return unused;
}

/* The mutex that a waiter of a condition variable must reacquire stays locked for some time after the
   notification. */
static int relock(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        taker = 0;
        pthread_create(&thread, NULL, wait_to_be_told, NULL);
        until_it_sleeps();
        pthread_mutex_lock(&crowded);
        tells = 1;
        pthread_cond_signal(&told);
        usleep(20000);
        pthread_mutex_unlock(&crowded);
        pthread_join(thread, NULL);
    }
    return 0;
}

static int full(void) {
    static pthread_mutex_t locks[64];
    if (getchar() == EOF) abort();
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) wait_once(&locks[i], 0);
    return 0;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (!strcmp(what, "switch")) return switches();
    if (!strcmp(what, "stack")) return stack();
    if (!strcmp(what, "reuse")) return reuse();
    if (!strcmp(what, "relock")) return relock();
    if (!strcmp(what, "full")) return full();
    return 2;
}
