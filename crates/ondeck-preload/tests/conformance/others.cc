/* The C++ classes over these functions: shared mutexes, semaphores, barriers and call_once of the standard
 * library; and pthread_once with cancellation, exceptions and fork. */
#include <barrier>
#include <chrono>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <threads.h>
#include <vector>

#include "conform.h"

using namespace std::chrono_literals;

template <typename Mutex> static void exclusion(const char *name)
{
    Mutex mutex;
    long values[2] = {0, 0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; i++) {
                if (i % 4 == t) {
                    std::unique_lock lock(mutex);
                    values[0]++;
                    values[1]++;
                } else {
                    std::shared_lock lock(mutex);
                    quiet_holds(values[0] == values[1]);
                }
            }
        });
    }
    for (auto &thread : threads)
        thread.join();
    say("%s: %ld", name, values[0]);
    quiet_holds(values[0] == 4 * 500 && mutex.try_lock());
    std::thread([&] { quiet_holds(!mutex.try_lock_shared()); }).join();
    mutex.unlock();
}

static void timed()
{
    std::shared_timed_mutex mutex;
    mutex.lock();
    std::thread([&] {
        holds(!mutex.try_lock_for(2ms));
        holds(!mutex.try_lock_shared_for(2ms));
        holds(!mutex.try_lock_until(std::chrono::steady_clock::now() + 2ms));
        holds(!mutex.try_lock_shared_until(std::chrono::system_clock::now() + 2ms));
        holds(!mutex.try_lock() && !mutex.try_lock_shared());
    }).join();
    mutex.unlock();
    holds(mutex.try_lock_shared_for(2ms));
    holds(mutex.try_lock_shared());
    mutex.unlock_shared();
    mutex.unlock_shared();
    holds(mutex.try_lock_until(std::chrono::steady_clock::now() + 1h));
    try {
        mutex.lock();
        fail("a writer got its lock again");
    } catch (const std::system_error &error) {
        say("locked again: %s", code(error.code().value()));
    }
    mutex.unlock();
}

static void others()
{
    std::counting_semaphore<10> semaphore(0);
    std::barrier meeting(3);
    std::latch latch(2);
    std::vector<std::thread> threads;
    int taken = 0;
    std::mutex mutex;
    for (int t = 0; t < 2; t++) {
        threads.emplace_back([&] {
            latch.count_down();
            for (int i = 0; i < 100; i++) {
                semaphore.acquire();
                std::lock_guard guard(mutex);
                taken++;
            }
            meeting.arrive_and_wait();
        });
    }
    latch.wait();
    for (int i = 0; i < 200; i++)
        semaphore.release();
    meeting.arrive_and_wait();
    for (auto &thread : threads)
        thread.join();
    is(taken, 200);
    holds(!semaphore.try_acquire_for(2ms));
}

static void call_once_throws()
{
    std::once_flag flag;
    int calls = 0;
    for (int i = 0; i < 5; i++) {
        try {
            std::call_once(flag, [&] {
                if (++calls < 3)
                    throw std::runtime_error("again");
            });
            say("call %d returned", i);
        } catch (const std::runtime_error &) {
            say("call %d threw", i);
        }
    }
    is(calls, 3);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls, about_to;

static void cancelled_routine()
{
    calls++;
    if (calls == 1) {
        set_flag(&about_to, 1);
        for (;;)
            pause();
    }
}

static void throwing_routine()
{
    if (++calls < 3)
        throw 1;
}

static void forking_routine()
{
    calls++;
    pid_t pid = fork();
    if (pid == 0) {
        /* The child has a new generation: the routine runs again there. */
        static int again;
        again = 0;
        quiet_is(pthread_once(&once, [] { again++; }), 0);
        _exit(again == 1 ? 0 : 1);
    }
    is(child_status(pid), 0);
}

static void *calls_it(void *)
{
    (void)pthread_once(&once, cancelled_routine);
    return nullptr;
}

static void pthread_once_in_all_ways()
{
    pthread_t thread = start(calls_it, nullptr);
    await_flag(&about_to, 1);
    is(pthread_cancel(thread), 0);
    holds(finish(thread) == PTHREAD_CANCELED);
    is(pthread_once(&once, cancelled_routine), 0);
    is(pthread_once(&once, cancelled_routine), 0);
    is(calls, 2);

    once = PTHREAD_ONCE_INIT;
    calls = 0;
    for (int i = 0; i < 4; i++) {
        try {
            is(pthread_once(&once, throwing_routine), 0);
        } catch (int) {
            say("threw");
        }
    }
    is(calls, 3);

    once = PTHREAD_ONCE_INIT;
    calls = 0;
    is(pthread_once(&once, forking_routine), 0);
    is(calls, 1);

    static once_flag flag = ONCE_FLAG_INIT;
    static int ran;
    for (int i = 0; i < 3; i++)
        call_once(&flag, [] { ran++; });
    is(ran, 1);
}

int main()
{
    exclusion<std::shared_mutex>("shared_mutex");
    exclusion<std::shared_timed_mutex>("shared_timed_mutex");
    timed();
    others();
    call_once_throws();
    pthread_once_in_all_ways();
    return conform_end();
}
