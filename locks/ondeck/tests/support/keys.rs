//! The table's functions for other libraries' locks, at keys that are words of the test.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use ondeck::parking::{self, Parked, Requeued};
use ondeck::platform::{Host, Timestamp};

/// See [`parking::park`].
pub fn park<P: Host>(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    deadline: Option<Timestamp>,
) -> Parked {
    // SAFETY: a test parks and unparks only at its own words, or at addresses of its own locks,
    // whose waiters are of another kind.
    unsafe { parking::park::<P>(key, validate, before_sleep, deadline) }
}

/// See [`parking::unpark`].
pub fn unpark<P: Host>(key: usize, most: usize, then: impl FnOnce(usize, bool)) -> usize {
    // SAFETY: as for `park`.
    unsafe { parking::unpark::<P>(key, most, then) }
}

/// See [`parking::requeue`].
pub fn requeue<P: Host>(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> bool,
    wake: usize,
    move_most: usize,
) -> Requeued {
    // SAFETY: as for `park`.
    unsafe { parking::requeue::<P>(from, to, validate, wake, move_most) }
}
