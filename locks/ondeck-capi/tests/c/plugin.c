/* A library that host.c loads, with its own functions over locks of the host. */
#include <ondeck.h>

struct locks {
    ondeck_mutex_t mutex;
    ondeck_rwlock_t rwlock;
    ondeck_sem_t sem;
};

int plugin_lock(struct locks *locks, int way);
int plugin_unlock(struct locks *locks, int way);

int plugin_lock(struct locks *locks, int way)
{
    switch (way) {
    case 0:
        return ondeck_mutex_lock(&locks->mutex);
    case 1:
        return ondeck_rwlock_rdlock(&locks->rwlock);
    case 2:
        return ondeck_rwlock_wrlock(&locks->rwlock);
    default:
        return ondeck_sem_wait(&locks->sem);
    }
}

int plugin_unlock(struct locks *locks, int way)
{
    switch (way) {
    case 0:
        return ondeck_mutex_unlock(&locks->mutex);
    case 1:
        return ondeck_rwlock_rdunlock(&locks->rwlock);
    case 2:
        return ondeck_rwlock_wrunlock(&locks->rwlock);
    default:
        return ondeck_sem_post(&locks->sem);
    }
}
