/*
 * For ci/capi/mistakes.sh: functions that take the place of the library's and lock nothing. zoo.c has
 * to fail with them.
 */
#include <ondeck.h>

int ondeck_zoo_lock_lock(ondeck_zoo_lock_t *lock)
{
    (void)lock;
    return 0;
}

int ondeck_zoo_lock_unlock(ondeck_zoo_lock_t *lock)
{
    (void)lock;
    return 0;
}
