// Programs for ci/replay/check.py, each with its own way to lock:
//
//     programs NAME THREADS SECONDS      prints how many acquisitions it made in a second
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;

static unsigned draw(unsigned &state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__attribute__((noinline)) static unsigned work(unsigned turns, unsigned value)
{
    for (unsigned i = 0; i < turns; i++) {
        value = value * 1664525 + 1013904223;
        asm volatile("" : "+r"(value));
    }
    return value;
}

// A cache that forgets what was not used for longest, behind one mutex.
static struct {
    std::mutex mutex;
    std::list<unsigned> order;
    std::unordered_map<unsigned, std::list<unsigned>::iterator> places;
} cache;

static long use_cache(unsigned &state)
{
    unsigned key = draw(state) % 3000;
    {
        std::lock_guard<std::mutex> guard(cache.mutex);
        auto found = cache.places.find(key);
        if (found != cache.places.end()) {
            cache.order.splice(cache.order.begin(), cache.order, found->second);
        } else {
            if (cache.places.size() >= 2000) {
                cache.places.erase(cache.order.back());
                cache.order.pop_back();
            }
            cache.order.push_front(key);
            cache.places[key] = cache.order.begin();
        }
    }
    work(400, key);
    return 1;
}

// A table of sixteen parts with a mutex each.
static struct alignas(64) {
    std::mutex mutex;
    std::unordered_map<unsigned, unsigned> counts;
} parts[16];

static long use_parts(unsigned &state)
{
    unsigned key = draw(state) & 4095;
    {
        std::lock_guard<std::mutex> guard(parts[key & 15].mutex);
        parts[key & 15].counts[key]++;
    }
    work(300, key);
    return 1;
}

// Long sections, and five times as much outside.
static std::mutex seldom;

static long use_seldom(unsigned &state)
{
    work(30000, state);
    std::lock_guard<std::mutex> guard(seldom);
    state = work(6000, state) | 1;
    return 1;
}

// One lock within another, and a counter.
static std::mutex outer, inner, counter;
static unsigned long counted;

static long use_nested(unsigned &state)
{
    long acquired = 2;
    work(2500, state);
    {
        std::lock_guard<std::mutex> guard(outer);
        work(300, state);
        if (draw(state) % 4 == 0) {
            std::lock_guard<std::mutex> within(inner);
            work(400, state);
            acquired++;
        }
    }
    std::lock_guard<std::mutex> guard(counter);
    counted++;
    return acquired;
}

int main(int argc, char **argv)
{
    static const std::map<std::string, std::function<long(unsigned &)>> programs = {
        {"cache", use_cache}, {"parts", use_parts}, {"seldom", use_seldom}, {"nested", use_nested}};
    auto program = argc == 4 ? programs.find(argv[1]) : programs.end();
    if (program == programs.end())
        return 2;
    int threads = atoi(argv[2]);
    double seconds = atof(argv[3]);
    auto end = Clock::now() + std::chrono::microseconds(static_cast<long>(seconds * 1e6));
    std::vector<long> counts(threads);
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++)
        all.emplace_back([&, i] {
            unsigned state = i * 7919 + 1;
            long count = 0;
            while (Clock::now() < end)
                for (int turn = 0; turn < 8; turn++)
                    count += program->second(state);
            counts[i] = count;
        });
    long sum = 0;
    for (int i = 0; i < threads; i++) {
        all[i].join();
        sum += counts[i];
    }
    printf("%.0f\n", sum / seconds);
}
