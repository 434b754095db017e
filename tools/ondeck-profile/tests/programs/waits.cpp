// A deadlock of two threads, a lock of a template on the heap with its keeper, and a condition variable.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex first_lock, second_lock;

template <class Value> struct LruCache {
    std::mutex lock;
    std::condition_variable more;
    Value value{};
    [[gnu::noinline]] Value get_or(const std::vector<Value> &others)
    {
        std::lock_guard<std::mutex> held(lock);
        std::this_thread::sleep_for(std::chrono::hours(1));
        return value + others[0];
    }
};

[[gnu::noinline]] static void lock_both(std::mutex &one, std::mutex &other)
{
    std::lock_guard<std::mutex> held(one);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::lock_guard<std::mutex> both(other);
}

int main()
{
    static LruCache<int> waited_for;
    auto *cache = new LruCache<int>;
    std::vector<std::thread> threads;
    threads.emplace_back([] { lock_both(first_lock, second_lock); });
    threads.emplace_back([] { lock_both(second_lock, first_lock); });
    for (int i = 0; i < 2; i++) threads.emplace_back([cache] { cache->get_or({1}); });
    threads.emplace_back([] {
        std::unique_lock<std::mutex> held(waited_for.lock);
        waited_for.more.wait(held, [] { return false; });
    });
    std::puts("ready");
    std::fflush(stdout);
    for (auto &thread : threads) thread.join();
}
