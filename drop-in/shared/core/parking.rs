//! Parking and unparking in the parking table of crate `ondeck`.

use std::cell::Cell;
use std::time::Instant;

use ondeck::parking::{self, Choice, Parked, Requeue, Unparked};
use ondeck::platform::Native;

use crate::deadlock::waits;
use crate::fair;
use crate::time::at;

/// How a [`park`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParkResult {
    /// The thread was unparked with this token.
    Unparked(UnparkToken),
    /// The thread did not park, because `validate` returned false.
    Invalid,
    /// The wait timed out.
    TimedOut,
}

impl ParkResult {
    /// Returns whether the thread was unparked.
    #[inline]
    pub const fn is_unparked(self) -> bool {
        matches!(self, Self::Unparked(_))
    }
}

/// The effect of an unpark that is done, or about to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnparkResult {
    /// The number of woken threads.
    pub unparked_threads: usize,
    /// The number of threads moved to the other key.
    pub requeued_threads: usize,
    /// Whether others are still parked at the key.
    pub have_more_threads: bool,
    /// Whether the caller should hand its lock over: true about once in half a millisecond.
    pub be_fair: bool,
}

/// The operation of [`unpark_requeue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequeueOp {
    /// Nothing.
    Abort,
    /// Unparks one thread and moves all others.
    UnparkOneRequeueRest,
    /// Moves all threads.
    RequeueAll,
    /// Unparks one thread.
    UnparkOne,
    /// Moves one thread.
    RequeueOne,
}

/// The decision of [`unpark_filter`] about a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterOp {
    /// Unpark it.
    Unpark,
    /// Leave it parked.
    Skip,
    /// Leave it and all later threads parked.
    Stop,
}

/// The token that an unparked thread receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnparkToken(pub usize);

/// The token that a parking thread supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParkToken(pub usize);

/// A token for threads that need none.
pub const DEFAULT_UNPARK_TOKEN: UnparkToken = UnparkToken(0);

/// A token for threads that need none.
pub const DEFAULT_PARK_TOKEN: ParkToken = ParkToken(0);

/// Parks at `key` if `validate` returns true, until unparked or until `timeout`.
///
/// `validate` runs under the lock of the key's queue, `before_sleep` without it, and `timed_out`
/// under it again. `timed_out` receives the key at which the thread was parked last, and whether it
/// was the last thread there.
///
/// # Safety
///
/// The key is an address that the caller controls. No closure panics, parks or unparks, except that
/// `before_sleep` may unpark.
pub unsafe fn park(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    timed_out: impl FnOnce(usize, bool),
    park_token: ParkToken,
    timeout: Option<Instant>,
) -> ParkResult {
    let deadline = timeout.map(at);
    // SAFETY: as the caller promises.
    let (parked, token) = waits(key, timeout.is_some(), || unsafe {
        let token = park_token.0;
        parking::park::<Native>(key, token, validate, before_sleep, timed_out, deadline)
    });
    match parked {
        Parked::Woken => ParkResult::Unparked(UnparkToken(token)),
        Parked::Invalid => ParkResult::Invalid,
        Parked::TimedOut => ParkResult::TimedOut,
    }
}

/// Returns the effect at `key`, in the form that callbacks receive.
fn result(key: usize, done: Unparked) -> UnparkResult {
    UnparkResult {
        unparked_threads: done.woken,
        requeued_threads: done.moved,
        have_more_threads: done.others,
        be_fair: done.woken != 0 && fair::is_due(key),
    }
}

/// Unparks the threads at `key` that `choose` selects.
///
/// # Safety
///
/// As for [`unpark_filter`].
unsafe fn unpark(
    key: usize,
    choose: impl FnMut(usize) -> Choice,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let mut told = UnparkResult::default();
    let then = |done| {
        told = result(key, done);
        callback(told).0
    };
    // SAFETY: as the caller promises.
    unsafe { parking::unpark::<Native>(key, choose, then) };
    told
}

/// Unparks the thread that has waited longest at `key`.
///
/// `callback` runs under the lock of the key's queue, even if there is no thread. It returns the
/// token for the thread.
///
/// # Safety
///
/// The key is an address that the caller controls. The closure neither panics, parks nor unparks.
pub unsafe fn unpark_one(
    key: usize,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let mut first = true;
    let choose = |_| if std::mem::take(&mut first) { Choice::Unpark } else { Choice::Stop };
    // SAFETY: as the caller promises.
    unsafe { unpark(key, choose, callback) }
}

/// Unparks all threads at `key`. Returns their number.
///
/// # Safety
///
/// The key is an address that the caller controls.
pub unsafe fn unpark_all(key: usize, unpark_token: UnparkToken) -> usize {
    // SAFETY: as the caller promises.
    unsafe { unpark(key, |_| Choice::Unpark, |_| unpark_token) }.unparked_threads
}

/// Unparks the threads at `key` that `filter` selects, in the order in which they parked.
///
/// Both closures run under the lock of the key's queue. `callback` returns the token for the
/// threads.
///
/// # Safety
///
/// The key is an address that the caller controls. No closure panics, parks or unparks.
pub unsafe fn unpark_filter(
    key: usize,
    mut filter: impl FnMut(ParkToken) -> FilterOp,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let choose = |token| match filter(ParkToken(token)) {
        FilterOp::Unpark => Choice::Unpark,
        FilterOp::Skip => Choice::Skip,
        FilterOp::Stop => Choice::Stop,
    };
    // SAFETY: as the caller promises.
    unsafe { unpark(key, choose, callback) }
}

/// Unparks threads at `key_from` or moves them to `key_to`, as `validate` decides.
///
/// Both closures run under the locks of both keys' queues. `callback` does not run after
/// [`RequeueOp::Abort`]. If the keys are the same, nothing is done.
///
/// # Safety
///
/// The keys are addresses that the caller controls. No closure panics, parks or unparks.
pub unsafe fn unpark_requeue(
    key_from: usize,
    key_to: usize,
    validate: impl FnOnce() -> RequeueOp,
    callback: impl FnOnce(RequeueOp, UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let asked = Cell::new(RequeueOp::Abort);
    let mut told = UnparkResult::default();
    let validate = || {
        asked.set(validate());
        let (wake, move_most) = match asked.get() {
            RequeueOp::Abort => return None,
            RequeueOp::UnparkOneRequeueRest => (1, usize::MAX),
            RequeueOp::RequeueAll => (0, usize::MAX),
            RequeueOp::UnparkOne => (1, 0),
            RequeueOp::RequeueOne => (0, 1),
        };
        Some(Requeue { wake, move_most })
    };
    let then = |done| {
        told = result(key_from, done);
        callback(asked.get(), told).0
    };
    // SAFETY: as the caller promises.
    unsafe { parking::requeue::<Native>(key_from, key_to, validate, then) };
    told
}
