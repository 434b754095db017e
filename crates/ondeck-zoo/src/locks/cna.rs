//! CNA: MCS that hands off within a NUMA node, and keeps the other waiters in a second queue.
//!
//! Source: Dave Dice and Alex Kogan, "Compact NUMA-aware Locks" (EuroSys 2019). Alex Kogan also wrote the patches
//! that bring it to Linux' queued spinlock.
//!
//! Teaches: a NUMA-aware lock can be one word. Other such locks keep state for each NUMA node; this one keeps it in
//! the waiters' nodes: the owner's has the head of the second queue, and that head has its last one.
//!
//! ```text
//! lock.tail ───────────────────────────────────────────────────────┐
//!                                                                  ▼
//! main     [owner, node 0: spin ──┐] ─next─► [waiter, node 0] ─next─► [waiter, node 1] ─next─► null
//!                                 ▼
//! second          [waiter, node 1] ─next─► [waiter, node 2] ─next─► null
//!                        └──────last──────────────▲
//!
//! tail   null → node    a thread that locks   swap: it owns the lock, with no second queue
//!        node → node    a thread that locks   swap: it waits after the node that it found
//!        node → null    the owner             compare-exchange, if both queues are empty
//!        node → last    the owner             compare-exchange, if the main queue is empty: the second
//!                                             queue is the main queue now
//! next   null → node    the successor         store, once, after its swap; and by the owner, which moves
//!                                             nodes between the queues
//! spin   null           a thread that locks   store, before its swap: it waits
//!        null → 1       the previous owner    store: the handoff. There is no second queue
//!        null → node    the previous owner    store: the handoff, with the head of the second queue
//!
//! An unlock hands the lock to the first waiter of its own NUMA node in the main queue. Earlier ones move to
//! the end of the second queue. If there is none, or after 65,535 handoffs within the NUMA node, the second queue is
//! put in front of the main queue, and its head is next.
//! ```
//!
//! # Differences from the source
//!
//! The source ends a series of handoffs within a NUMA node with a probability of 1/65536, from a random number.
//! Here the handoffs of the series are counted in the waiters' nodes, which the handoff writes anyway. So a run in
//! virtual time repeats exactly.
//!
//! # Memory ordering
//!
//! As in MCS: the swap of `tail` is `AcqRel`, the store of `next` by a successor is `Release` and the owner's load
//! of it `Acquire`, and `spin` is stored with `Release` and polled with `Acquire`: the handoff. The owner's changes
//! in waiters' nodes (`next` of moved nodes, `last`, `handoffs`) are `Relaxed`, because only owners read them, each
//! after the handoff by the previous owner. The compare-exchange to `last` is `Release`: a thread that swaps after
//! it writes that node's `next`, after the owner has made it null.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::queue::{Linked, Tail};
use crate::{Fairness, LockInfo, RawLock};

/// The limit of handoffs within a NUMA node while threads of other nodes wait.
const MOST_HANDOFFS: u32 = 0xffff;

/// The NUMA node of a thread that did not have to wait, and so has not asked for it.
const UNKNOWN: u32 = u32::MAX;

/// MCS with a second queue: see the [source file](self).
#[derive(Debug)]
pub struct Cna<P: Platform> {
    queue: Tail<P, Node<P>>,
}

/// One thread's place in a queue, on its own cache line because its thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    /// Null while its thread waits, or found the lock free; else [`no_second`], or the head of the second queue.
    spin: P::AtomicPtr<Node<P>>,
    next: P::AtomicPtr<Node<P>>,
    /// Of the head of the second queue: its last node.
    last: P::AtomicPtr<Node<P>>,
    /// The NUMA node of its thread, if the thread had to wait.
    home: P::AtomicU32,
    /// The number of owners in a row, up to the one before this node's thread, that have handed off to a thread of
    /// their own NUMA node.
    handoffs: P::AtomicU32,
}

queue_node!(Node {
    spin: AtomicPointer::new(ptr::null_mut()),
    last: AtomicPointer::new(ptr::null_mut()),
    home: AtomicInt::new(UNKNOWN),
    handoffs: AtomicInt::new(0),
}, prepare: |node| {
    node.spin.store(ptr::null_mut(), Ordering::Relaxed);
    node.home.store(UNKNOWN, Ordering::Relaxed);
    node.handoffs.store(0, Ordering::Relaxed);
});

/// The value that the owner stores in its successor's `spin` for a handoff without a second queue. No node has this
/// address.
const fn no_second<P: Platform>() -> *mut Node<P> {
    ptr::without_provenance_mut(1)
}

fn numa_node<P: Platform>() -> u32 {
    P::node() as u32
}

impl<P: Platform> Node<P> {
    /// The head of the second queue, or null; for the owner's node.
    fn second(&self) -> *mut Self {
        let spin = self.spin.load(Ordering::Relaxed);
        if spin == no_second() { ptr::null_mut() } else { spin }
    }

    /// Returns the first waiter of the owner's NUMA node in the main queue; moves the nodes before it to the second
    /// queue.
    ///
    /// # Safety
    ///
    /// `self` is the owner's node, and `next` the one after it.
    unsafe fn local_successor(&self, next: *mut Self) -> Option<*mut Self> {
        let known = self.home.load(Ordering::Relaxed);
        let own = if known == UNKNOWN { numa_node::<P>() } else { known };
        let (mut current, mut before) = (next, ptr::null_mut::<Self>());
        loop {
            // SAFETY: a waiter's node stays until the lock is handed to it, which only this thread does.
            let waiter = unsafe { &*current };
            if waiter.home.load(Ordering::Relaxed) == own {
                break;
            }
            before = current;
            current = waiter.next.load(Ordering::Acquire);
            if current.is_null() {
                return None;
            }
        }
        // SAFETY: null, or as above.
        if let Some(last) = unsafe { before.as_ref() } {
            last.next.store(ptr::null_mut(), Ordering::Relaxed);
            let mut head = self.second();
            if head.is_null() {
                head = next;
                self.spin.store(head, Ordering::Relaxed);
            } else {
                // SAFETY: the threads of the second queue also wait, and its head has `last`.
                unsafe { &*(*head).last.load(Ordering::Relaxed) }
                    .next
                    .store(next, Ordering::Relaxed);
            }
            // SAFETY: as above.
            unsafe { &*head }.last.store(before, Ordering::Relaxed);
        }
        Some(current)
    }
}

impl<P: Platform> Cna<P> {
    /// Returns the node after the owner's. Returns null if there was none: then either the second queue has become
    /// the main queue and its head has received the lock, or the lock is free.
    fn next_or_unlock(&self, node: &Node<P>) -> *mut Node<P> {
        let next = node.next.load(Ordering::Acquire);
        if !next.is_null() {
            return next;
        }
        let second = node.second();
        // SAFETY: null, or the head of the second queue, whose thread waits.
        let last = unsafe { second.as_ref() }
            .map_or(ptr::null_mut(), |head| head.last.load(Ordering::Relaxed));
        if self.queue.replace(node, last) {
            // SAFETY: as above; the head waits for this store, and is not touched after it.
            if let Some(head) = unsafe { second.as_ref() } {
                head.spin.store(no_second(), Ordering::Release);
            }
            return ptr::null_mut();
        }
        node.linked()
    }
}

// SAFETY, as a lock: a thread returns from `lock` when its node was first in the queue, or when the previous
// owner stored its `spin`; each owner does that for exactly one waiter, and keeps all others in one of the
// queues.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Cna<P> {
        INFO: LockInfo {
            name: "cna",
            fairness: Fairness::Bounded,
            source: "Dice and Kogan, Compact NUMA-aware Locks (2019)",
            teaches: "One word can stay within a NUMA node: waiters of others are in a second queue",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self { queue: Tail::new() },
        lock: |this, node| {
            // Relaxed: published by the link. A thread that found the lock free need not know its node.
            let home = || node.home.store(numa_node::<P>(), Ordering::Relaxed);
            if this.queue.enter_with(node, home) {
                while node.spin.load(Ordering::Acquire).is_null() {
                    P::pause();
                }
            }
        },
        try_lock: |this, node| this.queue.try_enter(node),
        unlock: |this, node| {
            let next = this.next_or_unlock(node);
            if next.is_null() {
                return;
            }
            let handoffs = node.handoffs.load(Ordering::Relaxed);
            let local = if handoffs < P::spins(MOST_HANDOFFS) {
                // SAFETY: `node` is the owner's, and `next` is after it.
                unsafe { node.local_successor(next) }
            } else {
                None
            };
            let (successor, spin, handoffs) = if let Some(local) = local {
                let second = node.second();
                (local, if second.is_null() { no_second() } else { second }, handoffs + 1)
            } else {
                // SAFETY: null, or the head of the second queue, whose threads wait.
                match unsafe { node.second().as_ref() } {
                    Some(head) => {
                        // SAFETY: as above.
                        unsafe { &*head.last.load(Ordering::Relaxed) }
                            .next
                            .store(next, Ordering::Relaxed);
                        (ptr::from_ref(head).cast_mut(), no_second(), 0)
                    }
                    None => (next, no_second(), 0),
                }
            };
            // SAFETY: its thread waits for the store of `spin`, and its node is not touched after it.
            let successor = unsafe { &*successor };
            successor.handoffs.store(handoffs, Ordering::Relaxed);
            successor.spin.store(spin, Ordering::Release);
        },
        is_idle: |this| this.queue.is_empty(),
    }
}
