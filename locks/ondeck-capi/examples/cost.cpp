// Measures the types of ondeck.hpp beside those of the standard library and of POSIX, with
// -DWITH_ABSEIL and -DWITH_NSYNC also beside those of Abseil and nsync. docs/c.md has the commands
// and the figures.
//
//     cost THREADS ROUNDS
//
// Prints for each type the median and the quartiles of the rounds, in which all types take turns:
// with one thread, nanoseconds of a pair, and the median ratio to ondeck's in the same round; with
// more, million pairs a second of all together. A section is one access.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <ondeck.hpp>
#include <pthread.h>
#include <semaphore.h>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#if defined(WITH_ABSEIL)
#include <absl/base/call_once.h>
#include <absl/synchronization/mutex.h>
#endif
#if defined(WITH_NSYNC)
#include <nsync.h>
#endif

static volatile long protected_data;

static void write_data()
{
    protected_data = protected_data + 1;
}

static void read_data()
{
    (void)protected_data;
}

template <class Turn> static double nanoseconds(Turn turn)
{
    constexpr int turns = 100000;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < turns; ++i)
        turn(i);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    return time.count() / turns;
}

template <class Turn> static double millions(Turn turn, int threads)
{
    // Each count has a cache line of its own.
    struct alignas(128) count {
        long turns = 0;
    };
    std::vector<count> counts(static_cast<unsigned>(threads));
    std::vector<std::thread> running;
    std::atomic<bool> stop = false;
    const auto start = std::chrono::steady_clock::now();
    for (count &own : counts)
        running.emplace_back([&] {
            long done = 0;
            while (!stop.load(std::memory_order_relaxed))
                for (int i = 0; i < 16; ++i, ++done)
                    turn(i);
            own.turns = done;
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
    for (std::thread &thread : running)
        thread.join();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    long all = 0;
    for (const count &own : counts)
        all += own.turns;
    return static_cast<double>(all) / time.count();
}

struct measured {
    std::string what, name;
    std::function<double(int)> run;
    std::vector<double> found = {}, ratios = {};
};

static std::vector<measured> all;

template <class Turn> static void add(const char *what, const char *name, Turn turn)
{
    all.push_back({what, name, [turn](int threads) {
                       return threads == 1 ? nanoseconds(turn) : millions(turn, threads);
                   }});
}

template <class Read, class Write> static void add_rwlock(const char *name, Read read, Write write)
{
    add("write", name, [=](int) { write(); });
    add("read", name, [=](int) { read(); });
    add("one write in 16", name, [=](int turn) { turn % 16 == 0 ? write() : read(); });
}

template <class Lock> static void add_shared(const char *name)
{
    alignas(128) static Lock lock;
    add_rwlock(
        name,
        [] {
            std::shared_lock guard(lock);
            read_data();
        },
        [] {
            std::unique_lock guard(lock);
            write_data();
        });
}

template <class Semaphore> static void add_permit(const char *name)
{
    alignas(128) static Semaphore one(1);
    add("permit", name, [](int) {
        one.acquire();
        write_data();
        one.release();
    });
}

struct posix_semaphore {
    sem_t raw;
    explicit posix_semaphore(unsigned permits) { sem_init(&raw, 0, permits); }
    void acquire() { sem_wait(&raw); }
    void release() { sem_post(&raw); }
};

// Rounds of a barrier have as many threads as run, so that they are not measured with one.
template <class Barrier> static void add_barrier(const char *name, int threads)
{
    if (threads == 1)
        return;
    all.push_back({"round of a barrier", name, [](int number) {
                       constexpr int rounds = 2000;
                       Barrier barrier(number);
                       std::vector<std::thread> running;
                       const auto start = std::chrono::steady_clock::now();
                       for (int i = 0; i < number; ++i)
                           running.emplace_back([&] {
                               for (int round = 0; round < rounds; ++round)
                                   barrier.arrive_and_wait();
                           });
                       for (std::thread &thread : running)
                           thread.join();
                       const std::chrono::duration<double, std::micro> time =
                           std::chrono::steady_clock::now() - start;
                       return rounds / time.count();
                   }});
}

struct posix_barrier {
    pthread_barrier_t raw;
    explicit posix_barrier(int threads)
    {
        pthread_barrier_init(&raw, nullptr, static_cast<unsigned>(threads));
    }
    void arrive_and_wait() { pthread_barrier_wait(&raw); }
};

static void add_all(int threads)
{
    add_shared<ondeck::shared_mutex>("ondeck");
    add_permit<ondeck::counting_semaphore<>>("ondeck");
    static ondeck::once_flag once;
    add("once that is done", "ondeck", [](int) { ondeck::call_once(once, write_data); });
    add_barrier<ondeck::barrier<>>("ondeck", threads);

    add_shared<std::shared_mutex>("std");
    add_permit<std::counting_semaphore<>>("std");
    static std::once_flag std_once;
    add("once that is done", "std", [](int) { std::call_once(std_once, write_data); });
    add_barrier<std::barrier<>>("std", threads);

    add_permit<posix_semaphore>("sem_t");
    add_barrier<posix_barrier>("pthread_barrier_t", threads);
#if defined(WITH_ABSEIL)
    alignas(128) static absl::Mutex mutex;
    add_rwlock(
        "Abseil",
        [] {
            absl::ReaderMutexLock guard(&mutex);
            read_data();
        },
        [] {
            absl::MutexLock guard(&mutex);
            write_data();
        });
    static absl::once_flag absl_once;
    add("once that is done", "Abseil", [](int) { absl::call_once(absl_once, write_data); });
#endif
#if defined(WITH_NSYNC)
    alignas(128) static nsync::nsync_mu mu = NSYNC_MU_INIT;
    add_rwlock(
        "nsync",
        [] {
            nsync::nsync_mu_rlock(&mu);
            read_data();
            nsync::nsync_mu_runlock(&mu);
        },
        [] {
            nsync::nsync_mu_lock(&mu);
            write_data();
            nsync::nsync_mu_unlock(&mu);
        });
#endif
}

static double part(std::vector<double> &found, std::size_t quarters)
{
    std::sort(found.begin(), found.end());
    return found[(found.size() - 1) * quarters / 4];
}

int main(int count, char **arguments)
{
    const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
    const int rounds = count > 2 ? std::atoi(arguments[2]) : 41;
    if (threads < 1 || rounds < 1)
        return 2;
    // With one thread in the process some locks need no atomic instruction.
    ondeck::binary_semaphore ends(0);
    std::thread other([&] { ends.acquire(); });
    add_all(threads);
    for (int round = 0; round < rounds; ++round)
        for (measured &one : all)
            one.found.push_back(one.run(threads));
    ends.release();
    other.join();
    std::stable_sort(all.begin(), all.end(), [](const measured &one, const measured &next) {
        return one.what < next.what;
    });
    const measured *own = nullptr;
    for (measured &one : all) {
        if (one.name == "ondeck")
            own = &one;
        for (std::size_t round = 0; round < one.found.size(); ++round)
            one.ratios.push_back(own->found[round] / one.found[round]);
    }
    for (measured &one : all) {
        const double low = part(one.found, 1), middle = part(one.found, 2);
        std::printf("%-18s %-18s %8.2f (%.2f to %.2f)   ondeck: %.3f times\n", one.what.c_str(),
                    one.name.c_str(), middle, low, part(one.found, 3), part(one.ratios, 2));
    }
}
