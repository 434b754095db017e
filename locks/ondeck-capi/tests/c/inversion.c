/*
 * For ThreadSanitizer: two threads, one after the other, lock two mutexes in two orders. They never
 * deadlock, and the orders must be reported.
 */
#include "check.h"

#include <ondeck.h>

static ondeck_mutex_t mutexes[2];

static void *both(void *first)
{
    ondeck_mutex_t *one = first, *other = one == &mutexes[0] ? &mutexes[1] : &mutexes[0];
    ondeck_mutex_lock(one);
    ondeck_mutex_lock(other);
    ondeck_mutex_unlock(other);
    ondeck_mutex_unlock(one);
    return NULL;
}

int main(void)
{
    end(begin(both, &mutexes[0]));
    end(begin(both, &mutexes[1]));
    return 0;
}
