//! HMCS: MCS on two levels, one queue for each NUMA node and one of the NUMA nodes.
//!
//! Source: Milind Chabbi, Michael Fagan and John Mellor-Crummey, "High Performance Locks for Multi-level NUMA
//! Systems" (PPoPP 2015), with two levels.
//!
//! Teaches: the behaviour of a cohort of fair locks. The NUMA nodes queue for the lock like their threads. So no
//! NUMA node starves, and the lock visits them in order.
//!
//! ```text
//! root.tail ─► [node of home 0] ─next─► [node of home 1] ─next─► null          (these are in the lock)
//!                     ▲                        ▲
//! home 0: tail ─► [owner: 1] ─► [WAIT]      home 1: tail ─► [waits for the root] ─► [WAIT]
//!
//! status in a home
//!   0 WAIT                        a thread that locks   store, before its node can be found
//!   0 → n, 1 ≤ n ≤ 64             the predecessor       store: the handoff, with the root. The n-th owner in a row
//!   0 → MAX (ACQUIRE_ROOT)        the predecessor       store: it has the home, and has to lock the root
//! status in the root
//!   0 WAIT                        the owner of a home   store, before the home's node can be found
//!   0 → 1                         the predecessor       store: the handoff
//! tail, next                      as in `mcs.rs`, on both levels
//! ```
//!
//! An unlock that releases both levels first unlocks the root, then its home. So the handoff is not its last access
//! to the lock.
//!
//! # Memory ordering
//!
//! Both levels have the orderings of MCS: see `mcs.rs`. `status` is stored with `Release` and polled with `Acquire`. The
//! node of a home is written by the owners of that home only, each after the handoff of the one before.

use std::cell::Cell;
use std::fmt;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::queue::Tail;
use crate::{Fairness, LockInfo, RawLock};

const WAIT: u32 = 0;
const FIRST: u32 = 1;
const ACQUIRE_ROOT: u32 = u32::MAX;

/// The number of threads of a NUMA node that may acquire in a row while others wait. The source leaves the bound to
/// tuning.
const MOST_IN_A_ROW: u32 = 64;

/// MCS on two levels: see the [source file](self).
pub struct Hmcs<P: Platform> {
    root: Queue<P>,
    homes: Box<[Home<P>]>,
}

impl<P: Platform> fmt::Debug for Hmcs<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hmcs").field("homes", &self.homes.len()).finish_non_exhaustive()
    }
}

#[repr(align(64))]
struct Queue<P: Platform>(Tail<P, Node<P>>);

/// A NUMA node: the queue of its threads, and its own place in the root's queue.
struct Home<P: Platform> {
    queue: Queue<P>,
    node: Node<P>,
}

/// A place in a queue, on its own cache line because a thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    status: P::AtomicU32,
    /// The home that it queues in; only its own thread reads it.
    home: Cell<usize>,
}

// SAFETY: `home` is accessed by the thread that brings the node, and not at all in the nodes of homes; the rest are
// atomics.
unsafe impl<P: Platform> Sync for Node<P> {}

queue_node!(Node { status: AtomicInt::new(WAIT), home: Cell::new(0) });

impl<P: Platform> Queue<P> {
    fn new() -> Self {
        Self(Tail::new())
    }

    /// Queues and waits; returns the value that the predecessor stored, or `None` if there was none.
    #[inline]
    fn enter(&self, node: &Node<P>) -> Option<u32> {
        // Relaxed: no other thread can reach the node yet.
        node.status.store(WAIT, Ordering::Relaxed);
        self.0.enter(node).then(|| {
            loop {
                let status = node.status.load(Ordering::Acquire);
                if status != WAIT {
                    return status;
                }
                P::pause();
            }
        })
    }

    /// Leaves the queue; the successor, if there is one, receives `status`.
    #[inline]
    fn leave(&self, node: &Node<P>, status: u32) {
        // SAFETY: null, or the successor waits for this store, so its node is still there. It may be gone right after, and
        // is not touched again.
        if let Some(successor) = unsafe { self.0.leave(node).as_ref() } {
            successor.status.store(status, Ordering::Release);
        }
    }
}

impl<P: Platform> Hmcs<P> {
    #[inline]
    fn home(&self, node: &Node<P>) -> &Home<P> {
        let at = P::node() % self.homes.len();
        node.home.set(at);
        &self.homes[at]
    }
}

// SAFETY, as a lock: a thread returns from `lock` as the owner of a home that is first in the root's queue. It
// queued there itself, or its predecessor in the home left the place to that thread alone.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Hmcs<P> {
        INFO: LockInfo {
            name: "hmcs",
            fairness: Fairness::Bounded,
            touches_after_release: true,
            source: "Chabbi, Fagan and Mellor-Crummey, High Performance Locks for Multi-level NUMA Systems (2015)",
            teaches: "Queues on two levels stay within a NUMA node for a while, and go around among them",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: {
            let home = |_| Home { queue: Queue::new(), node: Node::default() };
            Self { root: Queue::new(), homes: (0..P::nodes()).map(home).collect() }
        },
        lock: |this, node| {
            let home = this.home(node);
            if matches!(home.queue.enter(node), None | Some(ACQUIRE_ROOT)) {
                // Relaxed: it is read by this thread's own unlock.
                node.status.store(FIRST, Ordering::Relaxed);
                this.root.enter(&home.node);
            }
        },
        try_lock: |this, node| {
            let home = this.home(node);
            if !home.queue.0.try_enter(node) {
                return false;
            }
            node.status.store(FIRST, Ordering::Relaxed);
            let locked = this.root.0.try_enter(&home.node);
            if !locked {
                home.queue.leave(node, ACQUIRE_ROOT);
            }
            locked
        },
        unlock: |this, node| {
            let home = &this.homes[node.home.get()];
            let in_a_row = node.status.load(Ordering::Relaxed);
            let successor = node.next.load(Ordering::Acquire);
            if in_a_row <= P::spins(MOST_IN_A_ROW - 1) && !successor.is_null() {
                // SAFETY: the successor waits for this store, so its node is still there. It may be gone
                // right after, and is not touched again.
                unsafe { &*successor }.status.store(in_a_row + 1, Ordering::Release);
                return;
            }
            this.root.leave(&home.node, FIRST);
            home.queue.leave(node, ACQUIRE_ROOT);
        },
        is_idle: |this| {
            let is_empty = |queue: &Queue<P>| queue.0.is_empty();
            is_empty(&this.root) && this.homes.iter().all(|home| is_empty(&home.queue))
        },
    }
}
