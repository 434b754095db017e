//! Lock cohorting: one global lock, and one local lock for each NUMA node, whose owner may inherit the global one.
//!
//! Source: David Dice, Virendra J. Marathe and Nir Shavit, "Lock Cohorting: A General Technique for
//! Designing NUMA Locks" (PPoPP 2012), C-BO-MCS: the global lock is test-and-test-and-set with backoff, the
//! local locks are MCS.
//!
//! Teaches: how two locks that ignore NUMA make a NUMA-aware lock. The global lock has to allow an unlock by another
//! thread than the one that locked it. The local lock has to know whether a thread waits for it. The price is memory,
//! a cache line for each node in each lock, and two locks to take without contention.
//!
//! ```text
//! global (u8): 0 unlocked · 1 locked           on a cache line of its own
//!
//! local[0].tail ─► queue of threads of NUMA node 0      local[1].tail ─► queue of threads of node 1
//! [owner: holds local 0 and global] ─next─► [node: WAITING] ─next─► null
//!
//! global  0 → 1               the first of a local queue   test-and-set that finds 0
//!         1 → 0               the owner                    store, if no thread of its node waits, or 64
//!                                                          had the lock in a row
//! tail, next                  as in `mcs.rs`
//! state   0 WAITING           a thread that locks          store, before its node can be found
//!         0 → 1 WITH_GLOBAL   the predecessor              store: the handoff, global stays locked
//!         0 → 2 LOCAL_ONLY    the predecessor              store: its thread still has to lock global
//! ```
//!
//! An unlock that releases both locks first unlocks the global lock, then the local one. So the store to `global` is
//! not its last access to the lock.
//!
//! # Memory ordering
//!
//! The local queues' orderings are those of MCS. `state` is stored with `Release` and polled with `Acquire`: with
//! `WITH_GLOBAL` this pair is the handoff. Otherwise the global lock makes the handoff: its store of 0 is `Release`
//! and the test-and-set `Acquire`.

use std::cell::Cell;
use std::fmt;
use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use super::ttas_backoff::TtasBackoff;
use crate::queue::{Linked, Tail};
use crate::{LockInfo, RawLock};

const WAITING: u32 = 0;
const WITH_GLOBAL: u32 = 1;
const LOCAL_ONLY: u32 = 2;

/// The number of threads of a NUMA node that may acquire in a row after the first while others wait. The source leaves
/// the bound open.
const MOST_HANDOFFS: u32 = 64;

/// A global lock and local ones: see the [source file](self).
pub struct Cohort<P: Platform> {
    global: Global<P>,
    locals: Box<[Local<P>]>,
}

impl<P: Platform> fmt::Debug for Cohort<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cohort").field("locals", &self.locals.len()).finish_non_exhaustive()
    }
}

#[repr(align(64))]
struct Global<P: Platform>(TtasBackoff<P>);

/// The queue of the threads of one NUMA node.
#[repr(align(64))]
struct Local<P: Platform>(Tail<P, Node<P>>);

/// One thread's place in a local queue, on its own cache line because its thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    state: P::AtomicU32,
    /// The number of threads of the node that had the lock in a row before this one.
    handoffs: P::AtomicU32,
    /// The local lock that it is for; only its own thread reads it.
    home: Cell<usize>,
}

queue_node!(Node {
    state: AtomicInt::new(WAITING),
    handoffs: AtomicInt::new(0),
    home: Cell::new(0),
});

impl<P: Platform> Node<P> {
    /// Makes the node ready for an acquisition on the NUMA node that the thread runs on. Relaxed: no other thread can
    /// reach it yet.
    fn prepare(&self, nodes: usize) {
        self.state.store(WAITING, Ordering::Relaxed);
        self.handoffs.store(0, Ordering::Relaxed);
        self.home.set(P::node() % nodes);
    }
}

impl<P: Platform> Local<P> {
    /// Unlocks the local lock, whose owner no longer has the global one.
    #[inline]
    fn unlock(&self, node: &Node<P>, mut successor: *mut Node<P>) {
        if successor.is_null() {
            if self.0.replace(node, ptr::null_mut()) {
                return;
            }
            successor = node.linked();
        }
        // SAFETY: the successor waits for this store, so its node is still there. It may be gone
        // right after, and is not touched again.
        unsafe { &*successor }.state.store(LOCAL_ONLY, Ordering::Release);
    }
}

// SAFETY, as a lock: a thread returns from `lock` after it locked the global lock, or when its predecessor left
// it to that thread alone. Only the thread that has the global lock unlocks it or leaves it to another.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Cohort<P> {
        INFO: LockInfo {
            name: "cohort",
            touches_after_release: true,
            source: "Dice, Marathe and Shavit, Lock Cohorting (2012), C-BO-MCS",
            teaches: "Two locks that know nothing of NUMA make one that stays within a node for a while",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self {
            global: Global(TtasBackoff::new()),
            locals: (0..P::nodes()).map(|_| Local(Tail::new())).collect(),
        },
        lock: |this, node| {
            node.prepare(this.locals.len());
            if this.locals[node.home.get()].0.enter(node) {
                loop {
                    match node.state.load(Ordering::Acquire) {
                        WAITING => P::pause(),
                        WITH_GLOBAL => return,
                        _ => break,
                    }
                }
            }
            this.global.0.acquire();
        },
        try_lock: |this, node| {
            node.prepare(this.locals.len());
            let local = &this.locals[node.home.get()];
            if !local.0.try_enter(node) {
                return false;
            }
            let locked = this.global.0.attempt();
            if !locked {
                local.unlock(node, node.next.load(Ordering::Acquire));
            }
            locked
        },
        unlock: |this, node| {
            let successor = node.next.load(Ordering::Acquire);
            let handoffs = node.handoffs.load(Ordering::Relaxed);
            if !successor.is_null() && handoffs < P::spins(MOST_HANDOFFS) {
                // SAFETY: the successor waits for the second store, so its node is still there. It may be
                // gone right after, and is not touched again.
                let successor = unsafe { &*successor };
                successor.handoffs.store(handoffs + 1, Ordering::Relaxed);
                successor.state.store(WITH_GLOBAL, Ordering::Release);
                return;
            }
            this.global.0.clear();
            this.locals[node.home.get()].unlock(node, successor);
        },
        is_idle: |this| {
            this.global.0.is_idle() && this.locals.iter().all(|local| local.0.is_empty())
        },
    }
}
