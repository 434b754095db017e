//! What C libraries differ in: where errno is, and which clocks there are.
//!
//! The parking table sleeps by one clock of the system, and functions of C name a clock by a number. `clock` says
//! what a number is here, `nanos` reads a clock that is not the table's.

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

/// A clock that points in time may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The one that the parking table sleeps by.
    Table,
    /// Another one, by its number. It may be set, or goes on while the machine sleeps.
    Other(c_int),
}

pub(crate) const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Saturating; 0 of a time that is negative. The fields are of 32 or of 64 bits.
#[allow(clippy::useless_conversion, reason = "of other systems they are of other types")]
pub(crate) fn nanos_of(time: &libc::timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec);
    let part = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.map_or(0, |seconds| seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(part))
}
