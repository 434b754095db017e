/* The C library's function for system calls, through which locks sleep that are not the C library's.

   It is the C library's own code, which needs no stack: for a call that creates a process or replaces the stack that
   matters. Only a call of futex(2) goes elsewhere. */

#include "observe.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* The number is SYS_futex. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl ondeck_observe_syscall\n"
        ".type ondeck_observe_syscall, @function\n"
        "ondeck_observe_syscall:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    cmpq $202, %rdi\n"
        "    je ondeck_observe_futex\n"
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

_Static_assert(SYS_futex == 202, "the number in the code above");

OURS __attribute__((used)) long ondeck_observe_failed(long result)
{
    errno = (int)-result;
    return -1;
}

static long direct(long word, long operation, long value, long timeout, long second, long last)
{
    register long r10 __asm__("r10") = timeout;
    register long r8 __asm__("r8") = second;
    register long r9 __asm__("r9") = last;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(r10), "r"(r8), "r"(r9)
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
    (void)number;

    switch (ondeck_observe_is_wanted ? (int)operation & FUTEX_CMD_MASK : -1) {
    case FUTEX_WAIT: case FUTEX_WAIT_BITSET: case FUTEX_LOCK_PI: case FUTEX_LOCK_PI2: {
        struct sleep sleep = begin(place, FUTEX, base);
        result = direct(word, operation, value, timeout, second, last);
        end(&sleep, how(result), base);
        return result_of(result);
    }
    case FUTEX_WAKE: case FUTEX_WAKE_BITSET: case FUTEX_UNLOCK_PI:
        if (is_awaited(place)) {
            struct wake wake = before_wake(place, base);
            result = direct(word, operation, value, timeout, second, last);
            after_wake(&wake, base);
            return result_of(result);
        }
    }
    return result_of(direct(word, operation, value, timeout, second, last));
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
