//! The queue of a key, under the lock of its bucket, for locks of this crate that need more than
//! [`unpark`](super::unpark) offers.
//!
//! A lock that keeps its waiters at its own address, as a key, changes its state word and its queue
//! in one step: under the lock of the key's bucket. It looks at the oldest waiter, takes the
//! waiters that its word allows to continue, stores the word, and unlocks the bucket. Only then
//! does it notify them.
//!
//! # Nothing is touched after a thread may continue
//!
//! The last store to the state word comes before [`Line::take_all`] and before the drop of
//! [`Line`]. Those two notify the taken threads, and no other function does, so a notified thread
//! may free the lock at once. Another thread may see that store, continue before the notification,
//! and free the lock. A new lock at the same address finds its waiters under the lock of the same
//! bucket, and so after the old lock's waiters were taken. An address is used only while its lock
//! is live.
//!
//! # Threads that continue together
//!
//! All threads that wait at a barrier continue at once. A system call for each of them takes longer
//! than the rest of their work at the barrier. So they sleep on one word of the bucket, and one
//! call wakes them. The word belongs to the table, so it outlives the lock. Threads of another lock
//! on that word would be woken for nothing, so it serves one lock at a time; the threads of other
//! locks in the bucket sleep on their own words.
//!
//! Source: parking_lot_core's `unpark_filter`, with its callbacks under the lock turned into an
//! object.

use core::ptr;

use super::bucket::Guard;
use super::chosen::Chosen;
use super::node::{Kind, Node, status};
use super::sleep::Slice;
use super::{Host, has_come};
use crate::machine::{AtomicInt, Ordering, Timestamp};
use crate::spin::Waits;

/// How a wait in a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The thread was taken: it has acquired whatever it waited for.
    Taken,
    /// The thread was taken in order to compete for it.
    Woken,
    /// The deadline passed before the thread was taken.
    TimedOut,
}

impl Waited {
    /// Converts the status of a thread that was taken.
    fn told(status: u32) -> Self {
        if status == status::COMPETE { Self::Woken } else { Self::Taken }
    }
}

/// Which threads of a line wait awake before they sleep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awake {
    None,
    /// The thread that comes to an empty line.
    First,
    /// All, and each offers its CPU to the others.
    Yields,
}

/// The waiters of a lock at a key, with the lock of their bucket held.
///
/// The drop unlocks the bucket, and then wakes the threads that were taken.
pub(crate) struct Line<P: Host> {
    guard: Option<Guard<'static, P>>,
    key: usize,
    awake: Awake,
    /// The word of the bucket, if threads that were taken sleep on it.
    together: Option<&'static P::AtomicU32>,
    chosen: Chosen<P>,
}

impl<P: Host> Line<P> {
    /// Waits for the lock of the bucket of `key`, the address of the caller's state word.
    ///
    /// Do nothing but the lock's arithmetic while this lives: other locks share the bucket.
    pub(crate) fn lock(key: usize) -> Self {
        let guard = Some(P::bucket(key).lock());
        Self { guard, key, awake: Awake::First, together: None, chosen: Chosen::new() }
    }

    /// Makes the caller's wait sleep at once, because it will not be taken soon.
    pub(crate) fn sleep_at_once(&mut self) {
        self.awake = Awake::None;
    }

    /// Makes the caller's wait yield before it sleeps, for a thread whose CPU those need that it
    /// waits for. A wait with a deadline sleeps at once: a yield may last for time slices of other
    /// threads.
    pub(crate) fn offer_cpu(&mut self) {
        self.awake = Awake::Yields;
    }

    fn guard(&self) -> &Guard<'static, P> {
        self.guard.as_ref().expect("it is there until the drop")
    }

    /// Returns the token of the thread that has waited longest; `None` if no thread waits.
    pub(crate) fn oldest(&self) -> Option<usize> {
        self.tokens().next()
    }

    /// Returns the tokens of the waiting threads, the oldest first.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = usize> {
        self.guard().oldest_first(Kind::Line, self.key).map(Node::wants)
    }

    /// Returns whether the oldest has waited for `ticks` by [`wait_since`](Self::wait_since), and
    /// no overdue thread was taken in the last `ticks`.
    pub(crate) fn is_overdue(&self, now: usize, ticks: usize) -> bool {
        let (newest, oldest) = (self.newest(), self.guard().oldest(Kind::Line, self.key));
        let waited = |node: &Node<P>| now.wrapping_sub(node.since.load(Ordering::Relaxed)) >= ticks;
        // A rest that would last longer ended long ago.
        let is_resting = |newest: &Node<P>| newest.due().wrapping_sub(now).wrapping_sub(1) < ticks;
        oldest.is_some_and(waited) && !newest.is_some_and(is_resting)
    }

    /// Returns whether a thread that began to wait at `since` has waited longer than all that wait
    /// here.
    pub(crate) fn is_older(&self, since: usize) -> bool {
        let is_younger = |node: &Node<P>| !has_come(since, node.since.load(Ordering::Relaxed));
        self.guard().oldest(Kind::Line, self.key).is_none_or(is_younger)
    }

    /// Records that an overdue thread is taken: no thread counts as overdue until `then`.
    pub(crate) fn rest_until(&self, then: usize) {
        if let Some(newest) = self.newest() {
            newest.set_due(then);
        }
    }

    /// Returns the number that the line keeps for its lock: by default, and in an empty line, the
    /// greatest.
    pub(crate) fn spare(&self) -> usize {
        self.newest().map_or(usize::MAX, |newest| newest.spare.get())
    }

    /// Sets that number, unless the line is empty.
    pub(crate) fn set_spare(&self, spare: usize) {
        if let Some(newest) = self.newest() {
            newest.spare.set(spare);
        }
    }

    fn newest(&self) -> Option<&Node<P>> {
        self.guard().newest(Kind::Line, self.key)
    }

    /// Makes the threads that are taken from here on compete for the lock.
    pub(crate) fn let_compete(&mut self) {
        self.chosen = Chosen::told(status::COMPETE);
    }

    /// Takes the thread that has waited longest; it continues after the line is dropped. Returns
    /// false if no thread waits.
    pub(crate) fn take(&mut self) -> bool {
        let guard = self.guard.as_ref().expect("it is there until the drop");
        let Some(node) = guard.oldest(Kind::Line, self.key) else { return false };
        // SAFETY: it is linked, and its thread waits until the drop notifies it.
        unsafe {
            guard.unlink(Kind::Line, node);
            self.chosen.push(node);
        }
        true
    }

    /// Takes all threads that wait, including those in [`wait_together`](Self::wait_together). Some
    /// may continue before the line is dropped, so call it after the last access to the lock.
    pub(crate) fn take_all(&mut self) {
        let guard = self.guard.as_ref().expect("it is there until the drop");
        let rounds = &guard.bucket().rounds;
        while let Some(node) = guard.oldest(Kind::Line, self.key) {
            // SAFETY: it is linked, and its thread waits until it is notified here, or by the drop.
            // A node that is notified here is not used after that.
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
            // Release, and after the last status was stored: see `sleep_together`. Written only
            // under the bucket's lock.
            rounds.store(rounds.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        }
    }

    /// Waits in the line until the thread is taken, with a `token` that other threads can read. If
    /// the deadline passes first, calls `gives_up` with the line, after the caller has left it, and
    /// reports that.
    ///
    /// The thread that comes to an empty line reads its node for the time of a wake before it
    /// sleeps, unless such watches have failed here before: it is the next to be taken, often soon.
    /// Later threads sleep at once.
    pub(crate) fn wait(
        self,
        token: usize,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Self),
    ) -> bool {
        self.wait_since(0, false, token, deadline, None, gives_up) != Waited::TimedOut
    }

    /// As [`wait`](Self::wait), for a thread that continues together with all others of the line:
    /// [`take_all`](Self::take_all) wakes them by one system call.
    pub(crate) fn wait_together(
        self,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Self),
    ) -> bool {
        let node = Node::<P>::new(Kind::Line, self.key, ptr::null(), 0);
        if self.guard().sleeps_together(Kind::Line, self.key) {
            node.set_status(status::TOGETHER);
        }
        self.wait_as(&node, false, deadline, None, gives_up) != Waited::TimedOut
    }

    /// As [`wait`](Self::wait). A thread that `comes_back` after it was woken takes the place given
    /// by `since`, the time at which it began to wait. If there is `takes`, the thread calls it at
    /// the end of each slice of its sleep, and of its time: if that returns true, the wait ends
    /// with what it waited for, also after a call of `gives_up`.
    pub(crate) fn wait_since(
        self,
        since: usize,
        comes_back: bool,
        token: usize,
        deadline: Option<Timestamp>,
        takes: Option<&dyn Fn() -> bool>,
        gives_up: impl FnOnce(&mut Self),
    ) -> Waited {
        let node = Node::<P>::new(Kind::Line, self.key, ptr::null(), since);
        node.set_wants(token);
        self.wait_as(&node, comes_back, deadline, takes, gives_up)
    }

    fn wait_as(
        mut self,
        node: &Node<P>,
        comes_back: bool,
        deadline: Option<Timestamp>,
        takes: Option<&dyn Fn() -> bool>,
        gives_up: impl FnOnce(&mut Self),
    ) -> Waited {
        let polls = self.awake == Awake::First && self.oldest().is_none();
        let yields = self.awake == Awake::Yields && deadline.is_none();
        let together = node.status() == status::TOGETHER;
        // SAFETY: it is new, and stays on its thread's stack until it is unlinked, by the thread
        // that takes it or below.
        unsafe {
            if comes_back {
                self.guard().link_by_age(Kind::Line, node);
            } else {
                self.guard().link(Kind::Line, node);
            }
        }
        self.unlock();
        let watches = &P::bucket(self.key).watches;
        let polling = if polls { Waits::now::<P>().polling } else { 0 };
        if polling != 0 && watches.is_worth_it() {
            let told = node.is_told_within(polling);
            watches.note(told);
            if told {
                return Waited::told(node.status());
            }
        }
        if yields && node.is_told_between_yields() {
            return Waited::told(node.status());
        }
        let mut has_taken = false;
        let slept = if together {
            node.sleep_together(Kind::Line, deadline)
        } else {
            // step: sleep in line
            node.sleep(
                Kind::Line,
                deadline,
                takes.map(|_| Slice::begin_idle::<P>()),
                |_, is_over| {
                    has_taken = takes.is_some_and(|takes| takes());
                    has_taken || is_over
                },
            )
        };
        match slept {
            Ok(status) => Waited::told(status),
            Err(guard) => {
                self.guard = Some(guard);
                if has_taken {
                    // The threads that were woken before do not run: what is left is for the line.
                    self.set_spare(usize::MAX);
                }
                // step: give up
                gives_up(&mut self);
                if has_taken { Waited::Taken } else { Waited::TimedOut }
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

/// Returns the number of threads that wait at `key`, for tests.
#[cfg(feature = "internals")]
pub fn waiting<P: Host>(key: usize) -> usize {
    P::bucket(key).lock().oldest_first(Kind::Line, key).count()
}
