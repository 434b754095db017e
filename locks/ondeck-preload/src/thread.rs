//! The identity of a thread, for mutexes that know their owner.
//!
//! A number that no other thread of the process has or will have. A thread's address or its kernel
//! id may be reused as soon as the thread has ended, and the new thread would then own the mutexes
//! that the old one has left locked. It begins with the process's id: memory that processes share
//! may have a mutex of a private kind. The other 42 bits do not run out, and no table is indexed by
//! the numbers.
//!
//! The number is in the thread's own block, at an offset that the loader fills in, and has no
//! destructor: see `thread.rs` of `ondeck`'s Linux platform. A new thread finds 0 there, and so
//! does the child of a fork(2) that the C library sees.

use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicU64, Ordering};

global_asm!(
    ".pushsection .tbss.ondeck_preload, \"awT\", @nobits",
    ".balign 8",
    ".globl ondeck_preload_thread",
    ".hidden ondeck_preload_thread",
    ".type ondeck_preload_thread, @object",
    ".size ondeck_preload_thread, 8",
    "ondeck_preload_thread: .zero 8",
    ".popsection",
);

/// Returns the calling thread's number, which is not 0.
#[inline(always)]
pub(crate) fn this_thread() -> u64 {
    let number: u64;
    // SAFETY: loads the calling thread's own word, through an entry of the global offset table.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + ondeck_preload_thread@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) number,
            options(readonly, nostack, preserves_flags)
        );
    }
    if number == 0 { number_thread() } else { number }
}

#[cold]
#[inline(never)]
fn number_thread() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    // SAFETY: getpid has no preconditions.
    let process = unsafe { libc::getpid() };
    // Relaxed: the only requirement is a different number each time.
    let number =
        (NUMBERS.fetch_add(1, Ordering::Relaxed) + 1) | u64::from(process.cast_unsigned()) << 42;
    set_number(number);
    number
}

fn set_number(number: u64) {
    // SAFETY: as above.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + ondeck_preload_thread@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) number,
            options(nostack, preserves_flags)
        );
    }
}

/// Has the child of each fork give its only thread another number.
pub(crate) fn renumber_children() {
    extern "C" fn forget() {
        set_number(0);
    }
    // SAFETY: the handler is a function of the shim, which is never unloaded.
    unsafe { libc::pthread_atfork(None, None, Some(forget)) };
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn a_number_is_one_threads_for_ever() {
        let own = this_thread();
        let first = std::thread::spawn(this_thread).join().unwrap();
        let second = std::thread::spawn(|| (this_thread(), this_thread())).join().unwrap();
        assert_eq!(second.0, second.1);
        assert!(own != 0 && own != first && first != second.0 && own != second.0);
        assert_eq!(own, this_thread());
    }
}
