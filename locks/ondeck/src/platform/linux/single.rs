//! Whether the process has only one thread, as the C library knows.
//!
//! Since version 2.32, glibc has a byte for this, `__libc_single_threaded`: not zero while there
//! has been no other thread. By that byte it leaves out its own atomic instructions, and so do we:
//! 1 ns for a pair instead of 8.
//!
//! The symbol is referred to weakly, so that a program also starts on an older C library. Rust has
//! no stable way to declare a symbol weak, so the reference is made in assembly. If there is no
//! symbol, the result is false.

#[cfg(all(target_env = "gnu", target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn has_one_thread() -> bool {
    let byte: *const u8;
    // SAFETY: loads an entry of the global offset table: the address of the symbol, or null if
    // no library defines it.
    unsafe {
        core::arch::asm!(
            ".weak __libc_single_threaded",
            "mov {}, qword ptr [rip + __libc_single_threaded@GOTPCREL]",
            out(reg) byte,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    // SAFETY: if it is there, it is a byte that lives as long as the process. It is written while
    // there is only one thread, or by the thread that sees all others gone. A compiler must not
    // assume that its value stays the same: volatile.
    !byte.is_null() && unsafe { byte.read_volatile() } != 0
}

#[cfg(not(all(target_env = "gnu", target_arch = "x86_64")))]
#[inline(always)]
pub(super) fn has_one_thread() -> bool {
    false
}
