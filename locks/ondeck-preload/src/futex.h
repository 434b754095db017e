/* The system calls for sleeps in which a thread may be cancelled, and for sleeps that no thread ends. */

#ifndef ONDECK_PRELOAD_FUTEX_H
#define ONDECK_PRELOAD_FUTEX_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/* Returns the kernel's result: 0 or a negative error number. Does not use the C library's syscall(2), which would be
   another frame to unwind, from its middle, and which writes errno. */
static inline __attribute__((always_inline)) long futex(const uint32_t *word, int operation, uint32_t value,
                                                        const struct timespec *end, uint32_t bits)
{
    long result;
    register const struct timespec *until __asm__("r10") = end;
    register long none __asm__("r8") = 0;
    register long mask __asm__("r9") = bits;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)SYS_futex), "D"(word), "S"((long)operation), "d"((long)value), "r"(until), "r"(none),
                       "r"(mask)
                     : "rcx", "r11", "memory");
    return result;
}

/* Sleeps while the word has this value, until a moment of the clock in `flags`: FUTEX_CLOCK_REALTIME, or 0 for the
   monotonic clock. */
static inline __attribute__((always_inline)) long futex_wait(const uint32_t *word, uint32_t expected, int flags,
                                                             const struct timespec *end)
{
    return futex(word, FUTEX_WAIT_BITSET | flags, expected, end, FUTEX_BITSET_MATCH_ANY);
}

/* Wakes one thread that sleeps at this address. The memory there is not read. */
static inline void futex_wake_one(const uint32_t *word)
{
    futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, 0);
}

#endif
