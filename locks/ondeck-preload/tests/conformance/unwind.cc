// Cancellation and C++ exceptions pass through frames of a wait: destructors run, the mutex is held in them, and
// the thread ends properly.
#include "conform.h"

#include <stdexcept>

#include <cxxabi.h>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int destroyed, caught, held;
pid_t thread;

// Unlocks on every exit path, like a guard.
struct Guard {
    explicit Guard(pthread_mutex_t *m) : mutex(m) { quiet_is(pthread_mutex_lock(mutex), 0); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
    ~Guard()
    {
        held = elsewhere(try_mutex, &::mutex) == EBUSY;
        destroyed++;
        quiet_is(pthread_mutex_unlock(mutex), 0);
    }
    pthread_mutex_t *mutex;
};

struct Witness {
    ~Witness() { destroyed++; }
};

int wait_once(int function)
{
    struct timespec realtime = from_now(CLOCK_REALTIME, 3600 * 1000);
    struct timespec monotonic = from_now(CLOCK_MONOTONIC, 3600 * 1000);
    Witness witness;
    return function == 0   ? pthread_cond_wait(&condition, &mutex)
           : function == 1 ? pthread_cond_timedwait(&condition, &mutex, &realtime)
                           : pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &monotonic);
}

void *waits(void *function)
{
    thread = thread_id();
    try {
        Guard guard(&mutex);
        Witness witness;
        set_flag(&about_to, 1);
        for (;;)
            quiet_is(wait_once(static_cast<int>(reinterpret_cast<intptr_t>(function))), 0);
    } catch (abi::__forced_unwind &) {
        caught++;
        throw;
    }
    return nullptr;
}

void cancellation()
{
    for (intptr_t function = 0; function < 3; function++) {
        for (int sleeping = 0; sleeping < 2; sleeping++) {
            about_to = destroyed = caught = held = 0;
            pthread_t waiting = start(waits, reinterpret_cast<void *>(function));
            await_flag(&about_to, 1);
            if (sleeping)
                await_sleep(thread);
            is(pthread_cancel(waiting), 0);
            holds(finish(waiting) == PTHREAD_CANCELED);
            holds(destroyed == 3 && caught == 1 && held);
            is(pthread_mutex_trylock(&mutex), 0);
            is(pthread_mutex_unlock(&mutex), 0);
        }
    }
}

void *exits(void *)
{
    Guard guard(&mutex);
    struct timespec past = from_now(CLOCK_REALTIME, -1);
    while (pthread_cond_timedwait(&condition, &mutex, &past) == 0) {
    }
    pthread_exit(&mutex);
}

void exceptions()
{
    destroyed = 0;
    try {
        Guard guard(&mutex);
        throw std::runtime_error("thrown with the mutex locked");
    } catch (const std::runtime_error &) {
        is(pthread_mutex_trylock(&mutex), 0);
        is(pthread_mutex_unlock(&mutex), 0);
    }
    holds(destroyed == 1);
    holds(finish(start(exits, nullptr)) == &mutex);
    holds(destroyed == 2);
    is(pthread_mutex_trylock(&mutex), 0);
    is(pthread_mutex_unlock(&mutex), 0);
}

} // namespace

int main()
{
    cancellation();
    exceptions();
    return conform_end();
}
