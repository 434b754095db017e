//! CLH: an implicit queue in which each waiter polls its predecessor's node.
//!
//! Source: Travis S. Craig, "Building FIFO and Priority-Queuing Spin Locks from Atomic Swap"
//! (1993); Peter Magnusson, Anders Landin and Erik Hagersten, "Queue Locks on Cache Coherent
//! Multiprocessors" (1994).
//!
//! Teaches: the queue of MCS without links to follow. A release is one store and never waits for a
//! successor that is half way in; for that, nodes change hands with every acquisition.
//!
//! ```text
//! lock.tail ───────────────────────────────────────────┐
//!                                                      ▼
//! [pred: locked=0] ◄─polls─ [owner's: locked=1] ◄─polls─ [waiter's: locked=1]
//!      │
//!      └─ given up by the last owner; the present owner takes it for its own when it leaves
//!
//! lock:   node.locked = 1; pred = swap(tail, node); poll until pred.locked == 0
//! unlock: node.locked = 0; from now on this thread's node is pred
//! free:   the node at tail has locked == 0
//! ```
//!
//! There is no `try_lock`: it would have to swap its node in only if the node at the tail is
//! unlocked, and by the time of the swap that node may have been taken over, locked and put back at
//! the tail by somebody else. The compare-exchange would succeed on the same address in another
//! state, and the thread would be in the queue, bound to wait.
//!
//! # Who owns a node
//!
//! Nodes are on the heap, because they outlive the acquisition that brought them. Each belongs to
//! exactly one of: a context that is not in the queue, or the queue. A context's node enters the
//! queue at the swap. It is then known to three: its thread, which stores `locked` once more and
//! forgets it; the lock's `tail`, until the next swap; the thread that made that swap, which polls
//! it, alone, and takes it over when it leaves. So when a context is dropped, between
//! acquisitions, it holds either the node it made or one that it polled to 0. The store of that 0
//! was the last access of the node's former thread, `tail` has moved past it by this thread's own
//! swap, and no other thread polls it: nobody else can reach it, and it may be freed. The lock
//! frees the node at `tail` when it is dropped, after its last owner has left it by the same rule.
//!
//! # Memory ordering
//!
//! The swap of `tail` is `AcqRel`: `Release` publishes that `locked` is 1, `Acquire` sees that of
//! the predecessor. The store of 0 is `Release` and the poll `Acquire`: that is the handoff, and it
//! also brings the node itself over to its next owner.

use std::cell::Cell;
use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// The CLH lock: see the [source file](self) for its queue.
#[derive(Debug)]
pub struct Clh<P: Platform> {
    tail: P::AtomicPtr<Node<P>>,
}

/// A place in the queue; on a cache line of its own, because a thread polls it.
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

/// What a thread brings: the node it will lock with next, and the one it polled last.
#[derive(Debug)]
pub struct Context<P: Platform> {
    node: Cell<*mut Node<P>>,
    /// Meaningful only while the lock is held.
    predecessor: Cell<*mut Node<P>>,
}

impl<P: Platform> Default for Context<P> {
    fn default() -> Self {
        Self { node: Cell::new(Node::unlocked_on_heap()), predecessor: Cell::new(ptr::null_mut()) }
    }
}

impl<P: Platform> Drop for Context<P> {
    fn drop(&mut self) {
        // SAFETY: no acquisition is under way, so the node is this context's alone: see "Who owns
        // a node". It came from a box.
        drop(unsafe { Box::from_raw(self.node.get()) });
    }
}

impl<P: Platform> Drop for Clh<P> {
    fn drop(&mut self) {
        // SAFETY: nobody holds or waits for a lock that is dropped, so the node at the tail is the
        // queue's alone. It came from a box.
        drop(unsafe { Box::from_raw(self.tail.load(Ordering::Acquire)) });
    }
}

// SAFETY: swaps of the tail put the threads in one order; each returns from `lock` when its
// predecessor's node is unlocked, which only the predecessor does, at its unlock.
unsafe impl<P: Platform> RawLock<P> for Clh<P> {
    const INFO: LockInfo = LockInfo {
        name: "clh",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Fifo,
        has_try_lock: false,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "Craig (1993); Magnusson, Landin and Hagersten, Queue Locks (1994)",
        teaches: "A queue without links: release is one store, nodes change hands instead",
    };

    type Context = Context<P>;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { tail: AtomicPointer::new(Node::unlocked_on_heap()) }
    }

    #[inline]
    unsafe fn lock(&self, context: &Context<P>) {
        let node = context.node.get();
        // SAFETY: the node is this context's until the swap below, and stays allocated after it
        // until the successor has seen it unlocked.
        unsafe { &*node }.locked.store(1, Ordering::Relaxed);
        let predecessor = self.tail.swap(node, Ordering::AcqRel);
        // SAFETY: this thread alone has the predecessor's node from its swap; whoever frees it
        // must have it from this context.
        while unsafe { &*predecessor }.locked.load(Ordering::Acquire) != 0 {
            P::pause();
        }
        context.predecessor.set(predecessor);
    }

    unsafe fn try_lock(&self, _: &Context<P>) -> bool {
        false
    }

    #[inline]
    unsafe fn unlock(&self, context: &Context<P>) {
        let node = context.node.get();
        // First the context lets go of its node: after the store the node is another's.
        context.node.set(context.predecessor.get());
        // SAFETY: the node is allocated as long as it is locked: the successor, or the lock's
        // drop, can only come after this store.
        unsafe { &*node }.locked.store(0, Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        // SAFETY: the node at the tail is the queue's, and the queue lives.
        unsafe { &*self.tail.load(Ordering::Acquire) }.locked.load(Ordering::Relaxed) == 0
    }
}
