//! The Malthusian lock: MCS that keeps surplus waiters off the queue.
//!
//! Source: Dave Dice, "Malthusian Locks" (EuroSys 2017; first 2015), MCSCR with waiting by spin-then-park
//! (MCSCR-STP).
//!
//! Teaches: few threads suffice to keep a lock busy, and every further one that circulates costs it cache and
//! CPU. So an unlock that sees more than one waiter sets one aside. The remaining threads hand off among
//! themselves while they still spin. The price is fairness over short times.
//!
//! ```text
//! lock.tail ────────────────────────────────────────────┐
//!                                                       ▼
//! queue    [owner's node] ─next─► [successor] ─next─► [newest] ─next─► null
//!                                      │ culled
//!                                      ▼
//! passive  newest ─► [node] ─older─► [node] ─older─► [node] ◄─ eldest
//!                            ◄─newer─        ◄─newer─
//!
//! An unlock does the first of these that applies:
//!
//! promote    threads are passive, and it is the unlock of 1,000 that is due: the eldest passive node
//!            becomes its successor
//! refill     no thread is in the queue, but threads are passive: the newest passive node is put at the tail
//! free       no thread is in the queue: tail node → null
//! cull       the successor is not the newest: the successor becomes passive, the node after it is next
//! hand off   its successor's gate is opened
//!
//! tail, next, gate      as in `mcs_park.rs`
//! newest, eldest, older, newer, unlocks   guarded by the lock: only the owner reads and writes them
//! ```
//!
//! While threads are passive the tail is not null, so the lock is never free with a thread set aside. A passive
//! thread waits at its gate like all others and does not know that it is passive.
//!
//! # Differences from the source
//!
//! The source promotes at each unlock with a probability of 1/1000, from a random number of the thread. Here
//! the lock counts the unlocks that see passive threads, and promotes at each 1,000th: the rate is the same,
//! and a run in virtual time repeats exactly.
//!
//! # Memory ordering
//!
//! The queue's orderings are those of MCS: see `mcs_park.rs`. The passive list and the count are `Relaxed`,
//! because the handoff makes them visible to the next owner, like all data of the lock: they are written before
//! the gate is opened. A refill puts a node at the tail by a `Release` compare-exchange, so that a thread that
//! swaps finds that node's `next` null before it writes there.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::gate::Gate;
use crate::queue::{Linked, Tail};
use crate::{Fairness, LockInfo, RawLock, Waiting};

/// Of the unlocks that see passive threads, one in this number promotes the eldest.
const PROMOTE_ONE_IN: u32 = 1_000;

/// MCS with a passive list: see the [source file](self).
#[derive(Debug)]
pub struct Malthusian<P: Platform> {
    queue: Tail<P, Node<P>>,
    newest: P::AtomicPtr<Node<P>>,
    eldest: P::AtomicPtr<Node<P>>,
    /// Unlocks that saw passive threads, since the last promotion.
    unlocks: P::AtomicU32,
}

/// One thread's place in the queue or in the passive list, on its own cache line.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    gate: Gate<P>,
    older: P::AtomicPtr<Node<P>>,
    newer: P::AtomicPtr<Node<P>>,
}

queue_node!(Node {
    gate: Gate::default(),
    older: AtomicPointer::new(ptr::null_mut()),
    newer: AtomicPointer::new(ptr::null_mut()),
});

/// Functions for the owner only. The thread of each node that is passed to them waits at its gate, so the node
/// exists.
impl<P: Platform> Malthusian<P> {
    /// Puts a node, which has left the queue, at the newest end of the passive list.
    ///
    /// # Safety
    ///
    /// The caller owns the lock, and the node's thread waits at its gate.
    unsafe fn make_passive(&self, node: *mut Node<P>) {
        let second = self.newest.load(Ordering::Relaxed);
        // SAFETY: as the caller promises.
        let links = unsafe { &*node };
        links.older.store(second, Ordering::Relaxed);
        links.newer.store(ptr::null_mut(), Ordering::Relaxed);
        if second.is_null() {
            self.eldest.store(node, Ordering::Relaxed);
        } else {
            // SAFETY: a passive thread waits at its gate.
            unsafe { &*second }.newer.store(node, Ordering::Relaxed);
        }
        self.newest.store(node, Ordering::Relaxed);
    }

    /// Takes a node out of the passive list.
    ///
    /// # Safety
    ///
    /// The caller owns the lock, and the node is in the list.
    unsafe fn take_out(&self, node: *mut Node<P>) {
        // SAFETY: a passive thread waits at its gate.
        let links = unsafe { &*node };
        let (older, newer) =
            (links.older.load(Ordering::Relaxed), links.newer.load(Ordering::Relaxed));
        // SAFETY: null, or also passive.
        match unsafe { older.as_ref() } {
            Some(older) => older.newer.store(newer, Ordering::Relaxed),
            None => self.eldest.store(newer, Ordering::Relaxed),
        }
        // SAFETY: as above.
        match unsafe { newer.as_ref() } {
            Some(newer) => newer.older.store(older, Ordering::Relaxed),
            None => self.newest.store(older, Ordering::Relaxed),
        }
    }

    /// Whether this unlock, which sees passive threads, is the one that promotes.
    fn promotes(&self) -> bool {
        let unlocks = self.unlocks.load(Ordering::Relaxed) + 1;
        // Every second unlock under a model checker, so that it sees unlocks of both kinds.
        let is_due = unlocks > P::spins(PROMOTE_ONE_IN - 1);
        self.unlocks.store(if is_due { 0 } else { unlocks }, Ordering::Relaxed);
        is_due
    }

    /// Puts a passive node after the owner's own if no other is there; returns whether it did.
    fn refill(&self, own: &Node<P>, passive: &Node<P>) -> bool {
        passive.next.store(ptr::null_mut(), Ordering::Relaxed);
        self.queue.replace(own, passive.pointer())
    }

    /// Returns the passive node that is next, if any. The nodes after the owner's now follow that node.
    fn activate(&self, own: &Node<P>) -> Option<*mut Node<P>> {
        let newest = self.newest.load(Ordering::Relaxed);
        if newest.is_null() {
            return None;
        }
        let promotes = self.promotes();
        let passive = if promotes { self.eldest.load(Ordering::Relaxed) } else { newest };
        // SAFETY: a passive thread waits at its gate.
        let node = unsafe { &*passive };
        if own.next.load(Ordering::Acquire).is_null() && self.refill(own, node) {
            // SAFETY: the caller owns the lock, and the node is in the list.
            unsafe { self.take_out(passive) };
            return Some(passive);
        }
        if promotes {
            node.next.store(own.linked(), Ordering::Relaxed);
            // SAFETY: as above.
            unsafe { self.take_out(passive) };
            return Some(passive);
        }
        None
    }

    /// Returns the next node of the queue, after culling at most one; null if the lock is free now.
    fn advance(&self, own: &Node<P>) -> *mut Node<P> {
        // `activate` has found no passive thread, or a thread after the owner's.
        let successor = self.queue.leave(own);
        // SAFETY: null, or it waits at its gate, which only the caller opens.
        let waiter = unsafe { successor.as_ref() };
        let behind = waiter.map_or(ptr::null_mut(), |waiter| waiter.next.load(Ordering::Acquire));
        if behind.is_null() {
            return successor;
        }
        // SAFETY: the caller owns the lock, and by handing off to the node after it takes this one out of the
        // queue.
        unsafe { self.make_passive(successor) };
        behind
    }
}

// SAFETY, as a lock: a thread returns from `lock` when its node was first in the queue, or when the previous owner opened
// its gate; each owner opens one, and keeps all others in the queue or in the passive list.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Malthusian<P> {
        INFO: LockInfo {
            name: "malthusian",
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            source: "Dice, Malthusian Locks (2017), MCSCR-STP",
            teaches: "Few threads keep a lock busy: an unlock sets waiters aside that are not needed",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self {
            queue: Tail::new(),
            newest: AtomicPointer::new(ptr::null_mut()),
            eldest: AtomicPointer::new(ptr::null_mut()),
            unlocks: AtomicInt::new(0),
        },
        lock: |this, node| {
            node.gate.close();
            if this.queue.enter(node) {
                node.gate.wait();
            }
        },
        try_lock: |this, node| this.queue.try_enter(node),
        unlock: |this, node| {
            let next = this.activate(node).unwrap_or_else(|| this.advance(node));
            if !next.is_null() {
                // SAFETY: its thread waits at its gate, which only the owner opens.
                unsafe { Gate::open(&raw const (*next).gate) };
            }
        },
        is_idle: |this| {
            let is_null = |word: &P::AtomicPtr<Node<P>>| word.load(Ordering::Relaxed).is_null();
            this.queue.is_empty() && is_null(&this.newest) && is_null(&this.eldest)
        },
    }
}
