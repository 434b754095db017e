// C++17: a bounded queue between threads.
//
//     c++ -std=c++17 queue.cpp $(pkg-config --cflags --libs ondeck) -o queue && ./queue
#include <cstdio>
#include <deque>
#include <mutex>
#include <ondeck.hpp>
#include <optional>
#include <thread>
#include <vector>

template <class T>
class bounded_queue
{
public:
    explicit bounded_queue(std::size_t capacity) : capacity_(capacity) {}

    void push(T value)
    {
        std::unique_lock lock(mutex_);
        not_full_.wait(lock, [&] { return values_.size() < capacity_; });
        values_.push_back(std::move(value));
        not_empty_.notify_one();
    }

    // Returns nothing once the queue is closed and empty.
    std::optional<T> pop()
    {
        std::unique_lock lock(mutex_);
        not_empty_.wait(lock, [&] { return closed_ || !values_.empty(); });
        if (values_.empty())
            return std::nullopt;
        T value = std::move(values_.front());
        values_.pop_front();
        not_full_.notify_one();
        return value;
    }

    void close()
    {
        std::scoped_lock lock(mutex_);
        closed_ = true;
        not_empty_.notify_all();
    }

private:
    ondeck::mutex mutex_;
    ondeck::condition_variable not_empty_, not_full_;
    std::deque<T> values_;
    std::size_t capacity_;
    bool closed_ = false;
};

int main()
{
    constexpr long producers = 2, consumers = 3, each = 10000;
    bounded_queue<long> queue(8);
    ondeck::mutex total_mutex;
    long total = 0;
    std::vector<std::thread> making, taking;
    for (long p = 0; p < producers; ++p)
        making.emplace_back([&] {
            for (long i = 1; i <= each; ++i)
                queue.push(i);
        });
    for (long c = 0; c < consumers; ++c)
        taking.emplace_back([&] {
            long sum = 0;
            while (auto value = queue.pop())
                sum += *value;
            std::lock_guard lock(total_mutex);
            total += sum;
        });
    for (auto &thread : making)
        thread.join();
    queue.close();
    for (auto &thread : taking)
        thread.join();
    const long expected = producers * each * (each + 1) / 2;
    std::printf("the sum is %ld of %ld\n", total, expected);
    return total == expected ? 0 : 1;
}
