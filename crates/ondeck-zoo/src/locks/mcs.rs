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

use crate::{Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

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

// SAFETY: a thread returns from `lock` when its node was first in the queue, or when the previous
// owner cleared its `waiting`; each owner does that for exactly one successor.
unsafe impl<P: Platform> RawLock<P> for Mcs<P> {
    const INFO: LockInfo = LockInfo {
        name: "mcs",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Fifo,
        source: "Mellor-Crummey and Scott, Algorithms for Scalable Synchronization (1991)",
        teaches: "Each waiter spins on its own line; strict order collapses once a waiter is preempted",
        ..LockInfo::USUAL
    };

    type Context = Node<P>;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { tail: AtomicPointer::new(ptr::null_mut()) }
    }

    #[inline]
    unsafe fn lock(&self, node: &Node<P>) {
        // Relaxed: no other thread can reach the node yet; the swap below publishes both.
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        node.waiting.store(1, Ordering::Relaxed);
        let predecessor = self.tail.swap(ptr::from_ref(node).cast_mut(), Ordering::AcqRel);
        if !predecessor.is_null() {
            // SAFETY: the predecessor cannot finish its unlock, and so its node stays, before it
            // has seen this store: tail is no longer its own node.
            unsafe { &*predecessor }.next.store(ptr::from_ref(node).cast_mut(), Ordering::Release);
            while node.waiting.load(Ordering::Acquire) != 0 {
                P::pause();
            }
        }
    }

    #[inline]
    unsafe fn try_lock(&self, node: &Node<P>) -> bool {
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        self.tail
            .compare_exchange(
                ptr::null_mut(),
                ptr::from_ref(node).cast_mut(),
                Ordering::AcqRel,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, node: &Node<P>) {
        let mut successor = node.next.load(Ordering::Acquire);
        if successor.is_null() {
            let own = ptr::from_ref(node).cast_mut();
            if self
                .tail
                .compare_exchange(own, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                .is_ok()
            {
                return;
            }
            // A thread has swapped its node in and not linked it yet: the algorithm cannot combine
            // these two steps. If that thread is preempted between them, all wait.
            loop {
                successor = node.next.load(Ordering::Acquire);
                if !successor.is_null() {
                    break;
                }
                P::pause();
            }
        }
        // SAFETY: the successor waits for this store, so its node is still there. It may be gone
        // right after, and is not touched again.
        unsafe { &*successor }.waiting.store(0, Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        self.tail.load(Ordering::Relaxed).is_null()
    }
}
