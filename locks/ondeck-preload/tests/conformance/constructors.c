/* Locks before main and after it: before the constructors of all libraries, in early constructors, in
 * constructors of libraries that a constructor opens, in thread-specific destructors, atexit functions and
 * destructors. */
#include "kinds.h"

int early_result(void);

static pthread_mutex_t before_all = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int preinit_result = -1, constructor_result = -1;
static pthread_key_t key;
static int key_rounds;

static void preinit(void)
{
    preinit_result = use_all_kinds();
    /* Locked here, unlocked by main. */
    quiet_is(pthread_mutex_lock(&before_all), 0);
    quiet_is(pthread_mutex_lock(&recursive), 0);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit_pointer)(void) = preinit;

static int turn;

static void *other_thread(void *unused UNUSED)
{
    quiet_is(pthread_mutex_lock(&recursive), 0);
    turn = 1;
    quiet_is(pthread_cond_signal(&condition), 0);
    quiet_is(pthread_mutex_unlock(&recursive), 0);
    return NULL;
}

__attribute__((constructor)) static void constructor(void)
{
    constructor_result = use_all_kinds();
    pthread_t thread = start(other_thread, NULL);
    /* The recursive mutex has depth one since before the constructors. */
    while (turn == 0)
        quiet_is(pthread_cond_wait(&condition, &recursive), 0);
    finish(thread);
}

static void at_exit_function(void)
{
    quiet_is(pthread_mutex_lock(&recursive), 0);
    quiet_is(pthread_mutex_lock(&recursive), 0);
    quiet_is(pthread_mutex_unlock(&recursive), 0);
    quiet_is(pthread_mutex_unlock(&recursive), 0);
    quiet_is(pthread_mutex_lock(&before_all), 0);
    say("atexit: kinds failed %d", use_all_kinds());
}

__attribute__((destructor)) static void destructor(void)
{
    quiet_is(pthread_mutex_unlock(&before_all), 0);
    quiet_is(pthread_mutex_trylock(&before_all), 0);
    say("destructor: kinds failed %d", use_all_kinds());
    say("failed at the end %d", conform_failures);
    if (conform_failures != 0)
        _exit(1);
}

/* Destructors of thread-specific data run in rounds, the last of which is after most of the thread's state has
 * been destroyed. */
static void key_destructor(void *value)
{
    quiet_is(pthread_mutex_lock(&recursive), 0);
    key_rounds++;
    quiet_is(pthread_mutex_unlock(&recursive), 0);
    quiet_is(use_all_kinds(), 0);
    if ((intptr_t)value > 1)
        pthread_setspecific(key, (void *)((intptr_t)value - 1));
}

static void *with_specific_data(void *unused UNUSED)
{
    pthread_setspecific(key, (void *)(intptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
    return NULL;
}

static pthread_mutex_t hammered = PTHREAD_MUTEX_INITIALIZER;

/* Continues while the process ends. */
static void *never_joined(void *unused UNUSED)
{
    for (;;) {
        (void)pthread_mutex_lock(&hammered);
        (void)pthread_mutex_unlock(&hammered);
    }
    return NULL;
}

int main(void)
{
    is(early_result(), 0);
    is(preinit_result, 0);
    is(constructor_result, 0);
    is(pthread_mutex_trylock(&before_all), EBUSY);
    is(pthread_mutex_unlock(&before_all), 0);
    is(pthread_mutex_unlock(&recursive), 0);
    is(pthread_mutex_unlock(&recursive), EPERM);
    is(atexit(at_exit_function), 0);
    is(pthread_key_create(&key, key_destructor), 0);
    finish(start(with_specific_data, NULL));
    holds(key_rounds == PTHREAD_DESTRUCTOR_ITERATIONS);
    is(library_result("library_outer.so", "outer_result"), 0);
    for (int i = 0; i < 2; i++)
        pthread_detach(start(never_joined, NULL));
    return conform_end();
}
