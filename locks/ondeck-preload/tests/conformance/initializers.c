/* Each static initializer: in static memory, in zeroed memory, and as a value assigned at run time. */
#include "kinds.h"

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t zeros;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_cond_t condition_zeros;

static void *try_it(void *mutex)
{
    return (void *)(intptr_t)pthread_mutex_trylock(mutex);
}

static void *unlock_it(void *mutex)
{
    return (void *)(intptr_t)pthread_mutex_unlock(mutex);
}

static void use(const char *name, pthread_mutex_t *mutex, int again)
{
    say("== %s, kind %d", name, kind_word(mutex));
    is(pthread_mutex_lock(mutex), 0);
    is(elsewhere(try_it, mutex), EBUSY);
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    is(pthread_mutex_timedlock(mutex, &past), again);
    if (again == 0)
        is(pthread_mutex_unlock(mutex), 0);
    if (again == 0 || again == EDEADLK)
        is(elsewhere(unlock_it, mutex), EPERM);
    is(pthread_mutex_unlock(mutex), 0);
    if (again == 0 || again == EDEADLK)
        is(pthread_mutex_unlock(mutex), EPERM);
    is(pthread_mutex_trylock(mutex), 0);
    is(pthread_mutex_unlock(mutex), 0);
    is(pthread_mutex_destroy(mutex), 0);
    say("kind %d", kind_word(mutex));
}

struct wait_case {
    pthread_mutex_t *mutex;
    pthread_cond_t *condition;
    int ready, waits;
};

static void *wait_for(void *argument)
{
    struct wait_case *wait_case = argument;
    quiet_is(pthread_mutex_lock(wait_case->mutex), 0);
    set_flag(&wait_case->waits, 1);
    while (!wait_case->ready)
        quiet_is(pthread_cond_wait(wait_case->condition, wait_case->mutex), 0);
    return (void *)(intptr_t)pthread_mutex_unlock(wait_case->mutex);
}

static void use_condition(const char *name, pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct wait_case wait_case = {.mutex = mutex, .condition = cond};
    say("== %s", name);
    is(pthread_cond_signal(cond), 0);
    is(pthread_cond_broadcast(cond), 0);
    pthread_t thread = start(wait_for, &wait_case);
    await_flag(&wait_case.waits, 1);
    is(pthread_mutex_lock(mutex), 0);
    wait_case.ready = 1;
    is(pthread_cond_signal(cond), 0);
    is(pthread_mutex_unlock(mutex), 0);
    is((int)(intptr_t)finish(thread), 0);
    is(pthread_cond_destroy(cond), 0);
    is(pthread_mutex_destroy(mutex), 0);
}

int main(void)
{
    use("default", &plain, ETIMEDOUT);
    use("recursive", &recursive, 0);
    use("errorcheck", &checked, EDEADLK);
    use("adaptive", &adaptive, ETIMEDOUT);
    use("zeros", &zeros, ETIMEDOUT);

    pthread_mutex_t *heap = malloc(sizeof *heap);
    *heap = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    use("recursive, assigned", heap, 0);
    *heap = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    use("errorcheck, assigned", heap, EDEADLK);

    /* Overwriting a locked mutex with an initializer unlocks it. */
    *heap = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    is(pthread_mutex_lock(heap), 0);
    *heap = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    use("default, assigned while locked", heap, ETIMEDOUT);
    free(heap);

    plain = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    use_condition("condition, static", &condition, &plain);
    recursive = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    use_condition("condition, zeros, recursive mutex", &condition_zeros, &recursive);
    checked = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    condition = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    use_condition("condition, assigned, errorcheck mutex", &condition, &checked);
    adaptive = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    memset(&condition, 0, sizeof condition);
    use_condition("condition, zeros, adaptive mutex", &condition, &adaptive);
    return conform_end();
}
