//! CLH: an implicit queue in which each waiter polls its predecessor's node.
//!
//! Source: Travis S. Craig, "Building FIFO and Priority-Queuing Spin Locks from Atomic Swap"
//! (1993); Peter Magnusson, Anders Landin and Erik Hagersten, "Queue Locks on Cache Coherent
//! Multiprocessors" (1994).
//!
//! Teaches: the queue of MCS without links. An unlock is one store and never waits for a successor
//! that has not linked its node yet. In return a node changes hands with each acquisition.
//!
//! ```text
//! lock.tail ───────────────────────────────────────────┐
//!                                                      ▼
//! [pred: locked=0] ◄─polls─ [owner's: locked=1] ◄─polls─ [waiter's: locked=1]
//!      │
//!      └─ left by the previous owner; the owner takes it for its own when it unlocks
//!
//! locked  0 → 1          the node's thread     store, before the swap
//!         1 → 0          the owner             store: the unlock. From then on its node is `pred`
//! tail    node → node    a thread that locks   swap; then it polls the node that it found for
//!                                              locked == 0
//!
//! The lock is free if the node at `tail` has locked == 0.
//! ```
//!
//! There is no `try_lock`. It would have to swap its node in only if the node at the tail is
//! unlocked. Before the swap, another thread may have taken that node over, locked it and put it
//! back at the tail. The compare-exchange would then succeed on the same address in another state,
//! and the thread would be in the queue and have to wait.
//!
//! # The owner of a node
//!
//! Nodes are on the heap, because they outlive the acquisition that brought them. Each belongs
//! either to a context that is not in the queue, or to the queue.
//!
//! * A context's node enters the queue by the swap. From then on, three can reach it: its thread,
//!   which stores `locked` once more and forgets it; the lock's `tail`, until the next swap; and
//!   the thread that made that next swap, which alone polls it, and takes it over when it unlocks.
//! * So between acquisitions a context holds the node that it made, or one that it polled until it
//!   read 0. The store of that 0 was the last access by the node's previous thread. The context's
//!   own swap has moved `tail` on, and no other thread polls the node. No other thread can reach
//!   it, so it may be freed when the context is dropped.
//! * When the lock is dropped it frees the node at `tail`, which the last owner has left by the
//!   same rule.
//!
//! # Memory ordering
//!
//! The swap of `tail` is `AcqRel`. By `Release` it publishes that the node's `locked` is 1, and by
//! `Acquire` it sees the same of the predecessor's. The store of 0 is `Release` and the poll
//! `Acquire`. This pair is the handoff, and it hands the node itself to its next owner.

use std::cell::Cell;
use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::{Fairness, LockInfo, RawLock};

/// The CLH lock: see the [source file](self) for its queue.
#[derive(Debug)]
pub struct Clh<P: Platform> {
    tail: P::AtomicPtr<Node<P>>,
}

/// A place in the queue, on its own cache line because a thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    locked: P::AtomicU8,
}

impl<P: Platform> Node<P> {
    fn unlocked_on_heap() -> *mut Self {
        Box::into_raw(Box::new(Self { locked: AtomicInt::new(0) }))
    }
}

/// A thread's context: the node of its next acquisition, and the node that it polled last.
#[derive(Debug)]
pub struct Context<P: Platform> {
    node: Cell<*mut Node<P>>,
    /// Meaningful only while the thread owns the lock.
    predecessor: Cell<*mut Node<P>>,
}

impl<P: Platform> Default for Context<P> {
    fn default() -> Self {
        Self { node: Cell::new(Node::unlocked_on_heap()), predecessor: Cell::new(ptr::null_mut()) }
    }
}

impl<P: Platform> Drop for Context<P> {
    fn drop(&mut self) {
        // SAFETY: no acquisition is under way, so the node is this context's alone: see "The
        // owner of a node". It came from a box.
        drop(unsafe { Box::from_raw(self.node.get()) });
    }
}

impl<P: Platform> Drop for Clh<P> {
    fn drop(&mut self) {
        // SAFETY: no thread holds or waits for a lock that is dropped, so the node at the tail is
        // the queue's alone. It came from a box.
        drop(unsafe { Box::from_raw(self.tail.load(Ordering::Acquire)) });
    }
}

// SAFETY, as a lock: swaps of the tail put the threads in one order; each returns from `lock` when
// its predecessor's node is unlocked, which only the predecessor does, at its unlock.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Clh<P> {
        INFO: LockInfo {
            name: "clh",
            fairness: Fairness::Fifo,
            has_try_lock: false,
            source: "Craig (1993); Magnusson, Landin and Hagersten, Queue Locks (1994)",
            teaches: "A queue without links: an unlock is one store, and nodes change hands instead",
            ..LockInfo::USUAL
        },
        Context: Context<P>,
        new: Self { tail: AtomicPointer::new(Node::unlocked_on_heap()) },
        lock: |this, context| {
            let node = context.node.get();
            // SAFETY: the node is this context's until the swap below, and stays allocated after it
            // until the successor has seen it unlocked.
            unsafe { &*node }.locked.store(1, Ordering::Relaxed);
            let predecessor = this.tail.swap(node, Ordering::AcqRel);
            // SAFETY: from its swap on, this thread alone reaches the predecessor's node; only this
            // context can pass it on to be freed.
            while unsafe { &*predecessor }.locked.load(Ordering::Acquire) != 0 {
                P::pause();
            }
            context.predecessor.set(predecessor);
        },
        try_lock: |_, _| false,
        unlock: |_, context| {
            let node = context.node.get();
            // The context first replaces its node, which belongs to the successor after the store.
            context.node.set(context.predecessor.get());
            // SAFETY: the node stays allocated while it is locked: the successor, or the lock's
            // drop, frees it only after this store.
            unsafe { &*node }.locked.store(0, Ordering::Release);
        },
        is_idle: |this| {
            // SAFETY: the node at the tail belongs to the queue, which lives.
            unsafe { &*this.tail.load(Ordering::Acquire) }.locked.load(Ordering::Relaxed) == 0
        },
    }
}
