/* The C library's function for system calls, through which locks sleep that are not the C library's.

   It is the C library's own code, which needs no stack: for a call that creates a process or replaces the stack that
   matters. Only futex(2) and what installs a seccomp filter go elsewhere. */

#include "observe.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* The numbers are SYS_futex, SYS_seccomp and SYS_prctl. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl ondeck_observe_syscall\n"
        ".type ondeck_observe_syscall, @function\n"
        "ondeck_observe_syscall:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    cmpq $202, %rdi\n"
        "    je ondeck_observe_futex\n"
        "    cmpq $317, %rdi\n"
        "    je ondeck_observe_filter\n"
        "    cmpq $157, %rdi\n"
        "    je ondeck_observe_filter\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 1f\n"
        "    ret\n"
        "1:  movq %rax, %rdi\n"
        "    jmp ondeck_observe_failed\n"
        ".cfi_endproc\n"
        ".size ondeck_observe_syscall, .-ondeck_observe_syscall\n"
        ".symver ondeck_observe_syscall, syscall@@GLIBC_2.2.5\n");

_Static_assert(SYS_futex == 202 && SYS_seccomp == 317 && SYS_prctl == 157, "the numbers in the code above");

OURS __attribute__((used)) long ondeck_observe_failed(long result)
{
    errno = (int)-result;
    return -1;
}

static long direct(long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
    register long r10 __asm__("r10") = fourth;
    register long r8 __asm__("r8") = fifth;
    register long r9 __asm__("r9") = sixth;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static long result_of(long result)
{
    return result < 0 && result >= -4095 ? ondeck_observe_failed(result) : result;
}

static enum how how(long result)
{
    switch (result) {
    case 0: return WOKEN;
    case -ETIMEDOUT: case -EINTR: return GAVE_UP;
    default: return NEVER;
    }
}

/* The arguments are where the caller of `syscall` has put them. */
OURS __attribute__((used)) long ondeck_observe_futex(long number, long word, long operation, long value, long timeout,
                                                     long second, long last)
{
    const void *place = (const void *)word;
    uintptr_t base = BASE;
    long result;

    switch (ondeck_observe_is_wanted ? (int)operation & FUTEX_CMD_MASK : -1) {
    case FUTEX_WAIT: case FUTEX_WAIT_BITSET: case FUTEX_LOCK_PI: case FUTEX_LOCK_PI2: {
        struct sleep sleep = begin(place, FUTEX, base);
        result = direct(number, word, operation, value, timeout, second, last);
        end(&sleep, how(result), base);
        return result_of(result);
    }
    case FUTEX_WAKE: case FUTEX_WAKE_BITSET: case FUTEX_UNLOCK_PI:
        if (is_awaited(place)) {
            struct wake wake = before_wake(place, base);
            result = direct(number, word, operation, value, timeout, second, last);
            after_wake(&wake, base);
            return result_of(result);
        }
    }
    return result_of(direct(number, word, operation, value, timeout, second, last));
}

/* A filter may end the process at a call that the program does not make and the recorder does. */
OURS __attribute__((used)) long ondeck_observe_filter(long number, long option, long second, long third, long fourth,
                                                      long fifth, long sixth)
{
    int is_filter = number == SYS_prctl ? option == PR_SET_SECCOMP
                                        : option == SECCOMP_SET_MODE_STRICT || option == SECCOMP_SET_MODE_FILTER;
    int before = is_filter && ondeck_observe_confine(1);
    long result = direct(number, option, second, third, fourth, fifth, sixth);
    if (is_filter && result < 0)
        ondeck_observe_confine(before);
    return result_of(result);
}

NAME(ondeck_observe_prctl, "prctl@@GLIBC_2.2.5");
int ondeck_observe_prctl(int option, long second, long third, long fourth, long fifth)
{
    return (int)ondeck_observe_filter(SYS_prctl, option, second, third, fourth, fifth, 0);
}

/* Locks poll by it before they sleep. The C library's function makes the system call only. */
NAME(ondeck_observe_yield, "sched_yield@@GLIBC_2.2.5");
int ondeck_observe_yield(void)
{
    long result;

    if (ondeck_observe_is_wanted)
        ondeck_observe_before_yield(ondeck_observe_memory, BASE);
    __asm__ volatile("syscall" : "=a"(result) : "a"((long)SYS_sched_yield) : "rcx", "r11", "memory");
    if (ondeck_observe_is_wanted)
        ondeck_observe_after_yield(ondeck_observe_memory);
    return (int)result_of(result);
}
