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
//!  polls      whether threads that poll a mutex here acquire it soon
//!  histories  of the mutexes that were contended here last
//! ```

use core::ptr;

use super::Host;
use super::history::History;
use super::lock;
use super::node::{Kind, Node};
use super::rest::Rest;
use super::unlock_mode::Request;
use super::watches::Watches;
use crate::machine::{AtomicInt, AtomicPointer, Ordering};

/// The number of mutexes that a bucket remembers. With a hundred contended mutexes in a table of
/// 1,024 buckets, a third one falls into the same bucket in one program of six. Waiters treat a
/// forgotten mutex as not captured.
const HISTORIES: usize = 2;

/// The waiting threads of all mutexes, condition variables and keys with addresses that hash to
/// this bucket.
#[derive(Debug)]
#[repr(align(128))]
pub struct Bucket<P: Host> {
    lock: P::AtomicU32,
    pub(super) rounds: P::AtomicU32,
    pub(super) yields: Rest<P>,
    pub(crate) watches: Watches<P>,
    pub(crate) polls: Watches<P>,
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
            polls: Watches::new(),
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

    /// Returns whether the mutex at `address` is captured.
    pub(crate) fn is_captured(&self, address: usize, now: usize) -> bool {
        self.history(address).is_some_and(|history| history.is_captured(now))
    }

    /// Returns the history of the mutex at `address`. If there is none, begins one in place of the
    /// mutex that was acquired longest ago.
    pub(crate) fn history_from(&self, address: usize, now: usize) -> &History<P> {
        self.history(address).unwrap_or_else(|| {
            let oldest = self.histories.iter().max_by_key(|history| history.age(now));
            let history = oldest.unwrap_or(&self.histories[0]);
            history.give_to(address, now);
            history
        })
    }

    /// Returns whether a thread may wait here: a load, without the bucket's lock. The owner of a
    /// mutex sees every thread that was linked for it before the last change of owner.
    #[inline]
    pub(crate) fn has_queues(&self) -> bool {
        !self.queues.load(Ordering::Relaxed).is_null()
    }

    /// Waits for the bucket's lock.
    pub(crate) fn lock(&self) -> Guard<'_, P> {
        lock::acquire::<P>(&self.lock);
        Guard { bucket: self }
    }

    /// Returns the address of the word of the bucket's lock, for tests.
    #[cfg(feature = "internals")]
    pub fn lock_word(&self) -> usize {
        ptr::from_ref(&self.lock).addr()
    }

    /// Returns whether no thread waits here, for tests.
    #[cfg(feature = "internals")]
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
        self.newest(Kind::Lock, address)?.request()
    }

    /// Places this request to the unlocks of the mutex whose newest node is `newest`, in place of
    /// an earlier one.
    ///
    /// Relaxed: a thread that relies on the request makes a fence; an owner places it for its own
    /// unlock.
    pub(crate) fn ask(&self, newest: &Node<P>, request: Request) {
        self.withdraw_request(newest);
        newest.request.set(Some(request));
        let mode = P::unlock_mode(newest.address());
        let asks = request.added(mode.load(Ordering::Relaxed), newest.address());
        mode.store(asks, Ordering::Relaxed);
    }

    /// Withdraws the request to the unlocks of the mutex whose newest node is `newest`.
    pub(crate) fn withdraw_request(&self, newest: &Node<P>) {
        let Some(request) = newest.request() else { return };
        newest.request.set(None);
        let mode = P::unlock_mode(newest.address());
        let asks = request.removed(mode.load(Ordering::Relaxed), newest.address());
        // One that was full is made anew, from the requests that are left.
        mode.store(asks.unwrap_or_else(|| self.requests()), Ordering::Relaxed);
    }
}
