// ondeck for C++17 and later: a mutex of one byte that does not collapse under contention, its
// condition variable, and the standard's other types that wait. docs/c.md is the manual.
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
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

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

// Acquires by one of C's functions with a deadline.
template <class Clocked, class Raw, class Rep, class Period>
bool acquire_for(Clocked clocked, Raw *raw, const std::chrono::duration<Rep, Period> &time)
{
    const timespec deadline = monotonic_after(time);
    return clocked(raw, clock_monotonic, &deadline) == 0;
}

template <class Clocked, class Raw, class Clock, class Duration>
bool acquire_until(Clocked clocked, Raw *raw, const std::chrono::time_point<Clock, Duration> &time)
{
    if constexpr (clock_of<Clock> != -1) {
        const timespec deadline = to_timespec(time.time_since_epoch());
        return clocked(raw, clock_of<Clock>, &deadline) == 0;
    } else {
        // That clock may run at another rate.
        do {
            if (acquire_for(clocked, raw, left_until(time)))
                return true;
        } while (Clock::now() < time);
        return false;
    }
}

} // namespace detail

// The members NAME_for and NAME_until of a class with a member NAME, which does not wait. The
// function is called by its name, because compilers refuse to inline it through a pointer.
#define ONDECK_CALLS(function) [](auto... arguments) { return function(arguments...); }
#define ONDECK_TIMED(name, clocked)                                                                \
    template <class Rep, class Period>                                                             \
    [[nodiscard]] bool name##_for(const std::chrono::duration<Rep, Period> &time)                  \
    {                                                                                              \
        return name() || detail::acquire_for(ONDECK_CALLS(clocked), &raw_, time);                  \
    }                                                                                              \
    template <class Clock, class Duration>                                                         \
    [[nodiscard]] bool name##_until(const std::chrono::time_point<Clock, Duration> &time)          \
    {                                                                                              \
        return detail::acquire_until(ONDECK_CALLS(clocked), &raw_, time);                          \
    }

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

    ONDECK_TIMED(try_lock, ondeck_mutex_clocklock)

    native_handle_type native_handle() noexcept
    {
        return &raw_;
    }

private:
    ondeck_mutex_t raw_ = ONDECK_MUTEX_INIT;
};

namespace detail
{

inline int set_name(ondeck_mutex_t *lock, const char *name) noexcept
{
    return ondeck_mutex_name(lock, name);
}
inline int set_name(ondeck_rwlock_t *lock, const char *name) noexcept
{
    return ondeck_rwlock_name(lock, name);
}
inline int set_name(ondeck_sem_t *sem, const char *name) noexcept
{
    return ondeck_sem_name(sem, name);
}

} // namespace detail

// A mutex, shared_mutex or semaphore with a name for statistics and warnings, which is not copied:
// a literal. Takes no room in the lock, whose destructor takes it away.
// std::unique_lock<ondeck::mutex> takes a named mutex as it takes any.
template <class Lock>
class named : public Lock
{
public:
    template <class... Arguments>
    explicit named(const char *name, Arguments... arguments) noexcept : Lock(arguments...)
    {
        detail::set_name(this->native_handle(), name);
    }
    ~named()
    {
        detail::set_name(this->native_handle(), nullptr);
    }
};

using named_mutex = named<mutex>;

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

// Four bytes; a SharedTimedMutex, for std::shared_lock and std::unique_lock. One thread may hold it
// as upgradable, beside readers, and then become the writer; these members have Boost's names. A
// thread that has locked it must not lock it again, not even as a reader.
class shared_mutex
{
public:
    using native_handle_type = ondeck_rwlock_t *;

    constexpr shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;
#if defined(ONDECK_TSAN)
    ~shared_mutex()
    {
        ondeck_rwlock_destroy(&raw_);
    }
#endif

    void lock() noexcept { ondeck_rwlock_wrlock(&raw_); }
    [[nodiscard]] bool try_lock() noexcept { return ondeck_rwlock_trywrlock(&raw_) == 0; }
    ONDECK_TIMED(try_lock, ondeck_rwlock_clockwrlock)
    void unlock() noexcept { ondeck_rwlock_wrunlock(&raw_); }

    void lock_shared() noexcept
    {
        // While there are too many readers, as in the standard libraries.
        while (ondeck_rwlock_rdlock(&raw_) != 0) {
        }
    }
    [[nodiscard]] bool try_lock_shared() noexcept { return ondeck_rwlock_tryrdlock(&raw_) == 0; }
    ONDECK_TIMED(try_lock_shared, ondeck_rwlock_clockrdlock)
    void unlock_shared() noexcept { ondeck_rwlock_rdunlock(&raw_); }

    void lock_upgrade() noexcept
    {
        while (ondeck_rwlock_uplock(&raw_) != 0) {
        }
    }
    [[nodiscard]] bool try_lock_upgrade() noexcept { return ondeck_rwlock_tryuplock(&raw_) == 0; }
    ONDECK_TIMED(try_lock_upgrade, ondeck_rwlock_clockuplock)
    void unlock_upgrade() noexcept { ondeck_rwlock_upunlock(&raw_); }

    void unlock_upgrade_and_lock() noexcept { ondeck_rwlock_upgrade(&raw_); }
    [[nodiscard]] bool try_unlock_upgrade_and_lock() noexcept
    {
        return ondeck_rwlock_tryupgrade(&raw_) == 0;
    }
    ONDECK_TIMED(try_unlock_upgrade_and_lock, ondeck_rwlock_clockupgrade)
    void unlock_and_lock_shared() noexcept { ondeck_rwlock_downgrade(&raw_); }
    void unlock_and_lock_upgrade() noexcept { ondeck_rwlock_downgrade_to_up(&raw_); }
    void unlock_upgrade_and_lock_shared() noexcept { ondeck_rwlock_downgrade_up(&raw_); }

    native_handle_type native_handle() noexcept { return &raw_; }

private:
    ondeck_rwlock_t raw_ = ONDECK_RWLOCK_INIT;
};

// Four bytes, as std::counting_semaphore. A release of more permits than max() ends the program.
template <std::ptrdiff_t least_max_value = ONDECK_SEM_MOST>
class counting_semaphore
{
    static_assert(0 <= least_max_value && least_max_value <= ONDECK_SEM_MOST);

public:
    using native_handle_type = ondeck_sem_t *;

    static constexpr std::ptrdiff_t max() noexcept { return ONDECK_SEM_MOST; }

    constexpr explicit counting_semaphore(std::ptrdiff_t desired) noexcept
        : raw_ ONDECK_SEM_INIT(desired)
    {
    }
    counting_semaphore(const counting_semaphore &) = delete;
    counting_semaphore &operator=(const counting_semaphore &) = delete;

    void release(std::ptrdiff_t update = 1) noexcept
    {
        const int error = update == 1 ? ondeck_sem_post(&raw_)
                          : 0 <= update && update <= max()
                              ? ondeck_sem_post_many(&raw_, static_cast<unsigned>(update))
                              : EOVERFLOW;
        if (error != 0)
            std::terminate();
    }
    void acquire() noexcept { ondeck_sem_wait(&raw_); }
    [[nodiscard]] bool try_acquire() noexcept { return ondeck_sem_trywait(&raw_) == 0; }
    ONDECK_TIMED(try_acquire, ondeck_sem_clockwait)

    native_handle_type native_handle() noexcept { return &raw_; }

private:
    ondeck_sem_t raw_;
};

using binary_semaphore = counting_semaphore<1>;

// One byte, as std::once_flag.
class once_flag
{
public:
    using native_handle_type = ondeck_once_t *;

    constexpr once_flag() noexcept = default;
    once_flag(const once_flag &) = delete;
    once_flag &operator=(const once_flag &) = delete;

    native_handle_type native_handle() noexcept { return &raw_; }

private:
    ondeck_once_t raw_ = ONDECK_ONCE_INIT;
};

// As std::call_once: after a call that throws, the next one calls its function.
template <class Function, class... Arguments>
void call_once(once_flag &flag, Function &&function, Arguments &&...arguments)
{
    struct run {
        ondeck_once_t *once;
        bool is_done;
        ~run() { is_done ? ondeck_once_end(once) : ondeck_once_abandon(once); }
    };
    if (ondeck_once_begin(flag.native_handle()) != 0) {
        run now{flag.native_handle(), false};
        std::invoke(std::forward<Function>(function), std::forward<Arguments>(arguments)...);
        now.is_done = true;
    }
}

namespace detail
{

struct nothing {
    void operator()() const noexcept {}
};

} // namespace detail

// Eight bytes and the function, which takes none if it is empty; as std::barrier. The thread that
// arrives last runs the function.
template <class Completion = detail::nothing>
class barrier : std::tuple<Completion>
{
public:
    class arrival_token
    {
    public:
        arrival_token(arrival_token &&) noexcept = default;
        arrival_token &operator=(arrival_token &&) noexcept = default;

    private:
        friend class barrier;
        explicit arrival_token(unsigned round) noexcept : round_(round) {}
        unsigned round_;
    };

    static constexpr std::ptrdiff_t max() noexcept { return (1 << 30) - 1; }

    constexpr explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
        : std::tuple<Completion>(std::move(completion)), raw_ ONDECK_BARRIER_INIT(expected)
    {
    }
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;

    [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1) noexcept
    {
        unsigned round;
        end_if(ondeck_barrier_arrive(&raw_, static_cast<unsigned>(update), &round));
        return arrival_token(round);
    }
    void wait(arrival_token &&arrival) const noexcept
    {
        ondeck_barrier_wait_end(&raw_, arrival.round_);
    }
    void arrive_and_wait() noexcept
    {
        if constexpr (std::is_same_v<Completion, detail::nothing>)
            ondeck_barrier_wait(&raw_);
        else
            end_if(ondeck_barrier_meet(&raw_));
    }
    void arrive_and_drop() noexcept { end_if(ondeck_barrier_leave(&raw_)); }

private:
    // Ends the round in the thread that arrived last.
    void end_if(int is_last) noexcept
    {
        if (is_last == ONDECK_BARRIER_LAST) {
            std::get<0>(static_cast<std::tuple<Completion> &>(*this))();
            ondeck_barrier_end(&raw_);
        }
    }

    mutable ondeck_barrier_t raw_;
};

#undef ONDECK_TIMED
#undef ONDECK_CALLS

} // namespace ondeck

#endif // ONDECK_HPP
