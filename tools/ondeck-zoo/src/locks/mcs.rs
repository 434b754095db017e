//! MCS: a queue in which each waiter polls its own cache line.
//!
//! Source: John M. Mellor-Crummey and Michael L. Scott, "Algorithms for Scalable Synchronization on
//! Shared-Memory Multiprocessors" (1991), algorithm 5.
//!
//! Teaches: a handoff costs the transfer of one cache line however many threads wait. But the order
//! is strict, so all wait for a thread that the scheduler took off its CPU.
//!
//! ```text
//! lock.tail ──────────────────────────────────┐
//!                                             ▼
//! [owner's node] ─next─► [node: waiting=1] ─next─► [node: waiting=1] ─next─► null
//!
//! tail     null → node    a thread that locks   swap: it owns the lock
//!          node → node    a thread that locks   swap: it waits after the node that it found
//!          node → null    the owner             compare-exchange, if no node is after its own
//! next     null → node    the successor         store, once, after its swap
//! waiting  1              a thread that locks   store, before its node can be found
//!          1 → 0          the predecessor       store: the handoff
//! ```
//!
//! # Memory ordering
//!
//! The swap of `tail` is `AcqRel`. By `Release` it publishes the node's fields to the next thread
//! that swaps. By `Acquire` it sees the predecessor's fields, and, if the lock was free, the last
//! critical section. `waiting` is cleared with `Release` and polled with `Acquire`: this pair is
//! the handoff. The store of `next` is `Release` and its load `Acquire`, so that the owner finds
//! the successor's node initialized. The compare-exchange that frees the lock is `Release` and
//! pairs with the next swap.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::{Fairness, LockInfo, RawLock};

/// The MCS lock: see the [source file](self) for its queue.
#[derive(Debug)]
pub struct Mcs<P: Platform> {
    tail: P::AtomicPtr<Node<P>>,
}

/// One thread's place in the queue, on its own cache line because its thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    waiting: P::AtomicU8,
}

impl<P: Platform> Default for Node<P> {
    fn default() -> Self {
        Self { next: AtomicPointer::new(ptr::null_mut()), waiting: AtomicInt::new(0) }
    }
}

impl<P: Platform> Node<P> {
    /// Its address, as the queue has it.
    fn pointer(&self) -> *mut Self {
        ptr::from_ref(self).cast_mut()
    }

    /// Waits until the thread that has swapped its node in after this one has linked it: the
    /// algorithm cannot combine these two steps. If that thread is preempted between them, all
    /// wait.
    fn linked(&self) -> *mut Self {
        loop {
            let next = self.next.load(Ordering::Acquire);
            if !next.is_null() {
                return next;
            }
            P::pause();
        }
    }
}

impl<P: Platform> Mcs<P> {
    /// Returns the node after the owner's; or null, and then the queue is empty.
    #[inline(always)]
    fn leave(&self, node: &Node<P>) -> *mut Node<P> {
        let next = node.next.load(Ordering::Acquire);
        let (own, empty) = (node.pointer(), ptr::null_mut());
        let is_last =
            || self.tail.compare_exchange(own, empty, Ordering::Release, Ordering::Relaxed).is_ok();
        if !next.is_null() || is_last() { next } else { node.linked() }
    }
}

// SAFETY, as a lock: a thread returns from `lock` when its node was first in the queue, or when the
// previous owner cleared its `waiting`; each owner does that for exactly one successor.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Mcs<P> {
        INFO: LockInfo {
            name: "mcs",
            fairness: Fairness::Fifo,
            source: "Mellor-Crummey and Scott, Algorithms for Scalable Synchronization (1991)",
            teaches: "Each waiter spins on its own line; strict order collapses once a waiter is preempted",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self { tail: AtomicPointer::new(ptr::null_mut()) },
        lock: |this, node| {
            // Relaxed: no other thread can reach the node yet; the swap publishes both.
            node.waiting.store(1, Ordering::Relaxed);
            node.next.store(ptr::null_mut(), Ordering::Relaxed);
            let predecessor = this.tail.swap(node.pointer(), Ordering::AcqRel);
            if !predecessor.is_null() {
                // SAFETY: the predecessor waits, or cannot finish its unlock, and so its node
                // stays, before it has seen this store: tail is no longer its own node.
                unsafe { &*predecessor }.next.store(node.pointer(), Ordering::Release);
                while node.waiting.load(Ordering::Acquire) != 0 {
                    P::pause();
                }
            }
        },
        try_lock: |this, node| {
            // Relaxed: as above.
            node.next.store(ptr::null_mut(), Ordering::Relaxed);
            let (empty, own) = (ptr::null_mut(), node.pointer());
            this.tail.compare_exchange(empty, own, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        },
        unlock: |this, node| {
            // SAFETY: null, or the successor waits for this store, so its node is still there. It
            // may be gone right after, and is not touched again.
            if let Some(successor) = unsafe { this.leave(node).as_ref() } {
                successor.waiting.store(0, Ordering::Release);
            }
        },
        is_idle: |this| this.tail.load(Ordering::Relaxed).is_null(),
    }
}
