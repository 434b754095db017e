/*
 * The least that a preloaded mutex can do: one exchange to lock, one store to unlock, no waiting. How far a shim is
 * above it is what the shim costs; the rest are two calls of functions of a shared library.
 */
#include <stdlib.h>

int pthread_mutex_lock(unsigned char *mutex);
int pthread_mutex_unlock(unsigned char *mutex);

int pthread_mutex_lock(unsigned char *mutex)
{
    if (__atomic_exchange_n(mutex, 1, __ATOMIC_ACQUIRE) != 0)
        abort();
    return 0;
}

int pthread_mutex_unlock(unsigned char *mutex)
{
    __atomic_store_n(mutex, 0, __ATOMIC_RELEASE);
    return 0;
}
