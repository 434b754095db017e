//! What locks tell the detection of deadlocks, and how they are taken meanwhile: the same steps for all of them.

use core::any::TypeId;

pub(crate) use ondeck_deadlock::{
    Attempt, Ends, Held, Lock, LockKind, Want, acquired, begin, changed, is_on, released,
};

use crate::platform::{Host, Native};

/// Takes a lock by `attempt`, or else by `block`.
#[cold]
pub(crate) fn lock<T>(
    lock: Lock,
    want: Want,
    attempt: impl FnOnce() -> Option<T>,
    block: impl FnOnce() -> T,
) -> T {
    let mut watched = begin(lock, want, Ends::Never);
    let held = attempt().unwrap_or_else(|| {
        watched.waits();
        block()
    });
    watched.acquired();
    held
}

/// As [`lock`], with a `block` that may give up.
#[cold]
pub(crate) fn lock_until<T>(
    lock: Lock,
    want: Want,
    attempt: impl FnOnce() -> Option<T>,
    block: impl FnOnce() -> Option<T>,
) -> Option<T> {
    let mut watched = begin(lock, want, Ends::AtADeadline);
    let held = attempt().or_else(|| {
        watched.waits();
        block()
    });
    if held.is_some() {
        watched.acquired();
    }
    held
}

/// Takes a lock by `attempt`.
#[cold]
pub(crate) fn try_lock<T>(
    lock: Lock,
    held: Held,
    attempt: impl FnOnce() -> Option<T>,
) -> Option<T> {
    let got = attempt();
    if got.is_some() {
        acquired(lock, held);
    }
    got
}

/// A lock at an address is dropped.
#[inline]
pub(crate) fn ends<P: Host>(address: usize) {
    if TypeId::of::<P>() == TypeId::of::<Native>() {
        ondeck_deadlock::ends(address);
    }
}
