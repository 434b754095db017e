//! Whether the process has one thread only, as the C library knows.
//!
//! glibc says so since 2.32 in a byte, `__libc_single_threaded`: not zero while there has been no
//! other thread. It leaves out its own atomic instructions by it, and so do we: 1 ns for a pair
//! instead of 8.
//!
//! The symbol is referred to weakly, so that a program starts on an older C library too. Rust has
//! no stable way to say that of a symbol, so the reference is made in assembly; where there is none
//! the answer is "no".

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
    // SAFETY: if it is there it is a byte that lives as long as the process. It is written while
    // there is one thread only, or by the thread that sees all others gone, but a compiler must not
    // assume that it stays what it was: volatile.
    !byte.is_null() && unsafe { byte.read_volatile() } != 0
}

#[cfg(not(all(target_env = "gnu", target_arch = "x86_64")))]
#[inline(always)]
pub(super) fn has_one_thread() -> bool {
    false
}
