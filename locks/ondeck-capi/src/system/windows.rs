//! Windows: clocks under the numbers of MinGW's <time.h>, which `ondeck.h` defines for other
//! compilers.

use core::ffi::c_int;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Clock;

/// The number of the clock that can be set.
pub(crate) const REALTIME: c_int = 0;

/// The number of the clock of `QueryPerformanceCounter`.
const MONOTONIC: c_int = 1;

unsafe extern "C" {
    /// A function of the C runtime.
    fn _errno() -> *mut c_int;
}

/// Returns the clock of that number, if this system has it.
pub(crate) fn clock(number: c_int) -> Option<Clock> {
    match number {
        MONOTONIC => Some(Clock::Table),
        REALTIME => Some(Clock::Other(REALTIME)),
        _ => None,
    }
}

/// Returns the time of the clock that can be set, in nanoseconds. It is the only one that is not
/// the table's.
pub(crate) fn nanos(_clock: c_int) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns a pointer to the calling thread's errno.
pub(crate) fn errno() -> *mut c_int {
    // SAFETY: no preconditions.
    unsafe { _errno() }
}
