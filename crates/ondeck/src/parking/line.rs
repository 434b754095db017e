//! The queue of a key, held: what the locks of this crate need that [`unpark`](super::unpark) does not
//! give.
//!
//! A lock that keeps its waiters at its own address, as a key, changes its state word in one step with
//! the queue: under the lock of the key's bucket. It looks at the oldest waiter, takes as many as go on
//! by what the word says, stores the word, and leaves. Only then are they told.
//!
//! # Nothing is touched after a thread may go on
//!
//! The last store to the state word comes before [`Line::take_all`] and before [`Line`] is dropped. Those two tell the
//! taken threads to go on, and no other function does. So a thread that goes on may free the lock at once. Another thread may go on
//! already when it sees that store, and free the lock; whatever comes to be at that address finds its
//! waiters by the same bucket's lock, and so after those of this lock were taken. An address is used
//! only while its lock is.
//!
//! # Threads that go on together
//!
//! All that wait at a barrier go on at once. A system call for each of them takes longer than all that they do
//! there. So they sleep on one word of the bucket, and one call wakes them. The word is the table's, so it is there
//! whatever becomes of the lock. Another lock's threads that sleep on it would be woken in vain: so only one lock's
//! do at a time, and those of others in the bucket sleep on words of their own.
//!
//! Source: parking_lot_core's `unpark_filter` and its callbacks under the lock, as an object.

use core::ptr;

use super::Host;
use super::bucket::Guard;
use super::node::{Kind, Node, status};
use super::park::Chosen;
use crate::machine::{AtomicInt, Ordering, Timestamp};
use crate::spin::Waits;

/// How a wait in a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The thread was taken: it has what it waited for.
    Taken,
    /// The thread was taken to compete for it.
    Woken,
    /// The deadline passed before.
    TimedOut,
}

impl Waited {
    /// Of a thread that was taken: by its status.
    fn told(status: u32) -> Self {
        if status == status::COMPETE { Self::Woken } else { Self::Taken }
    }
}

/// The waiters of a lock at a key, with the lock of their bucket.
///
/// When it is dropped the bucket is unlocked, and then the threads that were taken are woken.
pub(crate) struct Line<P: Host> {
    guard: Option<Guard<'static, P>>,
    key: usize,
    watches: bool,
    /// The word of the bucket, if threads that were taken sleep on it.
    together: Option<&'static P::AtomicU32>,
    chosen: Chosen<P>,
}

impl<P: Host> Line<P> {
    /// Waits for the lock of the bucket of `key`, the address of the caller's state word.
    ///
    /// Do nothing but the lock's arithmetic while it is there: other locks share the bucket.
    pub(crate) fn lock(key: usize) -> Self {
        let guard = Some(P::bucket(key).lock());
        Self { guard, key, watches: true, together: None, chosen: Chosen::new() }
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
        self.tokens().next()
    }

    /// What the threads that wait brought along, that of the oldest first.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = usize> {
        self.guard().oldest_first(Kind::Line, self.key).map(Node::wants)
    }

    /// Whether the oldest has waited for `ticks` by [`wait_since`](Self::wait_since), and none that had waited as long was
    /// taken in the last `ticks`.
    pub(crate) fn is_overdue(&self, now: usize, ticks: usize) -> bool {
        let (newest, oldest) = (self.newest(), self.guard().oldest(Kind::Line, self.key));
        let waited = |node: &Node<P>| now.wrapping_sub(node.since.load(Ordering::Relaxed)) >= ticks;
        // A rest that would last for longer is one of long ago.
        let is_resting = |newest: &Node<P>| newest.due().wrapping_sub(now).wrapping_sub(1) < ticks;
        oldest.is_some_and(waited) && !newest.is_some_and(is_resting)
    }

    /// An overdue thread is taken: until `then` none is overdue.
    pub(crate) fn rest_until(&self, then: usize) {
        if let Some(newest) = self.newest() {
            newest.set_due(then);
        }
    }

    fn newest(&self) -> Option<&Node<P>> {
        self.guard().newest(Kind::Line, self.key)
    }

    /// The threads that are taken from here on only compete for what they wait for.
    pub(crate) fn let_compete(&mut self) {
        self.chosen = Chosen::told(status::COMPETE);
    }

    /// Takes the thread that has waited longest: it goes on after the line is dropped. False if no
    /// thread waits.
    pub(crate) fn take(&mut self) -> bool {
        let guard = self.guard.as_ref().expect("it is there until the drop");
        let Some(node) = guard.oldest(Kind::Line, self.key) else { return false };
        // SAFETY: it is linked, and its thread waits for what the drop tells it.
        unsafe {
            guard.unlink(Kind::Line, node);
            self.chosen.push(node);
        }
        true
    }

    /// Takes all threads that wait, those by [`wait_together`](Self::wait_together) too. Some may go on before the line
    /// is dropped: it is called after the last access to the lock.
    pub(crate) fn take_all(&mut self) {
        let guard = self.guard.as_ref().expect("it is there until the drop");
        let rounds = &guard.bucket().rounds;
        while let Some(node) = guard.oldest(Kind::Line, self.key) {
            // SAFETY: it is linked, and its thread waits for what it is told here, or by the drop. One that is told here
            // is not used after that.
            unsafe {
                guard.unlink(Kind::Line, node);
                if node.status() == status::TOGETHER {
                    node.tell(status::DONE);
                    self.together = Some(rounds);
                } else {
                    self.chosen.push(node);
                }
            }
        }
        if self.together.is_some() {
            // step: next round
            // Release, and after the last of them was told: see `sleep_together`. Written under the bucket's lock only.
            rounds.store(rounds.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        }
    }

    /// Waits in the line with `token`, what other threads are to know of this one, until it is taken;
    /// false if the deadline passed before. Then `gives_up` was called with the line, after the
    /// caller had left it.
    ///
    /// The thread that comes to an empty line reads its node for as long as a wake takes before it
    /// sleeps, unless that was in vain here before: it is the next to be taken, often soon. Later ones sleep at once.
    pub(crate) fn wait(
        self,
        token: usize,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Self),
    ) -> bool {
        self.wait_since(0, false, token, deadline, gives_up) != Waited::TimedOut
    }

    /// As [`wait`](Self::wait), of a thread that goes on together with all others of the line: [`take_all`](Self::take_all)
    /// wakes them by one system call.
    pub(crate) fn wait_together(
        self,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Self),
    ) -> bool {
        let node = Node::<P>::new(Kind::Line, self.key, ptr::null(), 0);
        if self.guard().sleeps_together(Kind::Line, self.key) {
            node.set_status(status::TOGETHER);
        }
        self.wait_as(&node, false, deadline, gives_up) != Waited::TimedOut
    }

    /// As [`wait`](Self::wait). A thread that `comes_back` after it was woken has the place that it had, by `since`, when it
    /// began to wait.
    pub(crate) fn wait_since(
        self,
        since: usize,
        comes_back: bool,
        token: usize,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Self),
    ) -> Waited {
        let node = Node::<P>::new(Kind::Line, self.key, ptr::null(), since);
        node.set_wants(token);
        self.wait_as(&node, comes_back, deadline, gives_up)
    }

    fn wait_as(
        mut self,
        node: &Node<P>,
        comes_back: bool,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Self),
    ) -> Waited {
        let is_first = self.watches && self.oldest().is_none();
        let together = node.status() == status::TOGETHER;
        // SAFETY: it is new, and stays on its thread's stack until it is unlinked: by the thread that takes it, or below.
        unsafe {
            if comes_back {
                self.guard().link_by_age(Kind::Line, node);
            } else {
                self.guard().link(Kind::Line, node);
            }
        }
        self.unlock();
        let watches = &P::bucket(self.key).watches;
        let polling = if is_first { Waits::now::<P>().polling } else { 0 };
        if polling != 0 && watches.is_worth_it() {
            let told = node.is_told_within(polling);
            watches.note(told);
            if told {
                return Waited::told(node.status());
            }
        }
        let slept = if together {
            node.sleep_together(Kind::Line, deadline)
        } else {
            node.sleep(Kind::Line, deadline, None, |_| true)
        };
        match slept {
            Ok(status) => Waited::told(status),
            Err(guard) => {
                self.guard = Some(guard);
                // step: give up
                gives_up(&mut self);
                Waited::TimedOut
            }
        }
    }

    /// Unlocks the bucket, and then wakes the threads that were taken.
    fn unlock(&mut self) {
        drop(self.guard.take());
        core::mem::replace(&mut self.chosen, Chosen::new()).wake();
        if let Some(word) = self.together.take() {
            P::futex_wake(word, u32::MAX);
        }
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
    P::bucket(key).lock().oldest_first(Kind::Line, key).count()
}
