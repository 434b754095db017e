//! `libondeck_observe.so`: records what threads of unmodified programs wait for, at the locks that
//! the programs have.
//!
//! ```text
//! program ── pthread_mutex_lock, ... ──► libondeck_observe.so ── the same function ──► libc.so.6
//! program ── syscall(SYS_futex, ...) ──►        │
//!                                               ▼
//!                                  ondeck_record::observed
//! ```
//!
//! Nothing is exchanged: each function calls the C library's. One that may wait tries first, and
//! only if that fails it is a wait. One that wakes threads is recorded if a thread is known to
//! wait. The locks of Rust's standard library, parking_lot, abseil, TBB and others sleep through
//! the C library's function `syscall`.
//!
//! | file | what |
//! |---|---|
//! | `syscall.c` | futexes, the calls of sched_yield(2) before them, and seccomp filters |
//! | `locks.c` | mutexes and reader-writer locks |
//! | `waits.c` | condition variables, semaphores and barriers, which a thread may be cancelled in |
//! | `order.c`, `notes.c` | what `ondeck run --deadlocks` reads: the locks that threads hold and want, and the functions that try |
//! | `observe.c` | the functions behind these, found without a lock, and the constructor |
//!
//! The functions are in C, because of names with versions, of cancellation, and of the place of
//! their return address. No frame of Rust is on the stack while a thread sleeps.
//!
//! `ondeck-record/link.sh` links the library.

#![no_std]

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
compile_error!(
    "ondeck-observe is for glibc on x86-64: it has the versions of that library's symbols"
);

// For its panic handler, which `ondeck-record/link.sh` replaces.
extern crate std;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::AtomicU32;

use ondeck_record::elf::{self, Library};
use ondeck_record::observed::{self, End, Memory, Sleep, Wake};

/// Returns the C library's function of that name and version, without the loader's lock; null if
/// there is none.
///
/// # Safety
///
/// Both are strings of UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_observe_find(
    name: *const c_char,
    version: *const c_char,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let [name, version] = [name, version].map(|text| unsafe { CStr::from_ptr(text) }.to_str());
    match (Library::libc(), name, version) {
        (Some(libc), Ok(name), Ok(version)) => libc.function(name, version),
        _ => None,
    }
    .unwrap_or(ptr::null_mut())
}

/// Returns whether a library is loaded whose file name begins so.
///
/// # Safety
///
/// The name is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_observe_is_loaded(name: *const c_char) -> c_int {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) }.to_str();
    name.is_ok_and(elf::is_loaded).into()
}

/// Returns the number of threads that wait at this word, or at one with the same hash.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_waiting(word: *const c_void) -> &'static AtomicU32 {
    observed::waiting(word.addr())
}

/// Called when the thread is about to wait.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_begin(
    memory: &Memory,
    word: *const c_void,
    kind: u32,
    base: usize,
) -> Sleep {
    observed::begin(memory, word.addr(), kind, base)
}

/// Called when the wait has ended: 0 by a wake, 1 at its deadline, 2 before it began.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_end(memory: &Memory, sleep: &Sleep, how: c_int, base: usize) {
    let how = match how {
        0 => End::Woken,
        1 => End::GaveUp,
        _ => End::Never,
    };
    observed::end(memory, sleep, how, base);
}

/// Called when the thread is about to call sched_yield(2).
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_before_yield(memory: &Memory, base: usize) {
    observed::before_yield(memory, base);
}

/// Called after that.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_after_yield(memory: &Memory) {
    observed::after_yield(memory);
}

/// Called when the thread has found a lock free for which threads wait.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_acquired(memory: &Memory, word: *const c_void) {
    observed::acquired(memory, word.addr());
}

/// Called before a seccomp filter is installed, and if that failed. Returns whether there was one
/// before.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_confine(is_confined: c_int) -> c_int {
    observed::confine(is_confined != 0).into()
}

/// Called when the thread is about to wake a thread that waits.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_before_wake(
    memory: &Memory,
    word: *const c_void,
    base: usize,
) -> Wake {
    observed::before_wake(memory, word.addr(), base)
}

/// Called after the wake.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_observe_after_wake(memory: &Memory, wake: &Wake, base: usize) {
    observed::after_wake(memory, wake, base);
}
