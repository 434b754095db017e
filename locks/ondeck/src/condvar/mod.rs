//! The condition variable that goes with the one-byte mutex.
//!
//! ```text
//! the condvar    0 no thread waits · 1 one may. Written under the lock of its bucket.
//! the table      by the condvar's address: the waiters, each with the mutex that it wants next
//!
//! wait           link under the condvar's address, near; unlock the mutex; read its own node for a
//!                while; sleep
//! notify         take the newest waiter, or all, off the condition variable in one step; then each:
//!                  one that is near ──► it competes for the mutex on its own
//!                  one that is parked ──► it is moved to the queue of its mutex, as if it had come to
//!                                         lock it; if no thread there is responsible for parked ones, the
//!                                         oldest is woken; one that wants a lock not of this crate is
//!                                         woken in any case
//! ```
//!
//! | file | what |
//! |---|---|
//! | `wait.rs` | the path of a waiter, in one call or step by step ([`Waiter`]) |
//! | `cancel.rs` | a wait that is interrupted |
//! | `notify.rs` | the path of a thread that notifies |
//! | `guards.rs` | the guards with which a thread waits: [`Waitable`] |
//! | `api.rs` | what programs use: [`Condvar`] |
//!
//! # No signal is lost or stolen
//!
//! A waiter is linked before it unlocks the mutex, so a notifying thread that has owned the mutex
//! since then finds it. A notification takes its waiters off the condition variable in one step: a
//! waiter that comes later is not among them, and cannot receive a notification that was meant for
//! another. A waiter whose deadline passes withdraws under the same lock, and was notified if and
//! only if it was taken off before. If it was, it waits until its notifier has moved it, or told it
//! to compete.
//!
//! The lock of the bucket is held for that step, which does not depend on the number of waiters.
//! The notifier then moves them under the lock of the bucket of their mutex, sixteen at a time. It
//! never has two locks.
//!
//! # Waits with other locks
//!
//! A waiter without a mutex of this kind is not moved: its notification wakes it, and it locks
//! whatever it wants. Such are the waits with the other locks of this crate
//! ([`RawCondvar::wait_with`]), whose queues know nothing of the condition variable, and those with
//! locks of other origin. Each waiter has its own lock, so one condition variable serves several at
//! once.
//!
//! # Waits that a caller steps through
//!
//! A wait may be interrupted by thread cancellation, or want a lock that is not of this crate. Its
//! caller then makes the futex waits itself ([`Waiter`]). A cancelled waiter that was already
//! notified notifies another in its place, of the same condition variable and no other: `cancel.rs`
//! explains how it knows.
//!
//! # System calls
//!
//! If no thread waits, a notification is one load. It makes no system call for a waiter that is
//! near. It makes none for a parked waiter if the mutex has an heir, or a woken thread that has not
//! run, or an owner with a debt: the waiter is parked among the others of that mutex. Otherwise it
//! makes one wake, whatever the number of waiters, even while the mutex is locked: the woken thread
//! needs some microseconds to run, and most sections end in that time. A waiter that last ran on
//! the notifier's CPU may be left to the owner's unlock instead. The owner may be another thread
//! than the notifier, so the notifier makes a heavy fence first (`roles::may_lend`). Each waiter
//! that sleeps and has no mutex of this crate costs one wake.
//!
//! # One regime
//!
//! A waiter reads its own node for the time of two wakes before it sleeps. So a thread that has
//! slept once finds others still awake by the time it runs, and a group of threads that all slept
//! returns to the speed of one that never did. A waiter whose watches fail over and over watches
//! ever more rarely, and always again after one success.
//!
//! # Memory ordering
//!
//! The condition variable orders nothing by itself; the mutex does.
//!
//! # Sources
//!
//! Waiters that are moved rather than woken: "wait morphing", in the kernel by `FUTEX_CMP_REQUEUE`
//! and its first user, Ulrich Drepper's glibc; Lockless Inc.'s "Mutexes and Condition Variables
//! using Futexes", whose benchmark shows the gain; in a table of queues parking_lot's `Condvar`.

mod api;
mod cancel;
mod guards;
mod notify;
mod wait;

use core::fmt;

use crate::platform::{AtomicInt, Host, Ordering};

pub use api::{Condvar, WaitTimeoutResult};
pub use guards::Waitable;
pub use wait::{Step, Waiter};

/// A waiter that has waited for this time is overdue: it is notified before newer ones, at most one
/// in each such period.
const OVERDUE_NANOS: u32 = 1_000_000;

/// A condition variable for [`RawMutex`](crate::mutex::RawMutex), one byte; see the [module](self)
/// for its protocol.
///
/// Waiters of one condition variable may use different mutexes, even at the same time.
#[repr(transparent)]
pub struct RawCondvar<P: Host> {
    waited: P::AtomicU8,
}

impl<P: Host> RawCondvar<P> {
    /// Creates a condition variable without waiters.
    pub fn new() -> Self {
        Self { waited: AtomicInt::new(0) }
    }

    /// Returns whether a thread may be waiting.
    ///
    /// Relaxed: a waiter sets the byte before it unlocks its mutex, so every thread that has owned
    /// that mutex since sees it.
    #[inline]
    pub fn has_waiters(&self) -> bool {
        self.waited.load(Ordering::Relaxed) != 0
    }

    fn address(&self) -> usize {
        (&raw const self.waited).addr()
    }
}

impl<P: Host> fmt::Debug for RawCondvar<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCondvar").field("has_waiters", &self.has_waiters()).finish()
    }
}

impl<P: Host> Default for RawCondvar<P> {
    fn default() -> Self {
        Self::new()
    }
}
