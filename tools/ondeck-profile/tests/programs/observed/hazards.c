/* What a program may do, and an observer that is careless would not survive.

       hazards arguments    each system call by `syscall`, with six arguments and each kind of result
       hazards leave        a signal handler leaves a wait by longjmp, and the thread ends
       hazards post         a handler posts a semaphore on an alternate stack of 8 KB
       hazards sandbox      a filter kills the process when it opens a file, and then threads contend

   Ends with 0 if all is as without the observer. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void on_signal(int number, int flags, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    expect(sigaction(number, &action, NULL) == 0, "sigaction");
}

static void filter(struct sock_filter *filter, size_t length, int by_syscall)
{
    struct sock_fprog program = {.len = (unsigned short)length, .filter = filter};
    expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    expect((by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)
                       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) == 0, "a filter");
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

enum { NUMBER, FIRST, SIXTH = 6, REGISTERS };
static long seen[REGISTERS], answer;

static void trapped(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    static const int ORDER[] = {REG_RAX, REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    (void)number;
    for (int i = 0; i < REGISTERS; i++)
        seen[i] = registers[ORDER[i]];
    seen[NUMBER] = info->si_syscall;
    registers[REG_RAX] = answer;
}

static void arguments(void)
{
    enum { LAST = 600, UPROBES_BEGIN = 335, UPROBES_END = 336 };
    static const long ANSWERS[] = {0, 5, -1, -EAGAIN, -4095, -4096, 1L << 46};
    const long sixth = 0x766666666;
    struct sock_filter code[] = {
        LOAD(nr), IF_EQUAL(SYS_rt_sigreturn, 5, 0), LOAD(args[5]), IF_EQUAL((unsigned)sixth, 0, 3),
        LOAD(args[5]) /* the upper half */, IF_EQUAL((unsigned)(sixth >> 32), 0, 1), RETURN(SECCOMP_RET_TRAP),
        RETURN(SECCOMP_RET_ALLOW),
    };
    code[4].k += 4;
    on_signal(SIGSYS, 0, trapped);
    filter(code, sizeof code / sizeof *code, 0);
    for (long number = 0; number < LAST; number++) {
        if (number == SYS_rt_sigreturn || number == UPROBES_BEGIN || number == UPROBES_END)
            continue;
        /* Each operation of futex(2), with and without flags; for other calls any number. */
        for (long operation = 0; operation < (number == SYS_futex ? 0x200 : 7); operation++) {
            long word = 0, first = number == SYS_futex ? (long)&word : 0x111111111;
            long given[] = {number, first, operation, 0x333333333, 0x444444444, 0x555555555, sixth};
            answer = ANSWERS[operation % 7];
            errno = 77;
            long result = syscall(given[0], given[1], given[2], given[3], given[4], given[5], given[6]);
            int is_error = answer < 0 && answer >= -4095;
            expect(memcmp(seen, given, sizeof seen) == 0, "an argument is another one");
            expect(result == (is_error ? -1 : answer) && errno == (is_error ? -answer : 77), "a result is another one");
        }
    }
}

static sem_t semaphore;
static __thread sigjmp_buf outside;
static int cleaned, is_ready;

static void leaves(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    siglongjmp(outside, 1);
}

static void clean(void *argument)
{
    (void)argument;
    cleaned++;
}

static __attribute__((noinline)) void overwrite_stack(void)
{
    volatile char all[16384];
    memset((char *)all, 0xaa, sizeof all);
}

static void *waits_and_ends(void *timed)
{
    struct timespec never = {.tv_sec = 1L << 32};
    pthread_cleanup_push(clean, NULL);
    if (sigsetjmp(outside, 1) == 0) {
        __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
        timed ? sem_timedwait(&semaphore, &never) : sem_wait(&semaphore);
    }
    overwrite_stack();
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

static void leave(void)
{
    on_signal(SIGUSR1, 0, leaves);
    for (int timed = 0; timed < 2; timed++) {
        pthread_t thread;
        pthread_create(&thread, NULL, waits_and_ends, timed ? &semaphore : NULL);
        while (!__atomic_exchange_n(&is_ready, 0, __ATOMIC_ACQUIRE))
            usleep(1000);
        /* It may still be on its way to the wait: then there is nothing to be left. */
        usleep(50000);
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
        expect(cleaned == timed + 1, "the thread's cleanup handler was not called");
    }
}

static void posts(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    sem_post(&semaphore);
}

static void *waits(void *posts)
{
    for (long left = (long)posts; left > 0; left--)
        sem_wait(&semaphore);
    return NULL;
}

static void post(void)
{
    enum { POSTS = 100, SIZE = 8192 };
    pthread_t thread;
    char *memory = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory + SIZE, .ss_size = SIZE};
    expect(mprotect(memory, SIZE, PROT_NONE) == 0 && sigaltstack(&stack, NULL) == 0, "an alternate stack");
    on_signal(SIGUSR1, SA_ONSTACK, posts);
    pthread_create(&thread, NULL, waits, (void *)POSTS);
    for (int i = 0; i < POSTS; i++) {
        usleep(500);
        raise(SIGUSR1);
    }
    pthread_join(thread, NULL);
}

static void *contends(void *mutex)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(mutex);
        if (i % 50 == 0)
            usleep(100);
        pthread_mutex_unlock(mutex);
    }
    return NULL;
}

static void sandbox(void)
{
    enum { THREADS = 4 };
    struct sock_filter code[] = {
        LOAD(nr), IF_EQUAL(SYS_openat, 1, 0), IF_EQUAL(SYS_open, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS),
        RETURN(SECCOMP_RET_ALLOW),
    };
    for (int by_syscall = 0; by_syscall < 2; by_syscall++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t threads[THREADS];
            filter(code, sizeof code / sizeof *code, by_syscall);
            /* In memory that was not mapped before. */
            pthread_mutex_t *mutex = calloc(1, 1 << 20);
            for (int i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, contends, mutex);
            for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
            exit(0);
        }
        int status;
        expect(waitpid(child, &status, 0) == child && status == 0, "the process was killed");
    }
}

int main(int count, char **words)
{
    static const struct { const char *name; void (*run)(void); } ALL[] = {
        {"arguments", arguments}, {"leave", leave}, {"post", post}, {"sandbox", sandbox},
    };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        if (count == 2 && strcmp(words[1], ALL[i].name) == 0) {
            ALL[i].run();
            puts("as ever");
            return 0;
        }
    }
    fputs("name one: arguments, leave, post, sandbox\n", stderr);
    return 2;
}
