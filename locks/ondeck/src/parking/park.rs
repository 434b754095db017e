//! The table for locks of other crates: park at a key, unpark the threads at a key, move them to
//! another key.
//!
//! The contract in full:
//!
//! * A key is the address of something that the caller's lock owns, so that no two locks use the
//!   same key at the same time. Keys have their own space: a mutex or a condition variable of this
//!   crate may be at the same address.
//! * [`park`] calls `validate` under the lock of the key's bucket, and parks only if it returns
//!   true. [`unpark`] and [`requeue`] call their closures under the same lock. So if a thread
//!   changes the state word before it calls `unpark`, either the other thread's `validate` sees the
//!   change or `unpark` finds the parked thread: the bucket's lock orders them, and no fence is
//!   needed.
//! * Each call is one step: the counts that `then` receives are exact, and a thread that comes
//!   later is not woken by an earlier call.
//! * Closures run with a bucket locked: they must be short, and must not park, unpark, lock a
//!   [`Mutex`] or panic.
//! * Threads are woken in the order in which they parked. A thread returns only after `unpark`,
//!   `requeue` or its deadline: there are no spurious returns.
//! * After `unpark` has found the last thread, neither the caller's lock nor its memory is needed:
//!   a key is only compared.
//! * No call allocates. Each costs one bucket's lock (about two atomic read-modify-writes),
//!   `requeue` two, and `unpark` one system call for each thread that it wakes.
//!
//! [`Mutex`]: crate::Mutex
//!
//! Source: WebKit's `WTF::ParkingLot`, and parking_lot_core with its `validate` and its callbacks
//! under the lock.

use super::Host;
use super::tokens::{self, Choice, Parked, Requeue, Unparked};
use crate::machine::Timestamp;

/// The result of a [`requeue`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requeued {
    /// The number of threads that were woken.
    pub woken: usize,
    /// The number of threads that are now parked at the other key.
    pub moved: usize,
}

/// Parks at `key` if `validate` returns true, until the thread is woken or the deadline passes.
///
/// `before_sleep` runs once other threads can find this one and before it sleeps, without the
/// bucket's lock: unlock something there if needed.
///
/// # Safety
///
/// The key is an address that the caller controls: until this returns, only code of the same lock
/// parks or unparks there.
///
/// # Panics
///
/// A panic of `before_sleep` aborts the process.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use ondeck::parking::{self, Parked};
/// use ondeck::platform::Native;
///
/// static OPEN: AtomicU32 = AtomicU32::new(0);
/// let key = (&raw const OPEN).addr();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         OPEN.store(1, Ordering::Release);
///         // SAFETY: nothing else uses the address of `OPEN` as a key.
///         unsafe { parking::unpark::<Native>(key, usize::MAX, |_, _| ()) };
///     });
///     let closed = || OPEN.load(Ordering::Acquire) == 0;
///     // SAFETY: as above.
///     let parked = unsafe { parking::park::<Native>(key, closed, || (), None) };
///     assert!(matches!(parked, Parked::Woken | Parked::Invalid));
/// });
/// ```
pub unsafe fn park<P: Host>(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    deadline: Option<Timestamp>,
) -> Parked {
    // SAFETY: as the caller promises.
    unsafe { tokens::park::<P>(key, 0, validate, before_sleep, |_, _| (), deadline).0 }
}

/// Wakes at most `most` threads that are parked at `key`, in the order in which they parked.
/// Returns the number of threads woken.
///
/// `then` is called before they are woken, under the bucket's lock, with their number and whether
/// others remain: update the state word there.
///
/// # Safety
///
/// As for [`park`]. A woken thread continues as if the caller's lock had permitted it to.
pub unsafe fn unpark<P: Host>(key: usize, most: usize, then: impl FnOnce(usize, bool)) -> usize {
    let mut left = most;
    let choose = |_| match left.checked_sub(1) {
        Some(others) => {
            left = others;
            Choice::Unpark
        }
        None => Choice::Stop,
    };
    let then = |done: Unparked| {
        then(done.woken, done.others);
        0
    };
    // SAFETY: as the caller promises.
    unsafe { tokens::unpark::<P>(key, choose, then).woken }
}

/// If `validate` returns true, wakes at most `wake` threads that are parked at `from`, and parks at
/// most `move_most` of the others at `to` instead, without waking them.
///
/// `validate` is called under the locks of both keys' buckets.
///
/// # Safety
///
/// As for [`park`], for both keys.
pub unsafe fn requeue<P: Host>(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> bool,
    wake: usize,
    move_most: usize,
) -> Requeued {
    let limits = Requeue { wake, move_most };
    // SAFETY: as the caller promises.
    let done = unsafe { tokens::requeue::<P>(from, to, || validate().then_some(limits), |_| 0) };
    Requeued { woken: done.woken, moved: done.moved }
}
