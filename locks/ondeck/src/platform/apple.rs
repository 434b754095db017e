//! macOS, iOS, tvOS, watchOS, visionOS: `os_sync_wait_on_address` since macOS 14.4 and iOS 17.4,
//! `__ulock_wait` before.
//!
//! Both are the kernel's `ulock` (`bsd/kern/sys_ulock.c` of XNU), so a thread that waits by one may
//! be woken by the other. The older one is not documented, and has not changed since macOS 10.12;
//! LLVM's libc++ calls it for C++20's `std::atomic::wait`. The newer one is looked up by its name,
//! so that programs start on older systems.
//!
//! The kernel compares the word and begins to sleep in one step. A wake uses the address as a name.
//! It reports whether no thread waits there, but not how many it woke.
//!
//! There is no documented way to interrupt all threads of a process. So there is no heavy fence:
//! all fences are full ones, and an unlock costs a fence in addition to its store.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::system::System;
use super::unix::{self, die, quietly};
use super::{FutexWait, Native, Timestamp};

const SIZE: usize = size_of::<u32>();

// SAFETY: see the top.
unsafe impl System for Native {
    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        // At least 1, because 0 is for ever. At most a minute: a caller waits again, and the kernel
        // refused very long times.
        let nanos = deadline.map(|deadline| {
            let nanos = deadline.since(Self::now()).as_nanos();
            u64::try_from(nanos).unwrap_or(u64::MAX).clamp(1, 60_000_000_000)
        });
        let address = word.as_ptr().cast();
        let (result, errno) = if functions::are_there() {
            documented(address, expected, nanos)
        } else {
            older(address, expected, nanos)
        };
        match (result, errno) {
            // The number of other threads that wait there, or the word had another value.
            (0.., _) => FutexWait::Woken,
            (_, libc::EINTR) => FutexWait::Interrupted,
            // The page of the word, or memory of the kernel, was not there: a caller checks again.
            (_, libc::EFAULT | libc::ENOMEM) => FutexWait::Mismatch,
            (_, libc::ETIMEDOUT) => {
                let passed = deadline.is_some_and(|deadline| Self::now() >= deadline);
                if passed { FutexWait::TimedOut } else { FutexWait::Woken }
            }
            (_, unexpected) => die("wait on address", unexpected),
        }
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        // A bucket's lock wakes two threads, not hundreds.
        let (flag, times) = if count <= 4 { (0, count) } else { (ULF_WAKE_ALL, 1) };
        for _ in 0..times {
            wake(address, flag);
        }
        0
    }

    /// The clock that stops while the machine sleeps: the deadlines of the kernel's waits stop
    /// also.
    fn now() -> Timestamp {
        unix::clock(libc::CLOCK_UPTIME_RAW)
    }

    fn wipe_in_children(_: *mut u8, _: usize, wipe: extern "C" fn()) {
        unix::in_children(wipe);
    }

    fn with_variable(name: &CStr, use_it: impl FnOnce(&[u8])) {
        unix::with_variable(name, use_it);
    }
}

const UL_COMPARE_AND_WAIT: u32 = 1;
const ULF_WAKE_ALL: u32 = 0x100;

unsafe extern "C" {
    /// The timeout is in microseconds; 0 means none.
    fn __ulock_wait(operation: u32, address: *mut c_void, value: u64, timeout: u32) -> c_int;
    fn __ulock_wake(operation: u32, address: *mut c_void, wake_value: u64) -> c_int;
}

/// Wakes one thread, or all of them, according to the flag.
fn wake(address: *const AtomicU32, flag: u32) {
    // Again if a signal interrupted it before it began. If the memory is used again, threads of
    // another kind may sleep there; then no thread that the caller means is among them.
    loop {
        // SAFETY: the address is a name, which is not read.
        let (result, errno) = quietly(|| unsafe {
            __ulock_wake(UL_COMPARE_AND_WAIT | flag, address.cast_mut().cast(), 0)
        });
        if result >= 0 || errno != libc::EINTR {
            return;
        }
    }
}

fn older(address: *mut c_void, expected: u32, nanos: Option<u64>) -> (c_int, c_int) {
    // Rounded up. A wait of more than an hour ends early, and the caller treats that as a spurious
    // wake.
    let micros = nanos.map_or(0, |nanos| u32::try_from(nanos.div_ceil(1_000)).unwrap_or(u32::MAX));
    // SAFETY: a live word, which the kernel only reads.
    quietly(|| unsafe { __ulock_wait(UL_COMPARE_AND_WAIT, address, expected.into(), micros) })
}

fn documented(address: *mut c_void, expected: u32, nanos: Option<u64>) -> (c_int, c_int) {
    const NO_FLAGS: u32 = 0;
    const OS_CLOCK_MACH_ABSOLUTE_TIME: u32 = 32;
    let (wait, wait_for) = functions::found();
    // SAFETY: a live word, which the kernel only reads; the functions are those of
    // `os/os_sync_wait_on_address.h`.
    quietly(|| unsafe {
        match nanos {
            None => wait(address, expected.into(), SIZE, NO_FLAGS),
            Some(nanos) => wait_for(
                address,
                expected.into(),
                SIZE,
                NO_FLAGS,
                OS_CLOCK_MACH_ABSOLUTE_TIME,
                nanos,
            ),
        }
    })
}

/// The documented functions, if the system has them.
mod functions {
    use super::{AtomicPtr, CStr, Ordering, c_int, c_void, ptr};

    type Wait = unsafe extern "C" fn(*mut c_void, u64, usize, u32) -> c_int;
    type WaitFor = unsafe extern "C" fn(*mut c_void, u64, usize, u32, u32, u64) -> c_int;

    /// Null while no thread has looked the function up; then the function, or `ABSENT`. Relaxed:
    /// all threads that write it write the same value, and the code is there before any thread is.
    static WAIT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    static WAIT_FOR: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    const ABSENT: *mut c_void = ptr::without_provenance_mut(1);

    pub(super) fn are_there() -> bool {
        let wait = look(&WAIT, c"os_sync_wait_on_address");
        let wait_for = look(&WAIT_FOR, c"os_sync_wait_on_address_with_timeout");
        wait != ABSENT && wait_for != ABSENT
    }

    /// Returns the functions, which are there.
    pub(super) fn found() -> (Wait, WaitFor) {
        let (wait, wait_for) = (WAIT.load(Ordering::Relaxed), WAIT_FOR.load(Ordering::Relaxed));
        // SAFETY: functions of these types, because `are_there` returned true on this thread.
        unsafe {
            (
                core::mem::transmute::<*mut c_void, Wait>(wait),
                core::mem::transmute::<*mut c_void, WaitFor>(wait_for),
            )
        }
    }

    fn look(function: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
        let known = function.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero byte. The system's library is never unloaded.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        let found = if found.is_null() { ABSENT } else { found };
        function.store(found, Ordering::Relaxed);
        found
    }
}
