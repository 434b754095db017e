//! The calling thread's own block, found by the register that has its address.

use core::num::NonZeroUsize;

/// Returns the address of the calling thread's block, which identifies the thread while it lives.
#[inline(always)]
pub(super) fn pointer() -> NonZeroUsize {
    #[cfg(target_arch = "x86_64")]
    let pointer = {
        let pointer: usize;
        // SAFETY: loads the block's first word, which is the block's own address (Ulrich Drepper,
        // "ELF Handling For Thread-Local Storage", 3.4.6). It never changes in a thread.
        unsafe {
            core::arch::asm!(
                "mov {}, qword ptr fs:[0]",
                out(reg) pointer,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        pointer
    };
    #[cfg(target_arch = "aarch64")]
    let pointer = {
        let pointer: usize;
        // SAFETY: reads the register that has the block's address.
        unsafe {
            core::arch::asm!(
                "mrs {}, tpidr_el0",
                out(reg) pointer,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        pointer
    };
    // The C library's identifier of the thread. The address of a thread-local value would not do:
    // where the standard library keeps those on the heap, as on Android, it frees them before the
    // last destructors, and a live thread may get the same address. SAFETY: it has no precondition.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let pointer = unsafe { libc::pthread_self() } as usize;
    NonZeroUsize::new(pointer).expect("a thread has a block")
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn each_thread_has_its_own_pointer() {
        let own = pointer();
        assert_eq!(own, pointer());
        assert_ne!(std::thread::spawn(pointer).join().unwrap(), own);
    }
}
