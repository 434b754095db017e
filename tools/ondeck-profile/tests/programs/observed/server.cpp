// A server whose workers share a cache behind one std::mutex, which limits it: what does `Cache::refresh` cost?
//
//     server SECONDS [without]      prints the requests a second, with or without `refresh`

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

constexpr std::uint64_t SIZE = 1024;
constexpr int WORKERS = 4, EVERY = 16, RENEWED = 960, LOOK_UP = 4000, RENEW = 64, REQUEST = 500;

static std::uint64_t work(std::uint64_t value, int steps)
{
    for (int i = 0; i < steps; i++)
        value = value * 6364136223846793005 + 1442695040888963407;
    return value;
}

class Cache {
    using Entries = std::list<std::pair<std::uint64_t, std::uint64_t>>;
    std::mutex mutex;
    Entries entries;
    std::unordered_map<std::uint64_t, Entries::iterator> places;

public:
    Cache()
    {
        for (std::uint64_t key = 0; key < SIZE; key++) {
            entries.emplace_front(key, key);
            places[key] = entries.begin();
        }
    }

    // The value of a key, which becomes the most recent one.
    [[gnu::noinline]] std::uint64_t get(std::uint64_t key)
    {
        std::lock_guard guard(mutex);
        auto place = places.find(key)->second;
        entries.splice(entries.begin(), entries, place);
        return work(place->second, LOOK_UP);
    }

    // Renews the most recent entries. Ends with a tail call of the unlock.
    [[gnu::noinline]] void refresh()
    {
        std::lock_guard guard(mutex);
        int left = RENEWED;
        for (auto entry = entries.begin(); left-- > 0; ++entry)
            entry->second = work(entry->second, RENEW);
    }
};

int main(int count, char **words)
{
    if (count < 2)
        return 2;
    const bool refreshes = count == 2;
    Cache cache;
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> requests{0};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < WORKERS; worker++)
        workers.emplace_back([&, worker] {
            std::uint64_t state = worker, done = 0;
            while (!is_over.load(std::memory_order_relaxed)) {
                state = work(state ^ cache.get(state >> 33 & (SIZE - 1)), REQUEST);
                if (++done % EVERY == 0 && refreshes)
                    cache.refresh();
            }
            requests += done;
        });
    auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(words[1])));
    is_over = true;
    for (auto &worker : workers)
        worker.join();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf("%.0f requests/s\n", static_cast<double>(requests) / took.count());
}
