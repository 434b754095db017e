//! Windows: clocks by the numbers that MinGW's <time.h> gives them, and that `ondeck.h` defines where it does not.

use core::ffi::c_int;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Clock;

/// The number of the clock that may be set.
pub(crate) const REALTIME: c_int = 0;

/// That of `QueryPerformanceCounter`.
const MONOTONIC: c_int = 1;

unsafe extern "C" {
    /// Of the C runtime.
    fn _errno() -> *mut c_int;
}

/// The clock of that number, if there is one here.
pub(crate) fn clock(number: c_int) -> Option<Clock> {
    match number {
        MONOTONIC => Some(Clock::Table),
        REALTIME => Some(Clock::Other(REALTIME)),
        _ => None,
    }
}

/// The time of the clock that may be set, in nanoseconds: the only one that is not the table's.
pub(crate) fn nanos(_clock: c_int) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Where the calling thread's errno is.
pub(crate) fn errno() -> *mut c_int {
    // SAFETY: no preconditions.
    unsafe { _errno() }
}
