//! A thread's memory, at an offset from a register in a program and in a shared library alike.
//!
//! An ordinary shared library gets its thread-local variables by `__tls_get_addr`, which may
//! allocate, and the caller that locks may be an allocator. So the memory is accessed by the model
//! for libraries that are loaded with the program (initial-exec; Ulrich Drepper, "ELF Handling For
//! Thread-Local Storage", 4.4.6). Rust has no stable way to choose that model, so assembly does it.

use core::sync::atomic::{AtomicU32, AtomicUsize};

/// Bytes of each thread. Libraries that are loaded later share some hundred bytes of this kind.
pub const SIZE: usize = 512;

#[cfg(all(target_env = "gnu", target_arch = "x86_64"))]
mod memory {
    use core::arch::{asm, global_asm};
    use core::ptr;

    // Hidden: private to this library, even if another copy of this crate is in the process.
    global_asm!(
        ".pushsection .tbss.ondeck_record_slot, \"awT\", @nobits",
        ".balign 8",
        ".globl ondeck_record_slot",
        ".hidden ondeck_record_slot",
        ".type ondeck_record_slot, @object",
        ".size ondeck_record_slot, {size}",
        "ondeck_record_slot: .zero {size}",
        ".popsection",
        size = const super::SIZE,
    );

    #[inline(always)]
    pub fn address<T>() -> *const T {
        let address: usize;
        // SAFETY: reads an entry of the global offset table, which the loader has filled, and the
        // address of the thread's block, which is the block's first word (System V ABI for
        // thread-local storage, 3.4.6).
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + ondeck_record_slot@GOTTPOFF]",
                "add {0}, qword ptr fs:[0]",
                out(reg) address,
                options(pure, readonly, nostack)
            );
        }
        ptr::with_exposed_provenance(address)
    }
}

#[cfg(not(all(target_env = "gnu", target_arch = "x86_64")))]
mod memory {
    extern crate std;

    use core::cell::UnsafeCell;

    #[repr(align(8))]
    struct Memory(UnsafeCell<[u8; super::SIZE]>);

    std::thread_local! {
        static MEMORY: Memory = const { Memory(UnsafeCell::new([0; super::SIZE])) };
    }

    pub fn address<T>() -> *const T {
        MEMORY.with(|memory| memory.0.get().cast_const().cast())
    }
}

pub use memory::address;

/// The bytes at the end of a thread's memory that the functions below use.
pub const REST: usize = 24;

/// The file of the thread's track, and the track's place in it: see [`burst`](crate::burst).
#[inline(always)]
pub fn track() -> &'static [AtomicUsize; 2] {
    let place = address::<u8>().wrapping_add(SIZE - REST).cast();
    // SAFETY: the word is within the thread's memory, which is aligned and lives as long as the
    // thread; the reference stays in the thread.
    unsafe { &*place }
}

/// The number of the thread's unlocks that had a [`lease`](crate::lease): the last word of its
/// memory. No other thread accesses it, so all accesses are relaxed.
#[inline(always)]
pub fn leased() -> &'static AtomicU32 {
    let word = address::<AtomicU32>().wrapping_add(SIZE / size_of::<AtomicU32>() - 1);
    // SAFETY: the word is within the thread's memory, which is aligned and lives as long as the
    // thread; the reference stays in the thread.
    unsafe { &*word }
}
