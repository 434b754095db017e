//! A bucket of the parking table: its lock, its queues, and the histories of its contended mutexes.
//!
//! ```text
//!  lock       guards the queues and the bucket's unlock mode
//!  queues ──► [newest] ⇄ [node] ⇄ [oldest]      one queue for each mutex, condition variable or key
//!                │
//!                ▼
//!             [newest] ⇄ ...
//!  rounds     the number of times that threads which sleep together were woken: the word that they sleep on
//!  yields     until this rest is over, no thread that waits here yields
//!  series     the number of times that a queue of a condition variable here has begun
//!  watches    whether waiters of condition variables and keys here are notified soon
//!  histories  of the mutexes that were contended here last
//! ```

use core::ptr;

use super::Host;
use super::history::History;
use super::lock;
use super::node::Node;
use super::rest::Rest;
use super::unlock_mode::{QUIET, Request};
use super::watches::Watches;
use crate::machine::{AtomicInt, AtomicPointer, Ordering};

/// The number of mutexes that a bucket remembers. With a hundred contended mutexes in a table of 1,024 buckets, a third one
/// falls into the same bucket in one program of six. Waiters treat a forgotten mutex as not captured.
const HISTORIES: usize = 2;

/// The waiting threads of all mutexes, condition variables and keys with addresses that hash to this bucket.
#[derive(Debug)]
#[repr(align(128))]
pub struct Bucket<P: Host> {
    lock: P::AtomicU32,
    pub(super) rounds: P::AtomicU32,
    pub(super) yields: Rest<P>,
    pub(crate) watches: Watches<P>,
    pub(super) queues: P::AtomicPtr<Node<P>>,
    pub(super) series: P::AtomicUsize,
    histories: [History<P>; HISTORIES],
}

impl<P: Host> Bucket<P> {
    /// Creates an empty bucket.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lock: AtomicInt::new(0),
            rounds: AtomicInt::new(0),
            yields: Rest::new(),
            watches: Watches::new(),
            queues: AtomicPointer::new(ptr::null_mut()),
            series: AtomicInt::new(0),
            histories: core::array::from_fn(|_| History::new()),
        }
    }

    /// Returns the history of the mutex at `address`.
    #[inline]
    pub(crate) fn history(&self, address: usize) -> Option<&History<P>> {
        self.histories.iter().find(|history| history.is_of(address))
    }

    /// Returns the history of the mutex at `address`. If there is none, begins one in place of the mutex that was acquired
    /// longest ago.
    pub(crate) fn history_from(&self, address: usize, now: usize) -> &History<P> {
        self.history(address).unwrap_or_else(|| {
            let oldest = self.histories.iter().max_by_key(|history| history.age(now));
            let history = oldest.unwrap_or(&self.histories[0]);
            history.give_to(address, now);
            history
        })
    }

    /// Returns whether a thread may wait here: a load, without the bucket's lock. The owner of a mutex sees every thread
    /// that was linked for it before the last change of owner.
    #[inline]
    pub(crate) fn has_queues(&self) -> bool {
        !self.queues.load(Ordering::Relaxed).is_null()
    }

    /// Waits for the bucket's lock.
    pub(crate) fn lock(&self) -> Guard<'_, P> {
        lock::acquire::<P>(&self.lock);
        Guard { bucket: self }
    }

    /// Acquires the bucket's lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, P>> {
        lock::try_acquire::<P>(&self.lock).then(|| Guard { bucket: self })
    }

    /// Returns the address of the word of the bucket's lock, for checks of traces.
    #[doc(hidden)]
    pub fn lock_word(&self) -> usize {
        ptr::from_ref(&self.lock).addr()
    }

    /// Returns whether no thread waits here, for tests.
    #[doc(hidden)]
    pub fn is_at_rest(&self) -> bool {
        self.lock.load(Ordering::Relaxed) == 0 && !self.has_queues()
    }
}

impl<P: Host> Default for Bucket<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// Holds the bucket's lock.
pub(crate) struct Guard<'a, P: Host> {
    bucket: &'a Bucket<P>,
}

impl<P: Host> Drop for Guard<'_, P> {
    fn drop(&mut self) {
        lock::release::<P>(&self.bucket.lock);
    }
}

#[allow(clippy::unused_self, reason = "that there is a guard says that the bucket's lock is held")]
impl<'a, P: Host> Guard<'a, P> {
    /// Returns the bucket whose lock this holds.
    pub(crate) fn bucket(&self) -> &'a Bucket<P> {
        self.bucket
    }

    /// Returns the request to unlocks of the mutex at `address`.
    pub(crate) fn request(&self, address: usize) -> Option<Request> {
        Request::read(P::unlock_mode(address).load(Ordering::Relaxed), address)
    }

    /// Places this request to the unlocks of the mutex at `address`, in place of an earlier one. Returns false if a request
    /// to the unlocks of another mutex of the bucket is in place.
    ///
    /// Relaxed: a thread that relies on the request makes a fence; an owner places it for its own unlock.
    pub(crate) fn ask(&self, address: usize, request: Request) -> bool {
        let mode = P::unlock_mode(address);
        let free = mode.load(Ordering::Relaxed) == QUIET || self.request(address).is_some();
        if free {
            mode.store(request.of(address), Ordering::Relaxed);
        }
        free
    }

    /// Withdraws the request to the unlocks of the mutex at `address`.
    pub(crate) fn withdraw_request(&self, address: usize) {
        if self.request(address).is_some() {
            P::unlock_mode(address).store(QUIET, Ordering::Relaxed);
        }
    }
}
