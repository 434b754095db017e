//! The queues of a bucket, under its lock: one for each lock, condition variable or key that
//! threads wait for.
//!
//! A queue is a ring. Its newest node represents it in the bucket's list of queues, so the cost of
//! adding a node and of reaching either end does not depend on the number of waiting threads, here
//! or in other queues.

use core::ptr;

use super::Host;
use super::bucket::Guard;
use super::has_come;
use super::node::{Kind, Node, status};
use super::unlock_mode::QUIET;
use crate::machine::{AtomicInt, AtomicPointer, Ordering, Platform};

#[allow(clippy::unused_self, reason = "that there is a guard says that the bucket's lock is held")]
impl<P: Host> Guard<'_, P> {
    /// Returns the place that points to the newest node of a queue, and that node, if the queue
    /// exists.
    fn queue(&self, kind: Kind, address: usize) -> Option<Queue<'_, P>> {
        let mut place = &self.bucket().queues;
        loop {
            // SAFETY: linked nodes are live while the bucket's lock is held.
            let newest = unsafe { place.load(Ordering::Relaxed).as_ref() }?;
            if newest.waits_for(kind, address) {
                return Some((place, newest));
            }
            place = &newest.next_queue;
        }
    }

    /// Returns whether the threads of a queue sleep together, or may do so if it is empty. Only one
    /// queue of a bucket may at a time: a wake of one queue would also wake the threads of another
    /// for nothing.
    pub(super) fn sleeps_together(&self, kind: Kind, address: usize) -> bool {
        let together = |newest: &Node<P>| newest.status() == status::TOGETHER;
        let is_own = |newest: &Node<P>| newest.waits_for(kind, address);
        let first = self.queues().find(|newest| together(newest) || is_own(newest));
        first.is_none_or(|newest| together(newest) && is_own(newest))
    }

    /// Returns the unlock mode with the requests of all mutexes of the bucket.
    pub(super) fn requests(&self) -> usize {
        self.queues().fold(QUIET, |mode, newest| match newest.request() {
            Some(request) => request.added(mode, newest.address()),
            None => mode,
        })
    }

    /// Iterates over the newest nodes of all queues.
    fn queues(&self) -> impl Iterator<Item = &Node<P>> {
        let mut next = self.bucket().queues.load(Ordering::Relaxed);
        core::iter::from_fn(move || {
            // SAFETY: linked nodes are live while the bucket's lock is held.
            let newest = unsafe { next.as_ref() }?;
            next = newest.next_queue.load(Ordering::Relaxed);
            Some(newest)
        })
    }

    /// Links a node as the newest of its queue.
    ///
    /// # Safety
    ///
    /// The node is not linked, its address hashes to this bucket, and it stays in place until it
    /// has been unlinked.
    pub(crate) unsafe fn link(&self, kind: Kind, node: &Node<P>) {
        // SAFETY: as the caller promises.
        unsafe { self.link_to(self.queue(kind, node.address()), node) }
    }

    /// Links a waiter of a condition variable as the newest of its queue. Returns the number of its
    /// series.
    ///
    /// A series is all waiters from a time when none was linked to the next such time. A linked
    /// waiter uses its condition variable. So while a waiter of a series is linked, the condition
    /// variable is the one at which all waiters of that series arrived. The address alone would not
    /// prove that.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link).
    pub(crate) unsafe fn link_in_series(&self, node: &Node<P>) -> usize {
        let queue = self.queue(Kind::Condvar, node.address());
        let series = if let Some((_, newest)) = queue {
            newest.series()
        } else {
            let begun = &self.bucket().series;
            let series = begun.load(Ordering::Relaxed).wrapping_add(1).max(1);
            begun.store(series, Ordering::Relaxed);
            series
        };
        node.series.store(series, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { self.link_to(queue, node) };
        series
    }

    /// Takes a waiter off its condition variable. Returns it as a list of one: see
    /// [`Node::next_taken`].
    ///
    /// # Safety
    ///
    /// The node is linked in this bucket, and waits for a condition variable.
    pub(crate) unsafe fn take_waiter(&self, node: &Node<P>) -> *const Node<P> {
        // SAFETY: as the caller promises.
        unsafe { self.unlink(Kind::Condvar, node) };
        // No series has this number.
        node.series.store(0, Ordering::Relaxed);
        node.newer.store(ptr::null_mut(), Ordering::Relaxed);
        node
    }

    /// Takes all waiters off the condition variable at `address`, in one step. Returns the oldest,
    /// or null if there is none. The list of them ends with the newest.
    pub(crate) fn take_waiters(&self, address: usize) -> *const Node<P> {
        let Some((place, newest)) = self.queue(Kind::Condvar, address) else { return ptr::null() };
        place.store(newest.next_queue.load(Ordering::Relaxed), Ordering::Relaxed);
        let oldest = newest.newer.load(Ordering::Relaxed);
        newest.newer.store(ptr::null_mut(), Ordering::Relaxed);
        oldest
    }

    /// Links a node as the newest of `queue`, or of a new queue if there is none.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link).
    unsafe fn link_to(&self, queue: Option<Queue<'_, P>>, node: &Node<P>) {
        let own = ptr::from_ref(node).cast_mut();
        let Some((place, newest)) = queue else {
            let queues = &self.bucket().queues;
            node.newer.store(own, Ordering::Relaxed);
            node.older.store(own, Ordering::Relaxed);
            node.next_queue.store(queues.load(Ordering::Relaxed), Ordering::Relaxed);
            queues.store(own, Ordering::Relaxed);
            return;
        };
        insert(node, newest);
        node.next_queue.store(newest.next_queue.load(Ordering::Relaxed), Ordering::Relaxed);
        newest.give_queue_to(node);
        place.store(own, Ordering::Relaxed);
    }

    /// Links a node at `now`: as the newest if it has never been linked, else by its age, which
    /// counts from its first link. So a thread that comes back does not have to become the oldest
    /// again.
    ///
    /// Hundreds of threads that begin to wait at the same moment acquire the bucket's lock one
    /// after the other, in any order. If their age counted from an earlier time, each would have to
    /// pass half of the others to find its place. All of those nodes are in other CPUs' caches, and
    /// all threads that come later would wait for that walk.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link).
    pub(crate) unsafe fn link_in_turn(&self, kind: Kind, node: &Node<P>, now: usize) {
        if node.was_linked() {
            // SAFETY: as the caller promises.
            return unsafe { self.link_by_age(kind, node) };
        }
        node.since.store(now, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { self.link(kind, node) }
    }

    /// Links the node of a real-time thread before those of lower priority, whatever their age, as
    /// the newest of its own priority.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link).
    pub(crate) unsafe fn link_by_priority(&self, kind: Kind, node: &Node<P>) {
        let priority = |node: &Node<P>| node.priority.load(Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { self.link_after(kind, node, |other| priority(other) >= priority(node)) }
    }

    /// Moves a linked node of a real-time thread before those of lower priority.
    ///
    /// # Safety
    ///
    /// The node is linked in this bucket, and waits for an object of `kind`.
    pub(crate) unsafe fn move_by_priority(&self, kind: Kind, node: &Node<P>) {
        // If it is the only one, it keeps what it has of the whole queue.
        // SAFETY: as the caller promises.
        unsafe {
            self.unlink(kind, node);
            self.link_by_priority(kind, node);
        }
    }

    /// Links a node among the others by how long they have waited.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link).
    pub(super) unsafe fn link_by_age(&self, kind: Kind, node: &Node<P>) {
        let since = node.since.load(Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe {
            self.link_after(kind, node, |other| {
                has_come(since, other.since.load(Ordering::Relaxed))
            });
        }
    }

    /// Links a node as the next newer one after those that come first, which are the oldest of the
    /// queue. Searches from both ends at once: the place is near one of them. It is near the oldest
    /// for threads that come back, of which there are few, and near the newest for threads of one
    /// priority.
    ///
    /// If clocks of CPUs differ, ages may be in no order. But before an oldest node that does not
    /// come first, the node is always linked as the oldest:
    /// [`Line::is_older`](super::Line::is_older) relies on that.
    ///
    /// # Safety
    ///
    /// As for [`link`](Self::link).
    unsafe fn link_after(
        &self,
        kind: Kind,
        node: &Node<P>,
        comes_first: impl Fn(&Node<P>) -> bool,
    ) {
        let queue = self.queue(kind, node.address());
        let Some((_, newest)) = queue else {
            // SAFETY: as the caller promises.
            return unsafe { self.link_to(None, node) };
        };
        let (mut before, mut after) = (newest, newest);
        loop {
            // In the ring, the oldest comes after the newest.
            let next = self.next_newer(before);
            if !comes_first(next) {
                return insert(node, before);
            }
            if comes_first(after) {
                break;
            }
            (before, after) = (next, self.next_older(after));
        }
        if ptr::eq(after, newest) {
            // SAFETY: as the caller promises.
            unsafe { self.link_to(queue, node) }
        } else {
            insert(node, after);
        }
    }

    /// Removes a node from its queue.
    ///
    /// # Safety
    ///
    /// The node is linked in this bucket, and waits for an object of `kind`.
    pub(crate) unsafe fn unlink(&self, kind: Kind, node: &Node<P>) {
        let (newer, older) =
            (node.newer.load(Ordering::Relaxed), node.older.load(Ordering::Relaxed));
        let (place, newest) = self.queue(kind, node.address()).expect("a linked node has a queue");
        let next_queue = newest.next_queue.load(Ordering::Relaxed);
        if ptr::eq(older, node) {
            place.store(next_queue, Ordering::Relaxed);
            return;
        }
        // SAFETY: linked nodes are live while the bucket's lock is held.
        let (newer, older_node) = unsafe { (&*newer, &*older) };
        newer.older.store(older, Ordering::Relaxed);
        older_node.newer.store(ptr::from_ref(newer).cast_mut(), Ordering::Relaxed);
        if ptr::eq(newest, node) {
            older_node.next_queue.store(next_queue, Ordering::Relaxed);
            node.give_queue_to(older_node);
            place.store(older, Ordering::Relaxed);
        }
    }

    /// Returns the node that was linked last.
    pub(crate) fn newest(&self, kind: Kind, address: usize) -> Option<&Node<P>> {
        self.queue(kind, address).map(|(_, newest)| newest)
    }

    /// Returns the node that has waited longest.
    pub(crate) fn oldest(&self, kind: Kind, address: usize) -> Option<&Node<P>> {
        self.oldest_first(kind, address).next()
    }

    /// Returns the next node after `node` in the order of age, newest first. After the oldest comes
    /// the newest.
    pub(crate) fn next_older(&self, node: &Node<P>) -> &Node<P> {
        // SAFETY: `node` is linked, so its neighbours are, and linked nodes are live while the
        // bucket's lock is held.
        unsafe { &*node.older.load(Ordering::Relaxed) }
    }

    /// Returns the next node after `node` in the order of age, oldest first. After the newest comes
    /// the oldest.
    fn next_newer(&self, node: &Node<P>) -> &Node<P> {
        // SAFETY: as in `next_older`.
        unsafe { &*node.newer.load(Ordering::Relaxed) }
    }

    /// Iterates over the nodes of a queue, oldest first. A node may be unlinked once the iterator
    /// has returned it.
    pub(crate) fn oldest_first(
        &self,
        kind: Kind,
        address: usize,
    ) -> impl Iterator<Item = &Node<P>> {
        let newest = self.newest(kind, address);
        let mut next = newest.map(|newest| newest.newer.load(Ordering::Relaxed));
        core::iter::from_fn(move || {
            // SAFETY: linked nodes are live while the bucket's lock is held.
            let node = unsafe { &*next? };
            let is_newest = newest.is_some_and(|newest| ptr::eq(newest, node));
            next = (!is_newest).then(|| node.newer.load(Ordering::Relaxed));
            Some(node)
        })
    }
}

/// The place that points to the newest node of a queue, and that node.
type Queue<'a, P> = (&'a <P as Platform>::AtomicPtr<Node<P>>, &'a Node<P>);

/// Inserts a node into the ring, as the next newer one after `older`.
fn insert<P: Host>(node: &Node<P>, older: &Node<P>) {
    let own = ptr::from_ref(node).cast_mut();
    let newer = older.newer.load(Ordering::Relaxed);
    node.newer.store(newer, Ordering::Relaxed);
    node.older.store(ptr::from_ref(older).cast_mut(), Ordering::Relaxed);
    older.newer.store(own, Ordering::Relaxed);
    // SAFETY: linked nodes are live, and the caller holds the bucket's lock. `newer` is `older`
    // itself if the ring has one node.
    unsafe { (*newer).older.store(own, Ordering::Relaxed) };
}
