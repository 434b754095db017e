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

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::queue::Tail;
use crate::{Fairness, LockInfo, RawLock};

/// The MCS lock: see the [source file](self) for its queue.
#[derive(Debug)]
pub struct Mcs<P: Platform> {
    queue: Tail<P, Node<P>>,
}

/// One thread's place in the queue, on its own cache line because its thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    waiting: P::AtomicU8,
}

queue_node!(Node { waiting: AtomicInt::new(0) });

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
        new: Self { queue: Tail::new() },
        lock: |this, node| {
            // Relaxed: no other thread can reach the node yet; the swap publishes this.
            node.waiting.store(1, Ordering::Relaxed);
            if this.queue.enter(node) {
                while node.waiting.load(Ordering::Acquire) != 0 {
                    P::pause();
                }
            }
        },
        try_lock: |this, node| this.queue.try_enter(node),
        unlock: |this, node| {
            // SAFETY: null, or the successor waits for this store, so its node is still there. It
            // may be gone right after, and is not touched again.
            if let Some(successor) = unsafe { this.queue.leave(node).as_ref() } {
                successor.waiting.store(0, Ordering::Release);
            }
        },
        is_idle: |this| this.queue.is_empty(),
    }
}
