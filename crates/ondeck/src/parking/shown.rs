//! A bucket as the check of traces against the specifications sees it: the data under its lock, at one moment.

use core::ptr;

use super::node::{Kind, Node};
use super::{Bucket, Host};
use crate::machine::{AtomicInt, AtomicPointer, Ordering};

/// A linked node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct Shown {
    /// The address of the word that its thread sleeps on.
    pub word: usize,
    /// The address of the object that its thread waits for.
    pub address: usize,
    /// What its thread does, as [`status`](super::status) has it.
    pub status: u32,
    /// Its thread is a writer that waits for readers to leave.
    pub drains: bool,
    /// Its thread was woken to compete for a reader-writer lock, and its turn is reserved.
    pub has_turn: bool,
    /// Of what it waits for, it is the heir.
    pub is_heir: bool,
    /// Whether it is the thread of that object which was woken last, and has not run.
    pub is_woken_last: bool,
    /// That of its thread: ordinary threads have the lowest.
    pub priority: u32,
}

impl<P: Host> Bucket<P> {
    /// Calls `see` with each linked node, oldest first within a queue.
    ///
    /// # Safety
    ///
    /// No thread changes the bucket during the call.
    pub unsafe fn show(&self, mut see: impl FnMut(Shown)) {
        let mut queue = self.queues.load(Ordering::Relaxed);
        // SAFETY: linked nodes are live, and stay linked as the caller promises.
        while let Some(newest) = unsafe { queue.as_ref() } {
            let is = |node: &Node<P>, role: *const Node<P>| ptr::eq(node, role);
            let (heir, woken) = (newest.heir.get(), newest.woken_last.get());
            let mut node = newest;
            loop {
                // SAFETY: as above. In the ring, the oldest comes after the newest.
                node = unsafe { &*node.newer.load(Ordering::Relaxed) };
                see(Shown {
                    word: ptr::from_ref(node.word()).addr(),
                    address: node.address(),
                    status: node.status(),
                    drains: node.waits_for(Kind::Readers, node.address()),
                    has_turn: node.waits_for(Kind::Turn, node.address()),
                    is_heir: is(node, heir),
                    is_woken_last: is(node, woken),
                    priority: node.priority.load(Ordering::Relaxed),
                });
                if ptr::eq(node, newest) {
                    break;
                }
            }
            queue = newest.next_queue.load(Ordering::Relaxed);
        }
    }
}
