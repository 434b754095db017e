//! Notifying: the choice of a waiter, and its way to the mutex.
//!
//! A notification takes its waiters off the condition variable in one step, whatever their number,
//! under the lock of its bucket. From then on they belong to the notifier: none of them continues
//! before it is notified, not even at its deadline. The notifier then delivers them without that
//! lock, a batch at a time, under the lock of the bucket of their mutex. So it holds one lock at a
//! time, and for a limited number of steps.

use core::ptr;

use super::{OVERDUE_NANOS, RawCondvar};
use crate::mutex::roles;
use crate::parking::{Guard, Kind, Node, has_come, status};
use crate::platform::{AtomicInt, Host, Ordering};

/// The number of waiters that a notifier links in one section of a bucket's lock.
const BATCH: usize = 16;

impl<P: Host> RawCondvar<P> {
    /// Notifies one waiter. Returns the number notified, 0 or 1.
    ///
    /// It chooses the newest, whose caches are warm and which may still be awake; now and then the
    /// oldest, once that has waited for a millisecond. If no thread waits, it is a load.
    ///
    /// Among sleeping threads of a real-time scheduling class, the one of the highest priority
    /// comes first, and among several of that priority the one that has waited longest.
    #[inline]
    pub fn notify_one(&self) -> usize {
        // spec: Condvar!HasWaiters
        if self.has_waiters() { self.notify(take_next) } else { 0 }
    }

    /// Notifies every waiter, the oldest first. Returns the number notified.
    ///
    /// If no thread waits, it is a load.
    #[inline]
    pub fn notify_all(&self) -> usize {
        // spec: Condvar!HasWaiters
        let take = |guard: &Guard<'_, P>, address| guard.take_waiters(address);
        if self.has_waiters() { self.notify(take) } else { 0 }
    }

    #[cold]
    fn notify(&self, take: impl FnOnce(&Guard<'_, P>, usize) -> *const Node<P>) -> usize {
        // SAFETY: the caller has a reference to the condition variable.
        unsafe { notify_those(&raw const self.waited, take) }
    }
}

/// Notifies the waiters that `take` takes off the condition variable with its byte at `waited`.
/// Returns their number.
///
/// # Safety
///
/// If `take` takes a waiter, that waiter uses this condition variable, and not another at the same
/// address.
unsafe fn notify_those<P: Host>(
    waited: *const P::AtomicU8,
    take: impl FnOnce(&Guard<'_, P>, usize) -> *const Node<P>,
) -> usize {
    let address = waited.addr();
    // spec: Condvar!Take
    let guard = P::bucket(address).lock();
    let taken = take(&guard, address);
    if !taken.is_null() && guard.newest(Kind::Condvar, address).is_none() {
        // The last access: once a waiter is notified, it may free the condition variable. SAFETY:
        // the waiters that were taken are still at the condition variable, which is therefore live.
        unsafe { &*waited }.store(0, Ordering::Relaxed);
    }
    drop(guard);
    // SAFETY: they were just taken.
    unsafe { deliver(taken) }
}

/// Takes the waiter that a notification of one prefers: the newest, or the oldest if that is
/// overdue or urgent.
fn take_next<P: Host>(guard: &Guard<'_, P>, address: usize) -> *const Node<P> {
    let (newest, oldest) =
        (guard.newest(Kind::Condvar, address), guard.oldest(Kind::Condvar, address));
    let Some((newest, oldest)) = newest.zip(oldest) else { return ptr::null() };
    // Only a real-time thread has a priority, once it sleeps. It is linked as the oldest.
    let is_first = oldest.priority.load(Ordering::Relaxed) != 0 || is_overdue(newest, oldest);
    // SAFETY: both are linked.
    unsafe { guard.take_waiter(if is_first { oldest } else { newest }) }
}

/// Returns whether the oldest has waited for too long. If so, no waiter is overdue for a while.
fn is_overdue<P: Host>(newest: &Node<P>, oldest: &Node<P>) -> bool {
    let now = P::ticks() as usize;
    if !newest.may_be_due(now) {
        return false;
    }
    let due = oldest.since.load(Ordering::Relaxed).wrapping_add(P::ticks_in(OVERDUE_NANOS));
    let is_overdue = has_come(now, due);
    newest.set_due(if is_overdue { now.wrapping_add(P::ticks_in(OVERDUE_NANOS)) } else { due });
    is_overdue
}

/// Notifies the oldest waiter of a series, if one is left. Returns whether one was.
pub(super) fn notify_oldest_of<P: Host>(waited: *const P::AtomicU8, series: usize) -> bool {
    let take = |guard: &Guard<'_, P>, address| {
        let oldest = guard.oldest(Kind::Condvar, address);
        // SAFETY: it is linked.
        let take = |node| unsafe { guard.take_waiter(node) };
        oldest.filter(|node| node.series() == series).map_or(ptr::null(), take)
    };
    // SAFETY: waiters of one series use the same condition variable, and the caller is one of them.
    unsafe { notify_those(waited, take) != 0 }
}

/// Notifies taken waiters. One that runs competes for its mutex on its own. One that sleeps is
/// moved to its mutex, as if it had come to lock it, or woken if it wants a lock not of this crate.
/// Returns their number.
///
/// # Safety
///
/// The caller has taken them.
unsafe fn deliver<P: Host>(mut next: *const Node<P>) -> usize {
    let (may_lend, now) = (roles::may_lend::<P>(), P::ticks() as usize);
    let mut moves = Moves::to(ptr::null());
    let mut notified = 0;
    // SAFETY: a taken node is live until its thread is notified. The next one is read before that.
    while let Some(node) = unsafe { next.as_ref() } {
        let mutex = node.mutex();
        if mutex != moves.mutex {
            core::mem::replace(&mut moves, Moves::to(mutex)).end(may_lend, now);
        }
        next = node.next_taken();
        notified += 1;
        node.since.store(now, Ordering::Relaxed);
        // spec: Condvar!Tell
        if node.leave_near(status::COMPETE) {
            // It runs, and may be gone.
        } else if mutex.is_null() {
            let word = node.tell(status::DONE);
            // spec: Condvar!WakeForeign
            P::futex_wake(word, 1);
        } else {
            moves.add(node, now);
        }
    }
    moves.end(may_lend, now);
    notified
}

/// The moves of taken waiters, which are parked, to one mutex. Their nodes are read before the
/// bucket of the mutex is locked, when they are in the caches of other CPUs.
struct Moves<P: Host> {
    mutex: *const P::AtomicU8,
    nodes: [*const Node<P>; BATCH],
    count: usize,
    /// Whether waiters were linked before those of `nodes`.
    has_linked: bool,
}

impl<P: Host> Moves<P> {
    fn to(mutex: *const P::AtomicU8) -> Self {
        Self { mutex, nodes: [ptr::null(); BATCH], count: 0, has_linked: false }
    }

    /// Adds a waiter. If that makes too many, links those before it.
    fn add(&mut self, node: &Node<P>, now: usize) {
        if self.count == BATCH {
            drop(self.link(now));
        }
        self.nodes[self.count] = node;
        self.count += 1;
    }

    /// Links the nodes for the mutex. Returns the lock of its bucket.
    fn link(&mut self, now: usize) -> Guard<'static, P> {
        // spec: Condvar!Move
        let guard = P::bucket(self.mutex.addr()).lock();
        for &node in &self.nodes[..self.count] {
            // SAFETY: its thread waits for the caller. It is not linked, and this is its mutex's
            // bucket.
            unsafe {
                (*node).readdress(Kind::Lock, self.mutex.addr(), now);
                roles::admit(&guard, &*node, now);
            }
        }
        (self.count, self.has_linked) = (0, true);
        guard
    }

    /// Links the rest, and wakes a thread if no thread is responsible for the moved ones. That is
    /// the last step, because the woken thread may be of a higher priority than the caller.
    fn end(mut self, may_lend: bool, now: usize) {
        let Some(&last) = self.nodes[..self.count].last() else { return };
        let is_single = self.count == 1 && !self.has_linked;
        let guard = self.link(now);
        // spec: Condvar!EndMoving
        // SAFETY: it was just linked.
        let last = unsafe { &*last };
        let woken = roles::look_after_moved(&guard, last, is_single, may_lend, now);
        drop(guard);
        if let Some(word) = woken {
            // spec: Condvar!FutexWake
            P::futex_wake(word, 1);
        }
    }
}
