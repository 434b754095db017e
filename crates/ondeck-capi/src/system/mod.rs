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
