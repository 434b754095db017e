// The same in C++: a mutex that is made with its name. Compile with -DONDECK_STATS.
#include <ondeck.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

static ondeck::named_mutex accounts("accounts");
static long balance;

static void pay()
{
    using namespace std::chrono_literals;
    for (int turn = 0; turn < 20; turn++) {
        const std::lock_guard lock(accounts);
        balance += 1;
        // Once it writes to a disk, as it should not.
        std::this_thread::sleep_for(turn == 10 ? 60ms : 1ms);
    }
}

static std::string place(const void *site)
{
    char text[80];
    ondeck_stats_site(site, text, sizeof text);
    return text;
}

int main()
{
    ondeck_on_long_hold(50'000'000, [](const ondeck_event_t *event) {
        std::fprintf(stderr, "%s was held for %llu ms, from %s on; at %s a thread waits\n",
                     event->name, static_cast<unsigned long long>(event->duration / 1'000'000),
                     place(event->site).c_str(), place(event->other).c_str());
    });
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back(pay);
    for (auto &thread : threads)
        thread.join();

    const auto print = [](const ondeck_lock_stats_t *lock, void *) {
        std::printf("%s: %llu waits, p50 %llu us, longest %llu us; longest hold %llu us, at %s\n",
                    lock->name, static_cast<unsigned long long>(lock->waits),
                    static_cast<unsigned long long>(lock->p50 / 1000),
                    static_cast<unsigned long long>(lock->longest_wait / 1000),
                    static_cast<unsigned long long>(lock->longest_hold / 1000),
                    place(lock->longest_hold_site).c_str());
    };
    ondeck_stats_each(print, nullptr);
    return balance == 40 ? 0 : 1;
}
