/* The condition variable of programs from before glibc 2.3.2: functions of version GLIBC_2.2.5, whose object is
 * one pointer. glibc allocates the real one at the first use and keeps its address there. A shim that treats
 * these calls as having today's layout overwrites the memory after the pointer, and a shim that leaves them to
 * libc makes libc unlock a mutex that is not libc's. */
#include "kinds.h"

/* Today's header says 48 bytes. Only the first eight are the object. */
struct old_condition {
    void *real;
    unsigned char behind[64];
};

int old_init(struct old_condition *, const pthread_condattr_t *);
int old_destroy(struct old_condition *);
int old_wait(struct old_condition *, pthread_mutex_t *);
int old_timedwait(struct old_condition *, pthread_mutex_t *, const struct timespec *);
int old_signal(struct old_condition *);
int old_broadcast(struct old_condition *);
__asm__(".symver old_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver old_destroy, pthread_cond_destroy@GLIBC_2.2.5");
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver old_broadcast, pthread_cond_broadcast@GLIBC_2.2.5");

enum { WAITERS = 3, UNTOUCHED = 0xA5 };

static pthread_mutex_t mutex;
static struct old_condition condition;
static int waiting, ready;

static int behind_is_untouched(void)
{
    for (size_t i = 0; i < sizeof condition.behind; i++) {
        if (condition.behind[i] != UNTOUCHED)
            return 0;
    }
    return 1;
}

static void *waiter(void *timed)
{
    struct timespec deadline = from_now(CLOCK_REALTIME, 3600 * 1000);
    quiet_is(pthread_mutex_lock(&mutex), 0);
    set_flag(&waiting, waiting + 1);
    while (!ready)
        quiet_is(timed ? old_timedwait(&condition, &mutex, &deadline) : old_wait(&condition, &mutex), 0);
    return (void *)(intptr_t)pthread_mutex_unlock(&mutex);
}

static void one_type(int type, int initialized)
{
    is(init_kind(&mutex, type, PLAIN), 0);
    memset(&condition, UNTOUCHED, sizeof condition);
    /* The old static initializer is a null pointer. */
    condition.real = NULL;
    if (initialized)
        is(old_init(&condition, NULL), 0);
    is(old_signal(&condition), 0);
    is(old_broadcast(&condition), 0);

    struct timespec past = from_now(CLOCK_REALTIME, -1);
    struct timespec invalid = {.tv_sec = 1, .tv_nsec = 1000000000};
    is(pthread_mutex_lock(&mutex), 0);
    is(old_timedwait(&condition, &mutex, &past), ETIMEDOUT);
    is(old_timedwait(&condition, &mutex, &invalid), EINVAL);
    is(elsewhere(try_mutex, &mutex), EBUSY);
    is(pthread_mutex_unlock(&mutex), 0);

    for (int one = 0; one < 2; one++) {
        pthread_t threads[WAITERS];
        waiting = ready = 0;
        for (int i = 0; i < WAITERS; i++)
            threads[i] = start(waiter, i % 2 ? &condition : NULL);
        await_flag(&waiting, WAITERS);
        is(pthread_mutex_lock(&mutex), 0);
        ready = 1;
        is(pthread_mutex_unlock(&mutex), 0);
        if (!one)
            is(old_broadcast(&condition), 0);
        for (int i = 0; one && i < WAITERS; i++)
            is(old_signal(&condition), 0);
        for (int i = 0; i < WAITERS; i++)
            is((int)(intptr_t)finish(threads[i]), 0);
    }
    holds(behind_is_untouched());
    is(old_destroy(&condition), 0);
    holds(behind_is_untouched());
    is(pthread_mutex_destroy(&mutex), 0);
}

int main(void)
{
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int initialized = 0; initialized < 2; initialized++) {
            say("== %s, %s", TYPES[type].name, initialized ? "pthread_cond_init" : "null pointer");
            one_type(TYPES[type].type, initialized);
        }
    }
    return conform_end();
}
