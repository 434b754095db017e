// Threads that wait, each under a name of its own and in a function of its own, for what other threads keep. Prints
// "ready" when all keepers have what they keep, and runs until it is killed.
//
//   waits            locks, notifications and sleeps
//   waits deadlock   also two threads that wait for each other, and one that waits for itself
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline)) static void
// A function whose last call is not a jump has a frame.
#define STAY __asm__ volatile("")

static pthread_mutex_t orders_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t error_lock, robust_lock, heir_lock;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t index_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t news_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static sem_t tickets;
static pthread_barrier_t gate;
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

static atomic_int steps;
static pthread_t counter;
volatile unsigned long count;

// A thread has what it keeps.
static void step(void) { atomic_fetch_add(&steps, 1); }

FUNCTION refresh_orders(void)
{
    pthread_mutex_lock(&orders_lock);
    pthread_mutex_lock(&error_lock);
    pthread_mutex_lock(&robust_lock);
    pthread_mutex_lock(&heir_lock);
    step();
    sleep(100000);
    STAY;
}
FUNCTION take_orders(void) { pthread_mutex_lock(&orders_lock); STAY; }
FUNCTION take_error(void) { pthread_mutex_lock(&error_lock); STAY; }
FUNCTION take_robust(void) { pthread_mutex_lock(&robust_lock); STAY; }
FUNCTION take_heir(void) { pthread_mutex_lock(&heir_lock); STAY; }
FUNCTION leave_locked(void) { pthread_mutex_lock(&left_lock); step(); }
FUNCTION take_left(void) { pthread_mutex_lock(&left_lock); STAY; }
FUNCTION write_table(void) { pthread_rwlock_wrlock(&table_lock); step(); poll(0, 0, -1); STAY; }
FUNCTION read_table(void) { pthread_rwlock_rdlock(&table_lock); STAY; }
FUNCTION rewrite_table(void) { pthread_rwlock_wrlock(&table_lock); STAY; }
FUNCTION read_index(void) { pthread_rwlock_rdlock(&index_lock); step(); poll(0, 0, -1); STAY; }
FUNCTION write_index(void) { pthread_rwlock_wrlock(&index_lock); STAY; }
FUNCTION await_news(void)
{
    pthread_mutex_lock(&news_lock);
    for (;;) pthread_cond_wait(&news, &news_lock);
}
FUNCTION await_ticket(void) { sem_wait(&tickets); STAY; }
FUNCTION await_gate(void) { pthread_barrier_wait(&gate); STAY; }
FUNCTION count_up(void) { for (;;) if (++count % 100000 == 0) poll(0, 0, 1); }
FUNCTION join_counter(void) { pthread_join(counter, NULL); STAY; }
FUNCTION read_pipe(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1) STAY;
}
FUNCTION lock_forwards(void)
{
    pthread_mutex_lock(&first_lock);
    step();
    while (steps < 6) poll(0, 0, 1);
    pthread_mutex_lock(&second_lock);
    STAY;
}
FUNCTION lock_backwards(void)
{
    pthread_mutex_lock(&second_lock);
    step();
    while (steps < 6) poll(0, 0, 1);
    pthread_mutex_lock(&first_lock);
    STAY;
}
FUNCTION lock_twice(void) { pthread_mutex_lock(&own_lock); pthread_mutex_lock(&own_lock); STAY; }

typedef void (*work)(void);
struct start { const char *name; work work; };
static void *thread(void *start)
{
    pthread_setname_np(pthread_self(), ((struct start *)start)->name);
    ((struct start *)start)->work();
    return NULL;
}
static pthread_t start(struct start *what)
{
    pthread_t made;
    pthread_create(&made, NULL, thread, what);
    return made;
}

static struct start keepers[] = {{"refresher", refresh_orders}, {"leaver", leave_locked}, {"writer", write_table},
    {"indexer", read_index}};
static struct start others[] = {{"taker", take_orders}, {"taker too", take_orders}, {"error", take_error},
    {"robust", take_robust}, {"heir", take_heir}, {"late", take_left}, {"reader", read_table},
    {"rewriter", rewrite_table}, {"patient", write_index}, {"hearer", await_news}, {"guest", await_ticket},
    {"runner", await_gate}, {"joiner", join_counter}, {"plumber", read_pipe}};
static struct start deadlocked[] = {{"forwards", lock_forwards}, {"backwards", lock_backwards}, {"twice", lock_twice}};
static struct start counting = {"counter", count_up};
#define EACH(of, list) for (struct start *of = list; of < list + sizeof list / sizeof *list; of++)

static void make(pthread_mutex_t *mutex, int kind, int robust, int protocol)
{
    pthread_mutexattr_t wanted;
    pthread_mutexattr_init(&wanted);
    pthread_mutexattr_settype(&wanted, kind);
    pthread_mutexattr_setrobust(&wanted, robust);
    pthread_mutexattr_setprotocol(&wanted, protocol);
    pthread_mutex_init(mutex, &wanted);
}

int main(int count_of_arguments, char **arguments)
{
    sem_init(&tickets, 0, 0);
    pthread_barrier_init(&gate, NULL, 2);
    make(&error_lock, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    make(&robust_lock, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    make(&heir_lock, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    EACH(one, keepers) start(one);
    while (steps < 4) poll(0, 0, 1);
    counter = start(&counting);
    EACH(one, others) start(one);
    if (count_of_arguments > 1 && strcmp(arguments[1], "deadlock") == 0) EACH(one, deadlocked) start(one);
    printf("ready %lx\n", (unsigned long)&count);
    fflush(stdout);
    for (;;) pause();
}
