/* One hot lock and one innocent one. A single thread holds the hot lock for long, and others hold it briefly:
   they wait, and the long holder must be blamed. One thread waits once for a lock on the heap.

   hot MILLISECONDS [fork|exec|kill]   the last word is the way in which the process ends */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t innocent = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[24];
    pthread_mutex_t lock;
} hot = {"hot", PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t *allocated;
static volatile int stop;
static volatile long sum;

static void pause_for(long nanoseconds) {
    struct timespec length = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&length, NULL);
}

static void turn(long count) {
    for (long i = 0; i < count; i++) sum += i;
}

__attribute__((noinline)) void hold_for_long(void) {
    pthread_mutex_lock(&hot.lock);
    turn(200000);
    pthread_mutex_unlock(&hot.lock);
}

__attribute__((noinline)) void take_shortly(void) {
    pthread_mutex_lock(&hot.lock);
    sum++;
    pthread_mutex_unlock(&hot.lock);
}

__attribute__((noinline)) void take_innocent(void) {
    pthread_mutex_lock(&innocent);
    sum++;
    pthread_mutex_unlock(&innocent);
}

static void *culprit(void *unused) {
    while (!stop) {
        hold_for_long();
        turn(1000);
    }
    return unused;
}

static void *victim(void *unused) {
    while (!stop) {
        take_shortly();
        take_innocent();
        pause_for(100000);
    }
    return unused;
}

static void *once(void *unused) {
    pthread_mutex_lock(allocated);
    pthread_mutex_unlock(allocated);
    return unused;
}

__attribute__((noinline)) void initialize(void) {
    allocated = malloc(sizeof *allocated);
    pthread_mutex_init(allocated, NULL);
}

static void work(long milliseconds) {
    pthread_t threads[4], waiter;
    initialize();
    pthread_mutex_lock(allocated);
    pthread_create(&waiter, NULL, once, NULL);
    pause_for(20000000);
    pthread_mutex_unlock(allocated);
    pthread_join(waiter, NULL);
    stop = 0;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i ? victim : culprit, NULL);
    pause_for(milliseconds * 1000000);
    stop = 1;
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
    long milliseconds = count > 1 ? atol(arguments[1]) : 300;
    const char *what = count > 2 ? arguments[2] : "";
    work(milliseconds);
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            work(milliseconds);
            exit(0);
        }
        int status;
        waitpid(child, &status, 0);
    }
    if (!strcmp(what, "exec")) execl(arguments[0], arguments[0], arguments[1], (char *)NULL);
    if (!strcmp(what, "kill")) kill(getpid(), 9);
    return 0;
}
