/*
 * The names and statistics of mutexes: two threads share an account, and one of them holds its
 * mutex for long. Compile with -DONDECK_STATS. The numbers are on stdout, the warning on stderr.
 */
#include <ondeck.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static ondeck_mutex_t accounts = ONDECK_MUTEX_INIT;
static long balance;

static void sleep_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, 0);
}

static void *pay(void *unused)
{
    for (int turn = 0; turn < 20; turn++) {
        ondeck_mutex_lock(&accounts);
        balance += 1;
        /* Once it writes to a disk, as it should not. */
        sleep_ms(turn == 10 ? 60 : 1);
        ondeck_mutex_unlock(&accounts);
    }
    return unused;
}

static void warn(const ondeck_event_t *event)
{
    char from[80], waits[80];
    ondeck_stats_site(event->site, from, sizeof from);
    ondeck_stats_site(event->other, waits, sizeof waits);
    fprintf(stderr, "%s was held for %llu ms, from %s on; at %s a thread waits\n", event->name,
            (unsigned long long)(event->duration / 1000000), from, waits);
}

int main(void)
{
    pthread_t threads[2];
    ondeck_mutex_name(&accounts, "accounts");
    ondeck_on_long_hold(50000000, warn);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], 0, pay, 0) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);

    const size_t length = ondeck_stats_text(0, 0);
    char *text = malloc(length + 1);
    if (text == 0)
        return 1;
    ondeck_stats_text(text, length + 1);
    fputs(text, stdout);
    free(text);
    return balance == 40 ? 0 : 1;
}
