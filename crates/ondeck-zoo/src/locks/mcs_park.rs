//! MCS with waiters that spin for a while and then park.
//!
//! Source: the queue is from John M. Mellor-Crummey and Michael L. Scott, "Algorithms for Scalable
//! Synchronization on Shared-Memory Multiprocessors" (1991), algorithm 5. Spinning before parking is the
//! variant MCS-STP of Dave Dice, "Malthusian Locks" (EuroSys 2017).
//!
//! Teaches: the flaws of a queue that parking repairs, and the others. Waiters no longer keep the
//! owner off its CPU. But the order is still strict, so each handoff to a sleeping thread takes a wake, and
//! the waiters form a convoy.
//!
//! ```text
//! lock.tail ──────────────────────────────────┐
//!                                             ▼
//! [owner's node] ─next─► [node: gate closed] ─next─► [node: gate asleep] ─next─► null
//!
//! tail   null → node    a thread that locks   swap: it owns the lock
//!        node → node    a thread that locks   swap: it waits after the node that it found
//!        node → null    the owner             compare-exchange, if no node is after its own
//! next   null → node    the successor         store, once, after its swap
//! gate   see `gate.rs`: closed by the node's thread, opened by the predecessor: the handoff
//! ```
//!
//! # Memory ordering
//!
//! As in MCS. The swap of `tail` is `AcqRel`: by `Release` it publishes the node's fields to the next thread
//! that swaps, by `Acquire` it sees the predecessor's and, if the lock was free, the last section. The
//! store of `next` is `Release` and its load `Acquire`, so that the owner finds the successor's node
//! initialized. The compare-exchange that frees the lock is `Release` and pairs with the next swap. The
//! handoff is the gate's pair.

use ondeck::platform::Platform;

use crate::gate::Gate;
use crate::queue::Tail;
use crate::{Fairness, LockInfo, RawLock, Waiting};

/// MCS whose waiters park: see the [source file](self) for its queue.
#[derive(Debug)]
pub struct McsPark<P: Platform> {
    queue: Tail<P, Node<P>>,
}

/// One thread's place in the queue, on its own cache line because its thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    gate: Gate<P>,
}

queue_node!(Node { gate: Gate::default() });

// SAFETY, as a lock: a thread returns from `lock` when its node was first in the queue, or when the previous
// owner opened its gate; each owner does that for exactly one successor.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for McsPark<P> {
        INFO: LockInfo {
            name: "mcs_park",
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Fifo,
            source: "Mellor-Crummey and Scott (1991); MCS-STP in Dice, Malthusian Locks (2017)",
            teaches: "Parked waiters leave the owner its CPU, but strict order makes each handoff a wake",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self { queue: Tail::new() },
        lock: |this, node| {
            node.gate.close();
            if this.queue.enter(node) {
                node.gate.wait();
            }
        },
        try_lock: |this, node| this.queue.try_enter(node),
        unlock: |this, node| {
            let successor = this.queue.leave(node);
            if !successor.is_null() {
                // SAFETY: the successor waits at its gate, so its node is still there, and only its predecessor opens it.
                unsafe { Gate::open(&raw const (*successor).gate) };
            }
        },
        is_idle: |this| this.queue.is_empty(),
    }
}
