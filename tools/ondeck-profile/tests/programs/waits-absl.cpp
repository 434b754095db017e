// Two threads that wait for an absl::Mutex, which a third one keeps.
#include <absl/synchronization/mutex.h>
#include <chrono>
#include <cstdio>
#include <thread>

static absl::Mutex hot;

[[gnu::noinline]] static void take_hot()
{
    absl::MutexLock held(&hot);
    __asm__ volatile("");
}

int main()
{
    absl::MutexLock held(&hot);
    std::thread one(take_hot), other(take_hot);
    std::puts("ready");
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::hours(1));
}
