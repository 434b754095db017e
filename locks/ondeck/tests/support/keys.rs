//! The table's functions for other libraries' locks without tokens, at keys that are words of the
//! test.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use ondeck::parking::{self, Choice, Parked, Requeue, Unparked};
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
    unsafe { parking::park::<P>(key, 0, validate, before_sleep, |_, _| (), deadline).0 }
}

/// Unparks at most `most` threads, as [`parking::unpark`] does. `then` receives the number of these
/// threads, and whether others remain.
pub fn unpark<P: Host>(key: usize, most: usize, then: impl FnOnce(usize, bool)) -> usize {
    let mut chosen = 0;
    let choose = |_| {
        chosen += 1;
        if chosen <= most { Choice::Unpark } else { Choice::Stop }
    };
    let then = |done: Unparked| {
        then(done.woken, done.others);
        0
    };
    // SAFETY: as for `park`.
    unsafe { parking::unpark::<P>(key, choose, then).woken }
}

/// See [`parking::requeue`]. Returns how many threads were woken and moved.
pub fn requeue<P: Host>(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> bool,
    wake: usize,
    move_most: usize,
) -> (usize, usize) {
    let limits = Requeue { wake, move_most };
    // SAFETY: as for `park`.
    let done = unsafe { parking::requeue::<P>(from, to, || validate().then_some(limits), |_| 0) };
    (done.woken, done.moved)
}
