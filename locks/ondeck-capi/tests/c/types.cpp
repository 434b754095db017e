// The classes of ondeck.hpp meet the requirements of the standard's locks and algorithms, and wait
// by every clock.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <ondeck.hpp>
#include <ratio>
#include <thread>
#include <type_traits>
#include <vector>

#include "check.hpp"

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;

static_assert(sizeof(ondeck::mutex) == 1 && sizeof(ondeck::condition_variable) == 1);
static_assert(std::is_nothrow_default_constructible_v<ondeck::mutex>);
static_assert(!std::is_copy_constructible_v<ondeck::mutex> &&
              !std::is_move_assignable_v<ondeck::mutex>);
static_assert(!std::is_copy_constructible_v<ondeck::condition_variable>);
static_assert(std::is_same_v<decltype(std::declval<ondeck::mutex &>().try_lock()), bool>);
static_assert(noexcept(std::declval<ondeck::mutex &>().lock()) &&noexcept(
    std::declval<ondeck::mutex &>().unlock()));

#if __cpp_constinit >= 201907L
constinit ondeck::mutex constant;
constinit ondeck::condition_variable changed;
#else
ondeck::mutex constant;
ondeck::condition_variable changed;
#endif

// A clock that runs twice as fast as others.
struct hasty_clock {
    using rep = std::int64_t;
    using period = std::milli;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<hasty_clock>;
    static constexpr bool is_steady = true;
    static time_point now()
    {
        const auto real = steady_clock::now().time_since_epoch();
        return time_point(std::chrono::duration_cast<duration>(2 * real));
    }
};

static void conversions()
{
    using namespace std::chrono;
    auto is = [](timespec time, long long seconds, long nanoseconds) {
        return time.tv_sec == seconds && time.tv_nsec == nanoseconds;
    };
    using ondeck::detail::to_timespec;
    CHECK(is(to_timespec(1'500'000'001ns), 1, 500'000'001));
    CHECK(is(to_timespec(3h), 10'800, 0));
    CHECK(is(to_timespec(-3h), 0, 0));
    CHECK(is(to_timespec(0s), 0, 0));
    CHECK(is(to_timespec(duration<double>(2.25)), 2, 250'000'000));
    CHECK(is(to_timespec(duration<std::int64_t, std::pico>(1'000'000'000'001)), 1, 1));
    CHECK(is(to_timespec(duration<std::int64_t, std::pico>(1'999'999'999'999)), 2, 0));
    CHECK(is(to_timespec(duration<std::int64_t, std::ratio<1, 3>>(4)), 1, 333'333'334));
    CHECK(is(to_timespec(nanoseconds::max()), 9'223'372'036, 854'775'807));
    CHECK(to_timespec(hours::max()).tv_sec > 1'000'000'000'000'000);
    CHECK(to_timespec(duration<double>(1e300)).tv_sec > 1'000'000'000'000'000);
    CHECK(ondeck::detail::monotonic_after(hours::max()).tv_sec > 0);
    CHECK(ondeck::detail::monotonic_after(-1h).tv_nsec < 1'000'000'000);
}

template <class TimePoint>
static bool attempt_until(TimePoint time)
{
    bool owner = false;
    std::thread([&] {
        owner = constant.try_lock_until(time);
        if (owner)
            constant.unlock();
    }).join();
    return owner;
}

static void locks()
{
    {
        std::unique_lock lock(constant);
        CHECK(lock.owns_lock());
        CHECK(!attempt_until(steady_clock::now() + 5ms));
        CHECK(!attempt_until(system_clock::now() + 5ms));
        CHECK(!attempt_until(hasty_clock::now() + 10ms));
        CHECK(!attempt_until(steady_clock::time_point::min()));
        bool owner = true;
        std::thread([&] { owner = constant.try_lock_for(5ms); }).join();
        CHECK(!owner);
        std::thread([&] {
            owner = std::unique_lock(constant, std::try_to_lock).owns_lock();
        }).join();
        CHECK(!owner);
    }
    CHECK(attempt_until(steady_clock::now()));
    CHECK(attempt_until(hasty_clock::time_point::min()));
    CHECK(std::unique_lock(constant, 1s).owns_lock());
    CHECK(std::unique_lock(constant, hasty_clock::now() + 1s).owns_lock());

    // A thread that waits forever, with a duration that overflows when added to any clock's time.
    std::unique_lock held(constant);
    std::thread waiting([] {
        CHECK(constant.try_lock_for(std::chrono::hours::max()));
        constant.unlock();
    });
    std::this_thread::sleep_for(5ms);
    held.unlock();
    waiting.join();

    ondeck::mutex first, second;
    long count = 0;
    auto both = [&](ondeck::mutex &one, ondeck::mutex &other) {
        for (int i = 0; i < 500; ++i) {
            std::scoped_lock lock(one, other);
            ++count;
        }
    };
    std::thread forwards(both, std::ref(first), std::ref(second)),
        backwards(both, std::ref(second), std::ref(first));
    forwards.join();
    backwards.join();
    CHECK(count == 1000);
    CHECK(first.native_handle() == reinterpret_cast<ondeck_mutex_t *>(&first));
}

static bool ready;

template <class Wait>
static bool notified(Wait wait)
{
    ready = false;
    std::unique_lock lock(constant);
    std::thread notifier([] {
        std::lock_guard guard(constant);
        ready = true;
        changed.notify_all();
    });
    bool result = wait(lock);
    CHECK(lock.owns_lock());
    lock.unlock();
    notifier.join();
    return result;
}

static void waits()
{
    const auto is_ready = [] { return ready; };
    using lock_type = std::unique_lock<ondeck::mutex>;
    CHECK(notified([&](lock_type &lock) {
        changed.wait(lock, is_ready);
        return ready;
    }));
    CHECK(notified([&](lock_type &lock) { return changed.wait_for(lock, 60s, is_ready); }));
    CHECK(notified([&](lock_type &lock) {
        return changed.wait_for(lock, std::chrono::hours::max(), is_ready);
    }));
    CHECK(notified([&](lock_type &lock) {
        return changed.wait_until(lock, steady_clock::now() + 60s, is_ready);
    }));
    CHECK(notified([&](lock_type &lock) {
        return changed.wait_until(lock, system_clock::now() + 60s, is_ready);
    }));
    CHECK(notified([&](lock_type &lock) {
        return changed.wait_until(lock, hasty_clock::now() + 60s, is_ready);
    }));

    ready = false;
    std::unique_lock lock(constant);
    const auto timeout = std::cv_status::timeout;
    CHECK(changed.wait_for(lock, 2ms) == timeout);
    CHECK(changed.wait_for(lock, -1h) == timeout);
    auto soon = steady_clock::now() + 5ms;
    CHECK(changed.wait_until(lock, soon) == timeout && steady_clock::now() >= soon);
    auto soon_really = system_clock::now() + 5ms;
    CHECK(changed.wait_until(lock, soon_really) == timeout && system_clock::now() >= soon_really);
    auto soon_hasty = hasty_clock::now() + 10ms;
    CHECK(!changed.wait_until(lock, soon_hasty, is_ready) && hasty_clock::now() >= soon_hasty);
    CHECK(!changed.wait_for(lock, 2ms, is_ready));
    CHECK(changed.wait_for(lock, -1h, [] { return true; }));
    CHECK(lock.owns_lock());
}

// The name of the mutex at `place` that a thread waits for.
static std::string name_at(ondeck::mutex *place)
{
    place->lock();
    std::thread waiter([=] { std::lock_guard lock(*place); });
    std::string name = "none";
    const auto seen = [](const ondeck_lock_stats_t *lock, void *found) {
        if (lock->waiting == 1)
            *static_cast<std::string *>(found) = lock->name;
    };
    while (name == "none")
        ondeck_stats_each(seen, &name);
    place->unlock();
    waiter.join();
    return name;
}

static void names()
{
    ondeck_stats_enable();
    alignas(ondeck::named_mutex) unsigned char memory[sizeof(ondeck::named_mutex)];
    auto *const named = new (memory) ondeck::named_mutex("named");
    CHECK(name_at(named) == "named");
    named->~named();
    auto *const next = new (memory) ondeck::mutex;
    CHECK(name_at(next) == "");
    next->~mutex();
    ondeck_stats_disable();
}

int main()
{
    names();
    conversions();
    locks();
    waits();
    return 0;
}
