//! Unix: clocks of clock_gettime(2).

use core::ffi::c_int;
use core::mem::MaybeUninit;

use super::Clock;

/// The number of the clock that can be set.
#[allow(clippy::cast_possible_wrap, reason = "a small number, unsigned on Apple's")]
pub(crate) const REALTIME: c_int = libc::CLOCK_REALTIME as c_int;

/// On Apple's systems this clock advances while the machine sleeps, and the table's clock does not.
#[allow(clippy::cast_possible_wrap, reason = "a small number, unsigned on Apple's")]
const MONOTONIC: c_int = libc::CLOCK_MONOTONIC as c_int;

/// Returns the clock of that number, if this system has it.
pub(crate) fn clock(number: c_int) -> Option<Clock> {
    #[cfg(target_vendor = "apple")]
    match number.cast_unsigned() {
        libc::CLOCK_UPTIME_RAW => return Some(Clock::Table),
        // The clock that C++'s steady clock uses.
        libc::CLOCK_MONOTONIC_RAW => return Some(Clock::Other(number)),
        _ => {}
    }
    match number {
        MONOTONIC if !cfg!(target_vendor = "apple") => Some(Clock::Table),
        MONOTONIC | REALTIME => Some(Clock::Other(number)),
        _ => None,
    }
}

/// Returns the time of a clock in nanoseconds.
pub(crate) fn nanos(clock: c_int) -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: clock_gettime writes the timespec that it is given.
    let failed = unsafe { libc::clock_gettime(clock as libc::clockid_t, time.as_mut_ptr()) } != 0;
    // A clock that cannot be read is treated as having reached its end, so that no thread waits
    // forever.
    // SAFETY: clock_gettime returned 0, so it has written the timespec.
    if failed { u64::MAX } else { super::nanos_of(&unsafe { time.assume_init() }) }
}

/// Returns a pointer to the calling thread's errno.
pub(crate) fn errno() -> *mut c_int {
    // SAFETY: no preconditions.
    unsafe {
        cfg_select! {
            any(target_vendor = "apple", target_os = "freebsd") => { libc::__error() }
            _ => { libc::__errno_location() }
        }
    }
}
