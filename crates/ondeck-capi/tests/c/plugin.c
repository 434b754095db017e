/* A library that host.c loads, with its own functions over a lock of the host. */
#include <ondeck.h>

int plugin_lock(ondeck_mutex_t *mutex);
int plugin_unlock(ondeck_mutex_t *mutex);

int plugin_lock(ondeck_mutex_t *mutex)
{
    return ondeck_mutex_lock(mutex);
}

int plugin_unlock(ondeck_mutex_t *mutex)
{
    return ondeck_mutex_unlock(mutex);
}
