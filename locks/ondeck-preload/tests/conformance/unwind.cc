// Cancellation and C++ exceptions pass through frames of a wait: destructors run, the mutex is held in them, and
// the thread ends properly. libstdc++'s own locks, which use every clock variant, work.
#include "conform.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <cxxabi.h>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int about_to, destroyed, caught, held;
pid_t thread;

void *try_it(void *)
{
    int error = pthread_mutex_trylock(&mutex);
    if (error == 0)
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    return reinterpret_cast<void *>(static_cast<intptr_t>(error));
}

// Unlocks on every exit path, like a guard.
struct Guard {
    explicit Guard(pthread_mutex_t *m) : mutex(m) { quiet_is(pthread_mutex_lock(mutex), 0); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
    ~Guard()
    {
        held = elsewhere(try_it, nullptr) == EBUSY;
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

template <typename Mutex>
void timed(const char *name)
{
    using namespace std::chrono_literals;
    Mutex lock;
    bool locked[4];
    lock.lock();
    std::thread([&] {
        locked[0] = lock.try_lock();
        locked[1] = lock.try_lock_for(1ms);
        locked[2] = lock.try_lock_until(std::chrono::system_clock::now() + 1ms);
        locked[3] = lock.try_lock_until(std::chrono::steady_clock::now() + 1ms);
    }).join();
    lock.unlock();
    for (bool one : locked)
        quiet_holds(!one);
    say("%s: try_lock_for while free: %d", name, lock.try_lock_for(1h));
    lock.unlock();
}

template <typename Condition, typename Mutex>
void ping_pong(const char *name)
{
    using namespace std::chrono_literals;
    Condition turn_changed;
    Mutex lock;
    long turn = 0;
    auto run = [&](long mine) {
        for (int i = 0; i < 200; i++) {
            std::unique_lock<Mutex> guard(lock);
            auto my_turn = [&] { return turn % 2 == mine; };
            bool mine_now = true;
            switch (i % 4) {
            case 0: turn_changed.wait(guard, my_turn); break;
            case 1: mine_now = turn_changed.wait_for(guard, 1h, my_turn); break;
            case 2:
                mine_now = turn_changed.wait_until(guard, std::chrono::steady_clock::now() + 1h, my_turn);
                break;
            default:
                mine_now = turn_changed.wait_until(guard, std::chrono::system_clock::now() + 1h, my_turn);
            }
            quiet_holds(mine_now);
            turn++;
            if (i % 3 == 0)
                turn_changed.notify_all();
            else
                turn_changed.notify_one();
        }
    };
    std::thread one(run, 0), other(run, 1);
    one.join();
    other.join();
    std::unique_lock<Mutex> guard(lock);
    bool timed_out = !turn_changed.wait_for(guard, 1ms, [] { return false; }) &&
                     !turn_changed.wait_until(guard, std::chrono::steady_clock::now() - 1ms, [] { return false; });
    say("%s: %ld turns, then timed out: %d", name, turn, timed_out);
    quiet_holds(turn == 400 && timed_out);
}

// Its destructor runs when the thread ends, after everything else in the thread.
struct AtThreadEnd {
    ~AtThreadEnd()
    {
        quiet_is(pthread_mutex_lock(&mutex), 0);
        destroyed++;
        quiet_is(pthread_cond_signal(&condition), 0);
        quiet_is(pthread_mutex_unlock(&mutex), 0);
    }
    int value = 1;
};

thread_local AtThreadEnd at_thread_end;

void thread_locals()
{
    destroyed = 0;
    for (int i = 0; i < 5; i++)
        std::thread([] { at_thread_end.value++; }).join();
    holds(destroyed == 5);
}

// Constructed before main, destroyed after it.
struct Static {
    Static()
    {
        std::lock_guard<std::mutex> guard(lock);
        value = 1;
    }
    ~Static()
    {
        std::lock_guard<std::mutex> guard(lock);
        say("static destructor, value %d", value);
    }
    std::mutex lock;
    int value = 0;
};

Static static_object;

} // namespace

int main()
{
    cancellation();
    exceptions();
    timed<std::timed_mutex>("timed_mutex");
    timed<std::recursive_timed_mutex>("recursive_timed_mutex");
    ping_pong<std::condition_variable, std::mutex>("condition_variable");
    ping_pong<std::condition_variable_any, std::mutex>("condition_variable_any, mutex");
    ping_pong<std::condition_variable_any, std::recursive_mutex>("condition_variable_any, recursive_mutex");
    thread_locals();
    say("size of std::mutex %zu, of std::condition_variable %zu", sizeof(std::mutex),
        sizeof(std::condition_variable));
    return conform_end();
}
