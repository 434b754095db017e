/* Shared by the programs of this suite: the outcome log, expectations, flags between threads.
 *
 * A program writes its outcomes to standard output, and each line is the same in every run. run.sh runs the
 * program against plain glibc and under the shim, and compares the two logs byte for byte. A failed expectation
 * is written to standard error, and the program exits with 1.
 *
 * The log is written by write(2) from a buffer on the stack: a child of fork must not write its parent's lines
 * again, and a program that replaces malloc must not be called by its own log. */
#ifndef CONFORM_H
#define CONFORM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

static int conform_failures UNUSED;

static inline void conform_write(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            abort();
        }
        text += written;
        length -= (size_t)written;
    }
}

__attribute__((format(printf, 2, 0))) static inline void conform_line(int fd, const char *format, va_list arguments)
{
    char line[512];
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    if (length > (int)sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    conform_write(fd, line, (size_t)length);
}

/* One line of the outcome log. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    conform_line(STDOUT_FILENO, format, arguments);
    va_end(arguments);
}

/* Writes a line to standard error, and makes the program exit with 1. After twenty lines failures are only
 * counted. */
__attribute__((format(printf, 1, 2))) static inline void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (__atomic_fetch_add(&conform_failures, 1, __ATOMIC_RELAXED) < 20)
        conform_line(STDERR_FILENO, format, arguments);
    va_end(arguments);
}

/* Returns the name of a return code: "0", "EBUSY". */
static inline const char *code(int number)
{
    const char *name = number == 0 ? "0" : strerrorname_np(number);
    return name == NULL ? "no errno" : name;
}

static inline int conform_is(const char *file, int line, const char *what, int got, int want, int log)
{
    if (log)
        say("%s = %s", what, code(got));
    if (got != want)
        fail("%s:%d: %s is %s, expected %s", file, line, what, code(got), code(want));
    return got;
}

static inline int conform_holds(const char *file, int line, const char *what, int got, int log)
{
    if (log)
        say("%s: %s", what, got ? "yes" : "no");
    if (!got)
        fail("%s:%d: %s does not hold", file, line, what);
    return got;
}

/* Logs the return code of a call, and checks it. `quiet_is` does not log: for loops and for threads that run at
 * the same time. */
#define is(call, want) conform_is(__FILE__, __LINE__, #call, (call), (want), 1)
#define quiet_is(call, want) conform_is(__FILE__, __LINE__, #call, (call), (want), 0)
/* The same for a condition. */
#define holds(condition) conform_holds(__FILE__, __LINE__, #condition, !!(condition), 1)
#define quiet_holds(condition) conform_holds(__FILE__, __LINE__, #condition, !!(condition), 0)

/* Returns the exit status of the program. */
static inline int conform_end(void)
{
    int failures = __atomic_load_n(&conform_failures, __ATOMIC_SEQ_CST);
    say("end, %d failed", failures);
    return failures != 0;
}

static inline void set_flag(int *flag, int value)
{
    __atomic_store_n(flag, value, __ATOMIC_SEQ_CST);
}

static inline int get_flag(int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

/* Waits until the flag is at least `value`. sched_yield is not a cancellation point. */
static inline void await_flag(int *flag, int value)
{
    while (get_flag(flag) < value)
        sched_yield();
}

static inline pid_t thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Waits until the kernel reports that a thread of this process sleeps. The thread has set a flag just before
 * the call in which it will sleep. */
static inline void await_sleep(pid_t thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    for (;;) {
        char text[256] = "";
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            abort();
        ssize_t length = read(fd, text, sizeof text - 1);
        close(fd);
        if (length > 0) {
            /* The state is the field after the name, which ends with the last parenthesis. */
            const char *end = strrchr(text, ')');
            if (end != NULL && end[1] == ' ' && end[2] == 'S')
                return;
        }
        sched_yield();
    }
}

/* Returns the kernel's time, whatever time the program is shown. */
static inline struct timespec time_of(clockid_t clock)
{
    struct timespec now;
    if (syscall(SYS_clock_gettime, clock, &now) != 0)
        abort();
    return now;
}

/* Returns the moment `milliseconds` from now. A negative number gives a moment that has passed. */
static inline struct timespec from_now(clockid_t clock, long milliseconds)
{
    struct timespec moment = time_of(clock);
    long long nanoseconds = moment.tv_nsec + (long long)(milliseconds % 1000) * 1000000;
    moment.tv_sec += milliseconds / 1000;
    if (nanoseconds < 0) {
        nanoseconds += 1000000000;
        moment.tv_sec -= 1;
    } else if (nanoseconds >= 1000000000) {
        nanoseconds -= 1000000000;
        moment.tv_sec += 1;
    }
    moment.tv_nsec = (long)nanoseconds;
    return moment;
}

/* Returns whether the moment has passed on this clock. */
static inline int has_passed(clockid_t clock, const struct timespec *moment)
{
    struct timespec now = time_of(clock);
    return now.tv_sec > moment->tv_sec || (now.tv_sec == moment->tv_sec && now.tv_nsec >= moment->tv_nsec);
}

typedef void *(*thread_function)(void *);

static inline pthread_t start_with_stack(size_t stack, thread_function function, void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, stack) != 0)
        abort();
    int error = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        fail("pthread_create: %s", code(error));
        exit(2);
    }
    return thread;
}

/* Starts a thread with a small stack. */
static inline pthread_t start(thread_function function, void *argument)
{
    return start_with_stack(256 * 1024, function, argument);
}

static inline void *finish(pthread_t thread)
{
    void *result = NULL;
    if (pthread_join(thread, &result) != 0)
        abort();
    return result;
}

/* Runs a function to its end on a new thread, and returns its result. */
static inline int elsewhere(thread_function function, void *argument)
{
    return (int)(intptr_t)finish(start(function, argument));
}

/* The thread that was last to say that it is about to sleep. */
static int about_to UNUSED;
static pid_t sleeper UNUSED;

static inline void sleeps_now(void)
{
    sleeper = thread_id();
    set_flag(&about_to, 1);
}

/* Starts a thread that calls sleeps_now(), and waits until it sleeps. */
static inline pthread_t start_sleeper(thread_function function, void *argument)
{
    set_flag(&about_to, 0);
    pthread_t thread = start(function, argument);
    await_flag(&about_to, 1);
    await_sleep(sleeper);
    return thread;
}

static int handled UNUSED;

static inline void count_signal(int number UNUSED)
{
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

/* A handler runs ten times in the thread that sleeps, and the thread sleeps on. */
static inline void interrupt_sleeper(pthread_t thread)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal;
    is(sigaction(SIGUSR1, &action, NULL), 0);
    set_flag(&handled, 0);
    for (int i = 0; i < 10; i++) {
        is(pthread_kill(thread, SIGUSR1), 0);
        await_flag(&handled, i + 1);
        await_sleep(sleeper);
    }
}

/* Opens a library and closes it. Returns what a function of it returns meanwhile. */
static inline int library_result(const char *library, const char *function)
{
    void *handle = dlopen(library, RTLD_NOW);
    int (*result)(void);
    *(void **)&result = handle == NULL ? NULL : dlsym(handle, function);
    if (result == NULL) {
        fail("%s", dlerror());
        return 1;
    }
    int failed = result();
    quiet_is(dlclose(handle), 0);
    return failed;
}

/* Tries to lock a mutex. Returns the code, and keeps no lock. */
static inline void *try_mutex(void *mutex)
{
    int error = pthread_mutex_trylock((pthread_mutex_t *)mutex);
    if (error == 0)
        quiet_is(pthread_mutex_unlock((pthread_mutex_t *)mutex), 0);
    return (void *)(intptr_t)error;
}

/* Reuses the stack of the previous thread, and overwrites all of it. */
static inline void *writes_on_its_stack(void *unused UNUSED)
{
    unsigned char bytes[200 * 1024];
    memset(bytes, 0x5a, sizeof bytes);
    __asm__ volatile("" : : "r"(bytes) : "memory");
    return NULL;
}

/* Returns the exit status of a child; 256 + the signal if a signal ended it. */
static inline int child_status(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            abort();
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* Allocates memory that children of fork share. */
static inline void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* Returns a small pseudo-random number; the state belongs to the thread (xorshift). */
static inline uint32_t next_random(uint32_t *state)
{
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

#endif
