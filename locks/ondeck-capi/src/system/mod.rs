//! The differences between C libraries: the location of errno, and the available clocks.
//!
//! The parking table sleeps by one clock of the system, and C functions identify a clock by a
//! number. `clock` returns the clock of a number, and `nanos` reads a clock that is not the
//! table's.

use core::ffi::c_int;

cfg_select! {
    windows => {
        mod windows;
        pub(crate) use windows::{REALTIME, clock, errno, nanos};
    }
    _ => {
        mod unix;
        pub(crate) use unix::{REALTIME, clock, errno, nanos};
    }
}

/// A clock for deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The clock by which the parking table sleeps.
    Table,
    /// Another clock, by its number. It may be set, or advances while the machine sleeps.
    Other(c_int),
}

pub(crate) const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Saturates; a negative time becomes 0. The fields have 32 or 64 bits.
#[allow(clippy::useless_conversion, reason = "of other systems they are of other types")]
pub(crate) fn nanos_of(time: &libc::timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec);
    let part = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.map_or(0, |seconds| seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(part))
}
