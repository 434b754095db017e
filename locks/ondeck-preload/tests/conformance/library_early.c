/* A library whose constructor runs before the constructors of the other objects (linked with -z initfirst), and
 * uses every kind of lock there. `early_result` describes a failure. */
#include "kinds.h"

int early_result(void);

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

__attribute__((constructor(101))) static void constructor(void)
{
    use_all_kinds();
    /* It stays locked until the destructor. */
    quiet_is(pthread_mutex_lock(&recursive), 0);
}

/* Runs after the program's own destructors. */
__attribute__((destructor(101))) static void destructor(void)
{
    int before = conform_failures;
    quiet_is(pthread_mutex_lock(&recursive), 0);
    quiet_is(pthread_mutex_unlock(&recursive), 0);
    quiet_is(pthread_mutex_unlock(&recursive), 0);
    quiet_is(pthread_mutex_unlock(&recursive), EPERM);
    quiet_is(pthread_cond_broadcast(&condition), 0);
    if (conform_failures != before)
        _exit(3);
}

int early_result(void)
{
    return conform_failures;
}
