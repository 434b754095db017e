/* A program with one hot lock, for ci/package.sh: a report has to name `orders_lock`, this file, the line of its
 * declaration, and `book_order`. The other lock is used as often, by one thread, and is not hot. With an argument it
 * does not end. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, WORK = 2000 };

pthread_mutex_t orders_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t quiet_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long booked;
static int orders = 20000;

__attribute__((noinline)) static void book_order(void)
{
    pthread_mutex_lock(&orders_lock);
    for (int step = 0; step < WORK; step++)
        booked++;
    pthread_mutex_unlock(&orders_lock);
}

static void *clerk(void *unused)
{
    (void)unused;
    for (int order = 0; order < orders; order++)
        book_order();
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        orders = INT_MAX;
    pthread_t clerks[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&clerks[i], NULL, clerk, NULL) != 0)
            return 1;
    for (int order = 0; order < orders; order++) {
        pthread_mutex_lock(&quiet_lock);
        pthread_mutex_unlock(&quiet_lock);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(clerks[i], NULL);
    printf("%lu\n", booked);
    return booked == (unsigned long)THREADS * orders * WORK ? 0 : 1;
}
