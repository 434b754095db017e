// ondeck for C++17 and later: a mutex of one byte that does not collapse under contention, and its
// condition variable. docs/c.md of the project is the manual.
//
//     #include <ondeck.hpp>
//
//     ondeck::mutex guard;    // a static one is initialized before any constructor runs
//     ondeck::condition_variable changed;
//
//     std::unique_lock lock(guard);
//     changed.wait(lock, [&] { return ready; });
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef ONDECK_HPP
#define ONDECK_HPP

#if __cplusplus < 201703L
#error "ondeck.hpp needs C++17 or later; ondeck.h does not"
#endif

#include <ondeck.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <type_traits>

namespace ondeck
{

namespace detail
{

// The kernel's numbers. <time.h> defines the names only for programs that ask for POSIX.
inline constexpr int clock_realtime = 0;
#if defined(__APPLE__) || defined(__FreeBSD__)
// CLOCK_MONOTONIC_RAW and CLOCK_MONOTONIC, the clocks that std::chrono::steady_clock uses there.
inline constexpr int clock_monotonic = 4;
#else
inline constexpr int clock_monotonic = 1;
#endif

// Converts a time since a clock's epoch to the form that C functions take. Rounds up, so that no
// wait ends too soon, and clamps to the range of the type.
template <class Rep, class Period>
timespec to_timespec(const std::chrono::duration<Rep, Period> &since) noexcept
{
    using namespace std::chrono;
    constexpr std::int64_t longest = INT64_C(9'000'000'000'000'000'000);
    constexpr long in_second = 1'000'000'000;
    const double about = duration<double>(since).count();
    // Also true of NaN.
    if (!(about > 0))
        return {0, 0};
    if (about >= static_cast<double>(longest))
        return {longest, 0};
    const auto whole = duration_cast<duration<std::int64_t>>(since);
    const long rest = static_cast<long>(ceil<nanoseconds>(since - whole).count());
    if (rest >= in_second)
        return {whole.count() + 1, 0};
    return {whole.count(), rest};
}

// Returns the time of CLOCK_MONOTONIC that is the duration later than now.
template <class Rep, class Period>
timespec monotonic_after(const std::chrono::duration<Rep, Period> &left) noexcept
{
    // In the C++ libraries std::chrono::steady_clock is that clock.
    const timespec now = to_timespec(std::chrono::steady_clock::now().time_since_epoch());
    timespec then = to_timespec(left);
    then.tv_sec += now.tv_sec;
    then.tv_nsec += now.tv_nsec;
    if (then.tv_nsec >= 1'000'000'000) {
        then.tv_nsec -= 1'000'000'000;
        then.tv_sec += 1;
    }
    return then;
}

// Returns the duration until a time of a clock: zero if that time has passed, however long ago.
template <class Clock, class Duration>
auto left_until(const std::chrono::time_point<Clock, Duration> &time)
{
    const auto now = Clock::now();
    using left = decltype(time - now);
    return time > now ? time - now : left::zero();
}

// The kernel's number of a clock; -1 for any other clock.
template <class Clock>
inline constexpr int clock_of = std::is_same_v<Clock, std::chrono::steady_clock>   ? clock_monotonic
                                : std::is_same_v<Clock, std::chrono::system_clock> ? clock_realtime
                                                                                   : -1;

} // namespace detail

// One byte; a TimedLockable, for std::unique_lock, std::scoped_lock, std::lock. Not recursive. It
// may be destroyed by a thread that has just unlocked it.
class mutex
{
public:
    using native_handle_type = ondeck_mutex_t *;

    constexpr mutex() noexcept = default;
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;
#if defined(ONDECK_TSAN)
    // The memory may be reused for another mutex.
    ~mutex()
    {
        ondeck_mutex_destroy(&raw_);
    }
#endif

    void lock() noexcept
    {
        ondeck_mutex_lock(&raw_);
    }
    [[nodiscard]] bool try_lock() noexcept
    {
        return ondeck_mutex_trylock(&raw_) == 0;
    }
    void unlock() noexcept
    {
        ondeck_mutex_unlock(&raw_);
    }

    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        if (try_lock())
            return true;
        const timespec deadline = detail::monotonic_after(time);
        return ondeck_mutex_clocklock(&raw_, detail::clock_monotonic, &deadline) == 0;
    }

    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        if constexpr (detail::clock_of<Clock> != -1) {
            const timespec deadline = detail::to_timespec(time.time_since_epoch());
            return ondeck_mutex_clocklock(&raw_, detail::clock_of<Clock>, &deadline) == 0;
        } else {
            // That clock may run at another rate.
            do {
                if (try_lock_for(detail::left_until(time)))
                    return true;
            } while (Clock::now() < time);
            return false;
        }
    }

    native_handle_type native_handle() noexcept
    {
        return &raw_;
    }

private:
    ondeck_mutex_t raw_ = ONDECK_MUTEX_INIT;
};

// One byte. As std::condition_variable, for std::unique_lock<ondeck::mutex>; waiters may use
// different mutexes. For other locks, and for waits with a std::stop_token,
// std::condition_variable_any takes an ondeck::mutex as it takes any.
class condition_variable
{
public:
    using native_handle_type = ondeck_cond_t *;

    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    void notify_one() noexcept { ondeck_cond_signal(&raw_); }
    void notify_all() noexcept { ondeck_cond_broadcast(&raw_); }

    void wait(std::unique_lock<mutex> &lock) noexcept
    {
        ondeck_cond_wait(&raw_, lock.mutex()->native_handle());
    }

    template <class Predicate>
    void wait(std::unique_lock<mutex> &lock, Predicate predicate)
    {
        while (!predicate())
            wait(lock);
    }

    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex> &lock,
                            const std::chrono::duration<Rep, Period> &time)
    {
        return wait_to(lock, detail::clock_monotonic, detail::monotonic_after(time));
    }

    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex> &lock, const std::chrono::duration<Rep, Period> &time,
                  Predicate predicate)
    {
        const timespec deadline = detail::monotonic_after(time);
        while (!predicate()) {
            if (wait_to(lock, detail::clock_monotonic, deadline) == std::cv_status::timeout)
                return predicate();
        }
        return true;
    }

    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex> &lock,
                              const std::chrono::time_point<Clock, Duration> &time)
    {
        if constexpr (detail::clock_of<Clock> != -1) {
            return wait_to(lock, detail::clock_of<Clock>,
                           detail::to_timespec(time.time_since_epoch()));
        } else {
            // That clock may run at another rate.
            if (wait_for(lock, detail::left_until(time)) == std::cv_status::no_timeout)
                return std::cv_status::no_timeout;
            return Clock::now() < time ? std::cv_status::no_timeout : std::cv_status::timeout;
        }
    }

    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex> &lock,
                    const std::chrono::time_point<Clock, Duration> &time, Predicate predicate)
    {
        while (!predicate()) {
            if (wait_until(lock, time) == std::cv_status::timeout)
                return predicate();
        }
        return true;
    }

    native_handle_type native_handle() noexcept { return &raw_; }

private:
    std::cv_status wait_to(std::unique_lock<mutex> &lock, int clock,
                           const timespec &deadline) noexcept
    {
        const int error =
            ondeck_cond_clockwait(&raw_, lock.mutex()->native_handle(), clock, &deadline);
        return error == 0 ? std::cv_status::no_timeout : std::cv_status::timeout;
    }

    ondeck_cond_t raw_ = ONDECK_COND_INIT;
};

} // namespace ondeck

#endif // ONDECK_HPP
