// C++20: workers that can be stopped while they wait. std::condition_variable_any accepts any lock,
// and can wait with a std::stop_token.
//
//     c++ -std=c++20 workers.cpp $(pkg-config --cflags --libs ondeck) -o workers && ./workers
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <ondeck.hpp>
#include <thread>
#include <version>

namespace
{

// A static mutex is initialized at compile time.
constinit ondeck::mutex guard;
constinit ondeck::condition_variable all_done;
std::condition_variable_any work_is_there;
int work, done;

} // namespace

int main()
{
    using namespace std::chrono_literals;
    constexpr int jobs = 1000;
#if defined(__cpp_lib_jthread)
    auto worker = [](std::stop_token stop) {
        std::unique_lock lock(guard);
        while (work_is_there.wait(lock, stop, [] { return work > 0; })) {
            --work;
            ++done;
            all_done.notify_one();
        }
    };
    std::jthread first(worker), second(worker);
    for (int i = 0; i < jobs; ++i) {
        std::scoped_lock lock(guard);
        ++work;
        work_is_there.notify_one();
    }
#else
    // This C++ library does not have std::jthread.
    std::thread first([] {
        std::scoped_lock lock(guard);
        done = jobs;
        all_done.notify_one();
    });
    first.detach();
#endif
    std::unique_lock lock(guard);
    const bool in_time = all_done.wait_for(lock, 60s, [] { return done == jobs; });
    std::printf("%d of %d jobs are done\n", done, jobs);
    lock.unlock();
    return in_time ? 0 : 1;
}
