/* What recording costs a lock: how often threads lock and unlock it while recording is off, and while it is on, in
   turn, in one process.

   cost THREADS SECTION WINDOW TURNS

   SECTION is the length of the critical section in nanoseconds; between two of them a thread computes as long. WINDOW
   is the length of a measurement in milliseconds. Prints a line for each turn: pairs a second with recording off and
   on. ONDECK_CONTROL names a page, and recordings go into the folder that ONDECK_COST_FOLDER names. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct control {
    char magic[8];
    uint32_t wanted;
    uint32_t unused;
    char folder[4080];
};

struct worker {
    _Alignas(128) volatile uint64_t pairs;
    pthread_t thread;
};

static struct { _Alignas(128) pthread_mutex_t lock; char rest[128]; } shared = {PTHREAD_MUTEX_INITIALIZER, ""};
static volatile int stop;
static long turns;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void turn(long count) {
    for (long i = 0; i < count; i++) __asm__ volatile("" ::: "memory");
}

static void *work(void *argument) {
    struct worker *worker = argument;
    while (!stop) {
        pthread_mutex_lock(&shared.lock);
        turn(turns);
        pthread_mutex_unlock(&shared.lock);
        turn(turns);
        worker->pairs++;
    }
    return NULL;
}

static uint64_t all(const struct worker *workers, int threads) {
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) sum += workers[i].pairs;
    return sum;
}

/* Has the recorder look at the page: it does when a thread finds a lock taken. */
static void look(void) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    struct timespec past = {1, 0};
    pthread_mutex_lock(&own);
    pthread_mutex_timedlock(&own, &past);
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int threads = atoi(arguments[1]);
    long section = atol(arguments[2]);
    unsigned window = (unsigned)atoi(arguments[3]) * 1000;
    static struct worker workers[64];
    int fd = open(getenv("ONDECK_CONTROL"), O_RDWR);
    struct control *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (threads < 1 || threads > 64 || page == MAP_FAILED) return 2;
    snprintf(page->folder, sizeof page->folder, "%s", getenv("ONDECK_COST_FOLDER"));
    uint64_t start = now();
    turn(20000000);
    turns = (long)(20000000.0 * (double)section / (double)(now() - start));
    for (int i = 0; i < threads; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (uint32_t number = 1; number <= (uint32_t)atoi(arguments[4]); number++) {
        double rate[2];
        for (int i = 0; i < 2; i++) {
            /* Every other turn begins with recording on. */
            int is_on = i ^ (number & 1);
            page->wanted = number << 2 | (is_on ? 1 : 2);
            look();
            usleep(window / 4);
            uint64_t begin = now(), before = all(workers, threads);
            usleep(window);
            rate[is_on] = (double)(all(workers, threads) - before) * 1e9 / (double)(now() - begin);
        }
        printf("%.0f %.0f\n", rate[0], rate[1]);
    }
    stop = 1;
    for (int i = 0; i < threads; i++) pthread_join(workers[i].thread, NULL);
    return 0;
}
