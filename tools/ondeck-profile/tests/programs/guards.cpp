// Three threads hold a lock by a guard of the standard library, which may be inlined. The profile
// must name the function that has the guard.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::mutex guarded, uniquely, signalled, scoped;
static std::recursive_mutex scoped_too;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::condition_variable condition;
static std::atomic<bool> stop{false};

static void compute() {
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) {}
}

struct Guards {
    [[gnu::noinline]] void keep_guard() {
        std::lock_guard<std::mutex> guard(guarded);
        compute();
    }
    [[gnu::noinline]] void keep_unique() {
        std::unique_lock<std::mutex> guard(uniquely);
        compute();
    }
    [[gnu::noinline]] void keep_scoped() {
        std::scoped_lock guard(scoped, scoped_too);
        compute();
    }
    [[gnu::noinline]] void keep_timed() {
        std::unique_lock<std::timed_mutex> guard(timed, std::chrono::seconds(10));
        compute();
    }
    [[gnu::noinline]] void keep_shared() {
        std::unique_lock<std::shared_mutex> guard(shared);
        compute();
    }
    [[gnu::noinline]] void keep_read() {
        std::shared_lock<std::shared_mutex> guard(shared);
    }
    [[gnu::noinline]] void keep_signalled() {
        std::unique_lock<std::mutex> guard(signalled);
        compute();
        condition.wait_for(guard, std::chrono::microseconds(1), [] { return stop.load(); });
    }
};

// Runs three threads until each has waited.
template <class Keep> static void contend(Keep keep) {
    stop = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([keep] { while (!stop) keep(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
    for (auto &thread : threads) thread.join();
}

int main() {
    Guards guards;
    contend([&guards] { guards.keep_guard(); });
    contend([&guards] { guards.keep_unique(); });
    contend([&guards] { guards.keep_scoped(); });
    contend([&guards] { guards.keep_timed(); });
    contend([&guards] { guards.keep_shared(); guards.keep_read(); });
    contend([&guards] { guards.keep_signalled(); });
}
