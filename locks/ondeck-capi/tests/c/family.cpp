// The shared mutex, the semaphore, the once flag and the barrier of ondeck.hpp have the interfaces
// and the guarantees of the standard's.
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ondeck.hpp>
#include <shared_mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "check.hpp"

using namespace std::chrono_literals;

#if __cpp_constinit >= 201907L
#define CONSTANT constinit
#else
#define CONSTANT
#endif
CONSTANT ondeck::shared_mutex shared;
CONSTANT ondeck::counting_semaphore<> permits(2);
CONSTANT ondeck::binary_semaphore told(0);
CONSTANT ondeck::once_flag flag;
CONSTANT ondeck::barrier meeting(4);
static_assert(sizeof shared == 4 && sizeof permits == 4 && sizeof flag == 1 && sizeof meeting == 8);
static_assert(!std::is_copy_constructible_v<ondeck::shared_mutex>);
static_assert(ondeck::binary_semaphore::max() >= 1 && decltype(meeting)::max() >= 4);

template <class Run>
static void elsewhere(Run run)
{
    std::thread(run).join();
}

// A thread that does not hold the lock can have it as a reader, an upgradable reader, a writer.
static void can(bool read, bool upgrade, bool write)
{
    using std::chrono::steady_clock;
    using std::chrono::system_clock;
    elsewhere([=] {
        auto tries = [](bool may, auto now, auto until, auto unlock) {
            CHECK(now() == may);
            may ? unlock() : void();
            CHECK(until() == may);
            may ? unlock() : void();
        };
        std::shared_lock reads(shared, std::defer_lock);
        std::unique_lock writes(shared, std::defer_lock);
        tries(read, [&] { return reads.try_lock(); }, [&] { return reads.try_lock_for(2ms); },
              [&] { reads.unlock(); });
        tries(read, [&] { return reads.try_lock_until(steady_clock::now() + 2ms); },
              [&] { return reads.try_lock_until(system_clock::now() + 2ms); },
              [&] { reads.unlock(); });
        tries(upgrade, [] { return shared.try_lock_upgrade(); },
              [] { return shared.try_lock_upgrade_for(2ms); }, [] { shared.unlock_upgrade(); });
        tries(write, [&] { return writes.try_lock(); }, [&] { return writes.try_lock_for(2ms); },
              [&] { writes.unlock(); });
        tries(write, [&] { return writes.try_lock_until(steady_clock::now() + 2ms); },
              [&] { return writes.try_lock_until(system_clock::now() + 2ms); },
              [&] { writes.unlock(); });
    });
}

static void locks()
{
    can(true, true, true);
    {
        std::shared_lock lock(shared);
        can(true, true, false);
    }
    {
        ondeck::mutex other;
        std::scoped_lock lock(shared, other);
        can(false, false, false);
    }
    shared.lock_upgrade();
    can(true, false, false);
    std::thread reader([] {
        std::shared_lock lock(shared);
        told.release();
        std::this_thread::sleep_for(20ms);
    });
    told.acquire();
    CHECK(!shared.try_unlock_upgrade_and_lock());
    CHECK(!shared.try_unlock_upgrade_and_lock_for(1ms));
    shared.unlock_upgrade_and_lock();
    can(false, false, false);
    reader.join();
    shared.unlock_and_lock_upgrade();
    can(true, false, false);
    CHECK(shared.try_unlock_upgrade_and_lock_until(std::chrono::steady_clock::now()));
    shared.unlock_and_lock_shared();
    can(true, true, false);
    shared.unlock_shared();
    shared.lock_upgrade();
    shared.unlock_upgrade_and_lock_shared();
    can(true, true, false);
    shared.unlock_shared();
    CHECK(shared.native_handle() == reinterpret_cast<ondeck_rwlock_t *>(&shared));

    // A reader waits for a condition that a writer makes true.
    std::condition_variable_any changed;
    bool is_there = false;
    std::thread writer([&] {
        std::lock_guard lock(shared);
        is_there = true;
        changed.notify_one();
    });
    std::shared_lock lock(shared);
    changed.wait(lock, [&] { return is_there; });
    writer.join();
}

static void semaphores()
{
    permits.acquire();
    CHECK(permits.try_acquire() && !permits.try_acquire() && !permits.try_acquire_for(2ms));
    CHECK(!permits.try_acquire_until(std::chrono::system_clock::now() + 2ms));
    std::thread waiting([] {
        for (int i = 0; i < 3; ++i)
            permits.acquire();
    });
    permits.release();
    permits.release(2);
    waiting.join();
    permits.release(0);
    CHECK(!permits.try_acquire());
    permits.release(2);
    CHECK(permits.native_handle() == reinterpret_cast<ondeck_sem_t *>(&permits));
}

static void onces()
{
    int calls = 0;
    auto run = [&](int &count, bool fails) {
        ++count;
        if (fails)
            throw std::runtime_error("not yet");
    };
    for (bool fails : {true, true, false, true}) {
        bool thrown = false;
        try {
            ondeck::call_once(flag, run, calls, fails);
        } catch (const std::runtime_error &) {
            thrown = true;
        }
        CHECK(thrown == (fails && calls < 3));
    }
    CHECK(calls == 3);
    CHECK(flag.native_handle() == reinterpret_cast<ondeck_once_t *>(&flag));

    // The threads that wait go on when it is done, and see it.
    ondeck::once_flag slow;
    int made = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            ondeck::call_once(slow, [&] {
                std::this_thread::sleep_for(5ms);
                ++made;
            });
            CHECK(made == 1);
        });
    for (auto &thread : threads)
        thread.join();
}

static void barriers()
{
    std::array<int, 4> rounds{};
    int completed = 0;
    auto complete = [&]() noexcept {
        if (completed % 50 == 0)
            std::this_thread::sleep_for(2ms);
        ++completed;
        for (int round : rounds)
            CHECK(round == completed);
    };
    ondeck::barrier all(4, complete);
    std::vector<std::thread> threads;
    for (auto &own : rounds)
        threads.emplace_back([&] {
            for (int i = 1; i <= 200; ++i) {
                ++own;
                all.arrive_and_wait();
                CHECK(completed == i);
                meeting.arrive_and_wait();
            }
        });
    for (auto &thread : threads)
        thread.join();
    CHECK(completed == 200);

    struct last final {
        int *times;
        void operator()() const noexcept { ++*times; }
    };
    static int pointed;
    ondeck::barrier by_final(1, last{&completed});
    ondeck::barrier by_pointer(1, +[]() noexcept { ++pointed; });
    by_final.arrive_and_wait();
    by_pointer.arrive_and_wait();
    CHECK(completed == 201 && pointed == 1);
}

// One thread waits as it arrives, one works between the two, and one leaves after half of the rounds.
static void barrier_steps()
{
    std::array<int, 3> rounds{};
    int completed = 0;
    auto complete = [&]() noexcept { ++completed; };
    ondeck::barrier all(3, complete);
    ondeck::barrier checked(4);
    const auto see = [&](int round, unsigned threads) {
        CHECK(completed == round);
        for (unsigned i = 0; i < threads; ++i)
            CHECK(rounds[i] == round);
    };
    std::thread waits([&] {
        for (int i = 1; i <= 200; ++i) {
            ++rounds[0];
            all.arrive_and_wait();
            see(i, 2);
            checked.arrive_and_wait();
        }
    });
    std::thread arrives([&] {
        for (int i = 1; i <= 200; ++i) {
            ++rounds[1];
            auto token = all.arrive();
            if (i % 50 == 0)
                std::this_thread::sleep_for(1ms);
            all.wait(std::move(token));
            see(i, 2);
            checked.arrive_and_wait();
        }
    });
    std::thread leaves([&] {
        for (int i = 1; i < 100; ++i) {
            ++rounds[2];
            all.wait(all.arrive());
            see(i, 3);
            checked.wait(checked.arrive(2));
        }
        all.arrive_and_drop();
        checked.arrive_and_drop();
        checked.arrive_and_drop();
    });
    waits.join();
    arrives.join();
    leaves.join();
    CHECK(completed == 200 && rounds[1] == 200 && rounds[2] == 99);

    // Alone, and without any thread.
    all.arrive_and_drop();
    CHECK(completed == 200);
    all.wait(all.arrive());
    all.arrive_and_wait();
    CHECK(completed == 202);
    all.arrive_and_drop();
    CHECK(completed == 203);
}

static void names()
{
    ondeck::named<ondeck::shared_mutex> book("book");
    ondeck::named<ondeck::counting_semaphore<>> seats("seats", 1);
    const auto seen = [](const ondeck_lock_stats_t *lock, void *found) {
        const std::string_view name = lock->name;
        *static_cast<int *>(found) += (name == "book" || name == "seats") && lock->gave_up == 1;
    };
    int found = 0;
    ondeck_stats_enable();
    seats.acquire();
    std::unique_lock lock(book);
    CHECK(!book.try_lock_for(1ms) && !seats.try_acquire_for(1ms));
    ondeck_stats_each(seen, &found);
    CHECK(found == 2);
}

int main()
{
    locks();
    semaphores();
    onces();
    barriers();
    barrier_steps();
    names();
    return 0;
}
