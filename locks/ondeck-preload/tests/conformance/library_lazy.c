/* A library whose constructor starts another thread, which calls each function for the first time in the
 * process, and waits for it. The constructor's thread holds the dynamic linker's lock: a function that looks up
 * libc's function at its first call would wait for that lock, which is a deadlock. */
#include "kinds.h"
#include "rwlock.h"

#include <semaphore.h>
#include <threads.h>

int lazy_result(void);

static void *first_calls(void *unused UNUSED)
{
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    mtx_t c_mutex;
    cnd_t c_condition;
    use_all_kinds();
    quiet_is(mtx_init(&c_mutex, mtx_timed), thrd_success);
    quiet_is(cnd_init(&c_condition), thrd_success);
    quiet_is(mtx_timedlock(&c_mutex, &past), thrd_success);
    while (cnd_timedwait(&c_condition, &c_mutex, &past) == thrd_success)
        ;
    quiet_is(mtx_unlock(&c_mutex), thrd_success);
    cnd_destroy(&c_condition);
    mtx_destroy(&c_mutex);
    for (int i = 0; i < RWLOCK_COUNT; i++) {
        pthread_rwlock_t rwlock;
        quiet_is(init_rwlock(&rwlock, &RWLOCKS[i]), 0);
        quiet_is(pthread_rwlock_rdlock(&rwlock), 0);
        quiet_is(pthread_rwlock_tryrdlock(&rwlock), 0);
        quiet_is(pthread_rwlock_timedrdlock(&rwlock, &past), 0);
        quiet_is(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past), 0);
        quiet_is(pthread_rwlock_trywrlock(&rwlock), EBUSY);
        quiet_is(pthread_rwlock_timedwrlock(&rwlock, &past), ETIMEDOUT);
        quiet_is(pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &past), ETIMEDOUT);
        for (int held = 0; held < 4; held++)
            quiet_is(pthread_rwlock_unlock(&rwlock), 0);
        quiet_is(pthread_rwlock_wrlock(&rwlock), 0);
        quiet_is(pthread_rwlock_unlock(&rwlock), 0);
        quiet_is(pthread_rwlock_destroy(&rwlock), 0);
    }
    pthread_barrierattr_t barrier_attributes;
    quiet_is(pthread_barrierattr_init(&barrier_attributes), 0);
    for (int shared = 0; shared < 2; shared++) {
        pthread_barrier_t barrier;
        pthread_spinlock_t spin;
        sem_t semaphore;
        quiet_is(pthread_barrierattr_setpshared(&barrier_attributes, shared), 0);
        quiet_is(pthread_barrier_init(&barrier, &barrier_attributes, 1), 0);
        quiet_is(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD, 1);
        quiet_is(pthread_barrier_destroy(&barrier), 0);
        quiet_is(pthread_spin_init(&spin, shared), 0);
        quiet_is(pthread_spin_lock(&spin), 0);
        quiet_is(pthread_spin_unlock(&spin), 0);
        quiet_is(sem_init(&semaphore, shared, 3), 0);
        quiet_is(sem_wait(&semaphore), 0);
        quiet_is(sem_timedwait(&semaphore, &past), 0);
        quiet_is(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past), 0);
        quiet_is(sem_timedwait(&semaphore, &past), -1);
        quiet_is(sem_destroy(&semaphore), 0);
    }
    return NULL;
}

__attribute__((constructor)) static void constructor(void)
{
    finish(start(first_calls, NULL));
}

int lazy_result(void)
{
    return conform_failures;
}
