// Programs for ci/replay/check.py, each with its own way to lock:
//
//     programs NAME THREADS SECONDS      prints how many acquisitions it made in a second
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Thread {
    int number;
    unsigned state;
};

static unsigned draw(Thread &self)
{
    unsigned &state = self.state;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
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

static long use_cache(Thread &self)
{
    unsigned key = draw(self) % 3000;
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

static long use_parts(Thread &self)
{
    unsigned key = draw(self) & 4095;
    {
        std::lock_guard<std::mutex> guard(parts[key & 15].mutex);
        parts[key & 15].counts[key]++;
    }
    work(300, key);
    return 1;
}

// Long sections, and five times as much outside.
static std::mutex seldom;

static long use_seldom(Thread &self)
{
    work(30000, self.state);
    std::lock_guard<std::mutex> guard(seldom);
    self.state = work(6000, self.state) | 1;
    return 1;
}

// One lock within another, and a counter.
static std::mutex outer, inner, counter;
static unsigned long counted;

static long use_nested(Thread &self)
{
    long acquired = 2;
    work(2500, self.state);
    {
        std::lock_guard<std::mutex> guard(outer);
        work(300, self.state);
        if (draw(self) % 4 == 0) {
            std::lock_guard<std::mutex> within(inner);
            work(400, self.state);
            acquired++;
        }
    }
    std::lock_guard<std::mutex> guard(counter);
    counted++;
    return acquired;
}

// A bounded queue: every other thread makes jobs, and the others do them.
static struct {
    std::mutex mutex;
    std::condition_variable has_job, has_room;
    std::deque<unsigned> jobs;
    bool is_closed;
} queue;

static long wait_for(std::unique_lock<std::mutex> &guard, std::condition_variable &condition, bool (*holds)())
{
    long acquired = 1;
    for (; !holds() && !queue.is_closed; acquired++)
        condition.wait(guard);
    return acquired;
}

static long use_queue(Thread &self)
{
    if (self.number % 2 == 0) {
        unsigned job = work(4000, draw(self));
        std::unique_lock<std::mutex> guard(queue.mutex);
        long acquired = wait_for(guard, queue.has_room, [] { return queue.jobs.size() < 64; });
        queue.jobs.push_back(job);
        queue.has_job.notify_one();
        return acquired;
    }
    unsigned job = 0;
    std::unique_lock<std::mutex> guard(queue.mutex);
    long acquired = wait_for(guard, queue.has_job, [] { return !queue.jobs.empty(); });
    if (!queue.jobs.empty()) {
        job = queue.jobs.front();
        queue.jobs.pop_front();
        queue.has_room.notify_one();
    }
    guard.unlock();
    work(6000, job);
    return acquired;
}

static void close_queue()
{
    std::lock_guard<std::mutex> guard(queue.mutex);
    queue.is_closed = true;
    queue.has_job.notify_all();
    queue.has_room.notify_all();
}

// A table of texts behind a reader-writer lock, of which one access in 16 writes.
static struct {
    std::shared_mutex lock;
    std::unordered_map<unsigned, std::string> texts;
} table;

static long use_table(Thread &self)
{
    unsigned key = draw(self) % 4096, length = 0;
    if (draw(self) % 16 == 0) {
        std::unique_lock<std::shared_mutex> guard(table.lock);
        table.texts[key].assign(20 + key % 50, 'a');
    } else {
        std::shared_lock<std::shared_mutex> guard(table.lock);
        auto found = table.texts.find(key);
        if (found != table.texts.end())
            for (char letter : found->second)
                length += letter;
    }
    work(500, length);
    return 1;
}

// Two of 64 accounts, of which the second is locked while the first one is.
static struct alignas(64) {
    std::mutex mutex;
    long entries[32];
} accounts[64];

static long use_accounts(Thread &self)
{
    unsigned one = draw(self) % 64, other = draw(self) % 64;
    if (one > other)
        std::swap(one, other);
    long acquired = 1;
    {
        std::lock_guard<std::mutex> guard(accounts[one].mutex);
        if (one != other) {
            std::lock_guard<std::mutex> within(accounts[other].mutex);
            for (int i = 0; i < 32; i++) {
                accounts[one].entries[i] -= i;
                accounts[other].entries[i] += i;
            }
            acquired++;
        }
    }
    work(600, one);
    return acquired;
}

// Lines of a log in blocks of a pool: two locks with short sections, one of them with a longer one now and then.
static struct {
    std::mutex mutex;
    std::vector<char *> blocks;
} pool;
static struct {
    std::mutex mutex;
    std::string lines;
    unsigned long written;
} journal;

static long use_journal(Thread &self)
{
    char *block = nullptr;
    {
        std::lock_guard<std::mutex> guard(pool.mutex);
        if (!pool.blocks.empty()) {
            block = pool.blocks.back();
            pool.blocks.pop_back();
        }
    }
    if (!block)
        block = new char[200];
    int length = snprintf(block, 200, "%d: %u of %u\n", self.number, draw(self), work(900, self.state));
    {
        std::lock_guard<std::mutex> guard(journal.mutex);
        journal.lines.append(block, length);
        if (journal.lines.size() > 60000) {
            journal.written += work(20000, journal.lines.size());
            journal.lines.clear();
        }
    }
    std::lock_guard<std::mutex> guard(pool.mutex);
    pool.blocks.push_back(block);
    return 3;
}

// A table that grows: once in 16,384 acquisitions a section takes milliseconds, half of a thread's time.
static struct {
    std::mutex mutex;
    unsigned long entries;
} growing;

static long use_growing(Thread &self)
{
    {
        std::lock_guard<std::mutex> guard(growing.mutex);
        work(++growing.entries % 16384 ? 40 : 6000000, self.state);
    }
    work(300, draw(self));
    return 1;
}

// Every other thread cleans up: it locks rarely, and holds for a millisecond.
static std::mutex shelf;

static long use_shelf(Thread &self)
{
    if (self.number % 2) {
        work(900, self.state);
        std::lock_guard<std::mutex> guard(shelf);
        self.state = work(200, self.state) | 1;
        return 1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::lock_guard<std::mutex> guard(shelf);
    work(1000000, self.state);
    return 1;
}

// Every other thread makes jobs, and the others yield until there is one.
static struct {
    std::mutex mutex;
    unsigned jobs;
} yielding;

static long use_yielding(Thread &self)
{
    if (self.number % 2 == 0) {
        work(8000, self.state);
        std::lock_guard<std::mutex> guard(yielding.mutex);
        yielding.jobs++;
        return 1;
    }
    bool found = false;
    {
        std::lock_guard<std::mutex> guard(yielding.mutex);
        if (yielding.jobs) {
            yielding.jobs--;
            found = true;
        }
    }
    if (found)
        work(2000, self.state);
    else
        std::this_thread::yield();
    return 1;
}

// Eight shelves of an index, of which every other access is to the first, with sections of many lengths.
static struct alignas(64) {
    std::mutex mutex;
    unsigned value;
} shelves[8];

static long use_index(Thread &self)
{
    unsigned random = draw(self), shelf = random & 1 ? 0 : random >> 1 & 7;
    work(600 + (random >> 8 & 2047), self.state);
    std::lock_guard<std::mutex> guard(shelves[shelf].mutex);
    shelves[shelf].value = work(20u << (random >> 20 & 7), shelves[shelf].value);
    return 1;
}

// A line that two threads write in turn, for how fast it moves at the moment.
static std::atomic<int> line_of{0};

static long use_line(Thread &self)
{
    if (line_of.load(std::memory_order_acquire) % 2 != self.number % 2)
        return 0;
    line_of.fetch_add(1, std::memory_order_acq_rel);
    return 1;
}

// Nothing shared, for the speed of the machine. Four chains of multiplications fill a core, so that two threads of one
// core are seen.
static long use_nothing(Thread &self)
{
    unsigned values[4] = {self.state, self.state + 1, self.state + 2, self.state + 3};
    for (int i = 0; i < 500; i++)
        for (unsigned &value : values) {
            value = value * 1664525 + 1013904223;
            asm volatile("" : "+r"(value));
        }
    self.state = values[0] | values[1] | values[2] | values[3];
    return 1;
}

int main(int argc, char **argv)
{
    static const std::map<std::string, long (*)(Thread &)> programs = {
        {"cache", use_cache}, {"parts", use_parts}, {"seldom", use_seldom},     {"nested", use_nested},
        {"queue", use_queue}, {"table", use_table}, {"accounts", use_accounts}, {"journal", use_journal},
        {"growing", use_growing}, {"shelf", use_shelf}, {"yielding", use_yielding}, {"index", use_index},
        {"nothing", use_nothing}, {"line", use_line}};
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
            Thread self = {i, i * 7919u + 1};
            long count = 0;
            while (Clock::now() < end)
                for (int turn = 0; turn < (program->second == use_line ? 1000 : 8); turn++)
                    count += program->second(self);
            if (program->second == use_queue)
                close_queue();
            counts[i] = count;
        });
    long sum = 0;
    for (int i = 0; i < threads; i++) {
        all[i].join();
        sum += counts[i];
    }
    printf("%.0f\n", sum / seconds);
}
