/* A library that is loaded by host.c, with functions of its own over a lock of the host's. */
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
