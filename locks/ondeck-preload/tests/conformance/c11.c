/* The functions of <threads.h>. glibc implements them with its own mutex, bypassing the PLT, so they must be
 * interposed separately. */
#include "conform.h"

#include <threads.h>

static const char *name(int result)
{
    switch (result) {
    case thrd_success: return "success";
    case thrd_busy: return "busy";
    case thrd_error: return "error";
    case thrd_timedout: return "timedout";
    case thrd_nomem: return "nomem";
    default: return "unknown";
    }
}

static int expect(const char *what, int got, int want, int log)
{
    if (log)
        say("%s = %s", what, name(got));
    if (got != want)
        fail("%s is %s, expected %s", what, name(got), name(want));
    return got;
}

#define gives(call, want) expect(#call, (call), (want), 1)
#define quiet_gives(call, want) expect(#call, (call), (want), 0)

static mtx_t mutex;
static cnd_t condition;
static int waiting, ready;

static int try_it(void *unused UNUSED)
{
    int result = mtx_trylock(&mutex);
    if (result == thrd_success)
        quiet_gives(mtx_unlock(&mutex), thrd_success);
    return result;
}

static int timed_lock_at(time_t seconds, long nanoseconds)
{
    struct timespec deadline = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    return mtx_timedlock(&mutex, &deadline);
}

static int timed_lock_in(long milliseconds)
{
    struct timespec deadline = from_now(CLOCK_REALTIME, milliseconds);
    return mtx_timedlock(&mutex, &deadline);
}

static int timed_past(void *unused UNUSED)
{
    return timed_lock_in(-1000);
}

static int timed_soon(void *unused UNUSED)
{
    return timed_lock_in(1);
}

static int timed_invalid(void *unused UNUSED)
{
    return timed_lock_at(1, 1000000000);
}

static int away(thrd_start_t function)
{
    thrd_t thread;
    int result = -1;
    quiet_gives(thrd_create(&thread, function, NULL), thrd_success);
    quiet_gives(thrd_join(thread, &result), thrd_success);
    return result;
}

static int timed_wait_in(long milliseconds)
{
    struct timespec deadline = from_now(CLOCK_REALTIME, milliseconds);
    int result;
    do
        result = cnd_timedwait(&condition, &mutex, &deadline);
    while (result == thrd_success);
    return result;
}

static int timed_wait_at(time_t seconds, long nanoseconds)
{
    struct timespec deadline = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    return cnd_timedwait(&condition, &mutex, &deadline);
}

static int waiter(void *timed)
{
    struct timespec deadline = from_now(CLOCK_REALTIME, 3600 * 1000);
    quiet_gives(mtx_lock(&mutex), thrd_success);
    set_flag(&waiting, waiting + 1);
    while (!ready)
        quiet_gives(timed ? cnd_timedwait(&condition, &mutex, &deadline) : cnd_wait(&condition, &mutex),
                    thrd_success);
    return mtx_unlock(&mutex);
}

static void notifications(void)
{
    for (int one = 0; one < 2; one++) {
        enum { WAITERS = 4 };
        thrd_t threads[WAITERS];
        waiting = ready = 0;
        for (intptr_t i = 0; i < WAITERS; i++)
            gives(thrd_create(&threads[i], waiter, (void *)(i % 2)), thrd_success);
        await_flag(&waiting, WAITERS);
        gives(mtx_lock(&mutex), thrd_success);
        ready = 1;
        gives(mtx_unlock(&mutex), thrd_success);
        if (!one)
            gives(cnd_broadcast(&condition), thrd_success);
        for (int i = 0; one && i < WAITERS; i++)
            gives(cnd_signal(&condition), thrd_success);
        for (int i = 0; i < WAITERS; i++) {
            int result = -1;
            gives(thrd_join(threads[i], &result), thrd_success);
            gives(result, thrd_success);
        }
    }
}

static void one_type(int type)
{
    int recursive = (type & mtx_recursive) != 0;
    gives(mtx_init(&mutex, type), thrd_success);
    gives(cnd_init(&condition), thrd_success);
    gives(mtx_lock(&mutex), thrd_success);
    gives(mtx_trylock(&mutex), recursive ? thrd_success : thrd_busy);
    if (recursive) {
        gives(mtx_lock(&mutex), thrd_success);
        gives(timed_lock_in(1), thrd_success);
        for (int i = 0; i < 3; i++)
            gives(mtx_unlock(&mutex), thrd_success);
    }
    gives(away(try_it), thrd_busy);
    gives(away(timed_past), thrd_timedout);
    gives(away(timed_soon), thrd_timedout);
    gives(away(timed_invalid), thrd_error);
    gives(timed_wait_in(-1000), thrd_timedout);
    gives(timed_wait_in(1), thrd_timedout);
    gives(timed_wait_at(1, -1), thrd_error);
    gives(away(try_it), thrd_busy);
    gives(mtx_unlock(&mutex), thrd_success);
    gives(away(try_it), thrd_success);
    if (recursive) {
        gives(mtx_unlock(&mutex), thrd_error);
        gives(timed_wait_in(1000), thrd_error);
    }
    gives(timed_lock_in(-1), thrd_success);
    gives(mtx_unlock(&mutex), thrd_success);
    gives(cnd_signal(&condition), thrd_success);
    notifications();
    cnd_destroy(&condition);
    mtx_destroy(&mutex);
}

static once_flag once = ONCE_FLAG_INIT;
static int once_calls;

static void called_once(void)
{
    once_calls++;
}

static int calls_once(void *unused UNUSED)
{
    call_once(&once, called_once);
    return 0;
}

int main(void)
{
    static const int TYPES[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive};
    for (int i = 0; i < 4; i++) {
        say("== type %d", TYPES[i]);
        one_type(TYPES[i]);
    }
    /* glibc treats an unknown type as a plain one. */
    memset(&mutex, 0xA5, sizeof mutex);
    gives(mtx_init(&mutex, 64), thrd_success);
    gives(mtx_lock(&mutex), thrd_success);
    gives(mtx_trylock(&mutex), thrd_busy);
    gives(mtx_unlock(&mutex), thrd_success);
    for (int i = 0; i < 3; i++)
        away(calls_once);
    holds(once_calls == 1);
    return conform_end();
}
