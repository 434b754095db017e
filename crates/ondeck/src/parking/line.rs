//! The queue of a key, held: what the locks of this crate need that [`unpark`](super::unpark) does not
//! give.
//!
//! A lock that keeps its waiters at its own address, as a key, changes its state word in one step with
//! the queue: under the lock of the key's bucket. It looks at the oldest waiter, takes as many as go on
//! by what the word says, stores the word, and leaves. Only then are they told.
//!
//! # Nothing is touched after a thread may go on
//!
//! The last store to the state word comes before [`Line`] is dropped, and no thread that was taken is
//! told before that. So a thread that goes on may free the lock at once. Another thread may go on
//! already when it sees that store, and free the lock; whatever comes to be at that address finds its
//! waiters by the same bucket's lock, and so after those of this lock were taken. An address is used
//! only while its lock is.
//!
//! Source: parking_lot_core's `unpark_filter` and its callbacks under the lock, as an object.

use core::ptr;

use super::Host;
use super::bucket::Guard;
use super::node::{Kind, Node};
use super::park::Chosen;
use crate::machine::Timestamp;
use crate::spin::Waits;

/// The waiters of a lock at a key, with the lock of their bucket.
///
/// When it is dropped the bucket is unlocked, and then the threads that were taken are woken.
pub(crate) struct Line<P: Host> {
    guard: Option<Guard<'static, P>>,
    key: usize,
    watches: bool,
    chosen: Chosen<P>,
}

impl<P: Host> Line<P> {
    /// Waits for the lock of the bucket of `key`, the address of the caller's state word.
    ///
    /// Do nothing but the lock's arithmetic while it is there: other locks share the bucket.
    pub(crate) fn lock(key: usize) -> Self {
        let guard = Some(P::bucket(key).lock());
        Self { guard, key, watches: true, chosen: Chosen::new() }
    }

    /// The caller will not be taken soon: its wait sleeps at once.
    pub(crate) fn sleep_at_once(&mut self) {
        self.watches = false;
    }

    fn guard(&self) -> &Guard<'static, P> {
        self.guard.as_ref().expect("it is there until the drop")
    }

    /// What the thread that has waited longest brought along; `None` if no thread waits.
    pub(crate) fn oldest(&self) -> Option<usize> {
        self.guard().oldest(Kind::Key, self.key).map(Node::token)
    }

    /// Takes the thread that has waited longest: it goes on after the line is dropped. False if no
    /// thread waits.
    pub(crate) fn take(&mut self) -> bool {
        let guard = self.guard.as_ref().expect("it is there until the drop");
        let Some(node) = guard.oldest(Kind::Key, self.key) else { return false };
        // SAFETY: it is linked, and its thread waits for what the drop tells it.
        unsafe {
            guard.unlink(Kind::Key, node);
            self.chosen.push(node);
        }
        true
    }

    /// Takes all threads that wait.
    pub(crate) fn take_all(&mut self) {
        while self.take() {}
    }

    /// Waits in the line with `token`, what other threads are to know of this one, until it is taken;
    /// false if the deadline passed before. Then `gives_up` was called with the line, after the
    /// caller had left it.
    ///
    /// The thread that comes to an empty line reads its node for as long as a wake takes before it
    /// sleeps: it is the next to be taken, often soon. Later ones sleep at once.
    pub(crate) fn wait(
        mut self,
        token: usize,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Self),
    ) -> bool {
        let is_first = self.watches && self.oldest().is_none();
        let node = Node::<P>::new(Kind::Key, self.key, ptr::null(), token);
        // SAFETY: it is new, and stays on this stack until it is unlinked: by the thread that takes it,
        // or below.
        unsafe { self.guard().link(Kind::Key, &node) };
        self.unlock();
        let polling = if is_first { Waits::now::<P>().polling } else { 0 };
        if polling != 0 && node.is_told_within(polling) {
            return true;
        }
        let Err(guard) = node.sleep(Kind::Key, deadline, None, |_| true) else { return true };
        self.guard = Some(guard);
        // step: give up
        gives_up(&mut self);
        false
    }

    /// Unlocks the bucket, and then wakes the threads that were taken.
    fn unlock(&mut self) {
        drop(self.guard.take());
        core::mem::replace(&mut self.chosen, Chosen::new()).wake();
    }
}

impl<P: Host> Drop for Line<P> {
    fn drop(&mut self) {
        self.unlock();
    }
}

/// How many threads wait at `key`: for tests.
#[doc(hidden)]
pub fn waiting<P: Host>(key: usize) -> usize {
    P::bucket(key).lock().oldest_first(Kind::Key, key).count()
}
