//! The threads that a thread wakes, between the bucket's lock and their notification.

use core::ptr;

use super::Host;
use super::bucket::Guard;
use super::node::{Kind, Node, status};
use crate::machine::{AtomicPointer, Ordering};

/// Threads that were unlinked and wait for their notification: a list through their nodes, which
/// stay while they are `CHOSEN`. So any number of threads is chosen in one step, and woken without
/// the bucket's lock.
pub(crate) struct Chosen<P: Host> {
    first: *const Node<P>,
    last: *const Node<P>,
    /// The status that they will receive.
    status: u32,
}

impl<P: Host> Chosen<P> {
    /// Creates an empty list; its threads will be notified to continue.
    pub(crate) fn new() -> Self {
        Self::told(status::DONE)
    }

    /// Creates an empty list; its threads will receive `status`.
    pub(crate) fn told(status: u32) -> Self {
        Self { first: ptr::null(), last: ptr::null(), status }
    }

    /// Takes the `count` oldest threads of a queue, none of which is near. They will receive
    /// `status`.
    pub(crate) fn take(
        guard: &Guard<'_, P>,
        kind: Kind,
        address: usize,
        count: usize,
        status: u32,
    ) -> Self {
        let mut chosen = Self::told(status);
        for _ in 0..count {
            let Some(node) = guard.oldest(kind, address) else { break };
            // SAFETY: it is linked, and its thread waits until `wake` notifies it.
            unsafe {
                guard.unlink(kind, node);
                chosen.push(node);
            }
        }
        chosen
    }

    /// Adds a thread, under the lock of the bucket in which it was linked.
    ///
    /// # Safety
    ///
    /// The node is no longer linked, and its thread is not near, and does not leave while the node
    /// is `CHOSEN`.
    pub(crate) unsafe fn push(&mut self, node: &Node<P>) {
        node.newer.store(ptr::null_mut(), Ordering::Relaxed);
        node.set_status(status::CHOSEN);
        let node = ptr::from_ref(node);
        // SAFETY: the last node is live until it is notified, because its thread waits for that.
        match unsafe { self.last.as_ref() } {
            Some(last) => last.newer.store(node.cast_mut(), Ordering::Relaxed),
            None => self.first = node,
        }
        self.last = node;
    }

    /// Gives all of them a token, before they are notified.
    pub(super) fn give(&self, token: usize) {
        let mut next = self.first;
        // SAFETY: the nodes are live until they are notified.
        while let Some(node) = unsafe { next.as_ref() } {
            node.set_wants(token);
            next = node.newer.load(Ordering::Relaxed);
        }
    }

    /// Notifies all of them.
    pub(crate) fn wake(self) {
        let mut next = self.first;
        // SAFETY: the nodes are live until they are notified; the next one is read before that.
        while let Some(node) = unsafe { next.as_ref() } {
            next = node.newer.load(Ordering::Relaxed);
            // step: tell chosen
            let word = node.tell(self.status);
            // step: wake chosen
            P::futex_wake(word, 1);
        }
    }
}
