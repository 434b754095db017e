/* Calls in an order that is drawn, for calls.c and calls_others.c. Three threads make one call at a time. A small model
 * leaves out the calls that would never return and those that POSIX leaves undefined. It expects no code: run.sh
 * compares the logs. */
#ifndef CALLS_H
#define CALLS_H

#include "conform.h"

enum { THREADS = 3, CALLS = 160, NOBODY = -1 };

static uint32_t seed = 1;

static inline int draw(int count)
{
    return (int)(next_random(&seed) >> 8) % count;
}

/* Deadlines and clocks, most of them wrong. LATER is drawn only if the call returns before. */
enum { PAST, SOON, LATER, AT };
static const struct timespec MOMENTS[] = {
    {0, 0},          {-1, 0}, {-1, 999999999}, {LONG_MIN, 0},        {LONG_MIN, 999999999},
    {1, 1000000000}, {1, -1}, {1, LONG_MIN},   {LONG_MAX, LONG_MAX},
};
enum { MOMENT_COUNT = sizeof MOMENTS / sizeof *MOMENTS };
static const clockid_t CLOCKS[] = {
    CLOCK_REALTIME,           CLOCK_MONOTONIC,     CLOCK_REALTIME, CLOCK_MONOTONIC,
    CLOCK_PROCESS_CPUTIME_ID, CLOCK_MONOTONIC_RAW, -1,             12345,
};
enum { CLOCK_COUNT = sizeof CLOCKS / sizeof *CLOCKS };

/* One call: which thread makes which function, by which clock, until when. */
struct call {
    int thread, function, when;
    clockid_t clock;
    struct timespec end;
};

typedef int (*caller)(const struct call *);

static struct call call;
static caller caller_now;
static pthread_t threads[THREADS];
/* A byte in a thread's pipe tells it to make the call, and a byte in `made` that the call has returned. */
static int asked[THREADS][2], made[2], result;

static inline void tell(const int *pipe)
{
    conform_write(pipe[1], "", 1);
}

static inline void await(const int *pipe)
{
    char byte;
    while (read(pipe[0], &byte, 1) != 1)
        ;
}

static inline void *makes_calls(void *argument)
{
    for (;;) {
        await(asked[(intptr_t)argument]);
        if (caller_now == NULL)
            return NULL;
        errno = EXFULL;
        result = caller_now(&call);
        quiet_holds(errno == EXFULL);
        tell(made);
    }
}

static inline void begin(int thread)
{
    threads[thread] = start(makes_calls, (void *)(intptr_t)thread);
}

static inline void end(int thread)
{
    caller_now = NULL;
    tell(asked[thread]);
    finish(threads[thread]);
}

/* Draws the deadline of the call, by the clock that the function takes; `returns` if the call returns whatever the
 * deadline is. */
static inline void draw_end(clockid_t clock, int returns)
{
    int when = draw(16);
    call.clock = clock;
    call.when = when == SOON || (when == LATER && returns) ? when : when > AT ? AT + draw(MOMENT_COUNT) : PAST;
    clockid_t shown = clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    call.end = call.when >= AT ? MOMENTS[call.when - AT]
                               : from_now(shown, call.when == PAST ? -1000 : call.when == SOON ? 1 : 3600 * 1000);
}

static inline int make(caller caller, const char *name)
{
    caller_now = caller;
    tell(asked[call.thread]);
    await(made);
    say("%d %s, clock %d, moment %d: %s", call.thread, name, (int)call.clock, call.when, code(result));
    if (result == ETIMEDOUT && call.when == SOON)
        quiet_holds(has_passed(call.clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME, &call.end));
    return result;
}

static inline void begin_all(void)
{
    quiet_is(pipe(made), 0);
    for (int i = 0; i < THREADS; i++) {
        quiet_is(pipe(asked[i]), 0);
        begin(i);
    }
}

static inline int end_all(void)
{
    for (int i = 0; i < THREADS; i++)
        end(i);
    return conform_end();
}

#endif
