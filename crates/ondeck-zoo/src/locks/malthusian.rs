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
use crate::{Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// Of the unlocks that see passive threads, one in this number promotes the eldest.
const PROMOTE_ONE_IN: u32 = 1_000;

/// MCS with a passive list: see the [source file](self).
#[derive(Debug)]
pub struct Malthusian<P: Platform> {
    tail: P::AtomicPtr<Node<P>>,
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

impl<P: Platform> Default for Node<P> {
    fn default() -> Self {
        Self {
            next: AtomicPointer::new(ptr::null_mut()),
            gate: Gate::default(),
            older: AtomicPointer::new(ptr::null_mut()),
            newer: AtomicPointer::new(ptr::null_mut()),
        }
    }
}

impl<P: Platform> Node<P> {
    /// Waits until the thread that has swapped its node in after this one has linked it.
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
        let (own, passive) = (ptr::from_ref(own).cast_mut(), ptr::from_ref(passive).cast_mut());
        self.tail.compare_exchange(own, passive, Ordering::Release, Ordering::Relaxed).is_ok()
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
        let mut successor = own.next.load(Ordering::Acquire);
        if successor.is_null() {
            let address = ptr::from_ref(own).cast_mut();
            // `activate` has found no passive thread, or a thread after the owner's.
            if self
                .tail
                .compare_exchange(address, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                return ptr::null_mut();
            }
            successor = own.linked();
        }
        // SAFETY: it waits at its gate, which only the caller opens.
        let behind = unsafe { &*successor }.next.load(Ordering::Acquire);
        if behind.is_null() {
            return successor;
        }
        // SAFETY: the caller owns the lock, and by handing off to the node after it takes this one out of the
        // queue.
        unsafe { self.make_passive(successor) };
        behind
    }
}

// SAFETY: a thread returns from `lock` when its node was first in the queue, or when the previous owner opened
// its gate; each owner opens one, and keeps all others in the queue or in the passive list.
unsafe impl<P: Platform> RawLock<P> for Malthusian<P> {
    const INFO: LockInfo = LockInfo {
        name: "malthusian",
        origin: Origin::Literature,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        source: "Dice, Malthusian Locks (2017), MCSCR-STP",
        teaches: "Few threads keep a lock busy: an unlock sets waiters aside that are not needed",
        ..LockInfo::USUAL
    };

    type Context = Node<P>;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self {
            tail: AtomicPointer::new(ptr::null_mut()),
            newest: AtomicPointer::new(ptr::null_mut()),
            eldest: AtomicPointer::new(ptr::null_mut()),
            unlocks: AtomicInt::new(0),
        }
    }

    #[inline]
    unsafe fn lock(&self, node: &Node<P>) {
        // Relaxed: no other thread can reach the node yet; the swap below publishes both.
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        node.gate.close();
        let own = ptr::from_ref(node).cast_mut();
        let predecessor = self.tail.swap(own, Ordering::AcqRel);
        if !predecessor.is_null() {
            // SAFETY: the predecessor waits, or cannot finish its unlock before it has seen this
            // store: tail is no longer its own node.
            unsafe { &*predecessor }.next.store(own, Ordering::Release);
            node.gate.wait();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, node: &Node<P>) -> bool {
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        let own = ptr::from_ref(node).cast_mut();
        self.tail
            .compare_exchange(ptr::null_mut(), own, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, node: &Node<P>) {
        let next = self.activate(node).unwrap_or_else(|| self.advance(node));
        if !next.is_null() {
            // SAFETY: its thread waits at its gate, which only the owner opens.
            unsafe { Gate::open(&raw const (*next).gate) };
        }
    }

    fn is_idle(&mut self) -> bool {
        let is_null = |word: &P::AtomicPtr<Node<P>>| word.load(Ordering::Relaxed).is_null();
        is_null(&self.tail) && is_null(&self.newest) && is_null(&self.eldest)
    }
}
