//! MCS-TP: MCS whose waiters publish the time, so that an unlock passes over threads that have lost their CPU.
//!
//! Source: Bijun He, William N. Scherer III and Michael L. Scott, "Preemption Adaptivity in Time-Published
//! Queue-Based Spin Locks" (HiPC 2005), MCS-TP.
//!
//! Teaches: a thread can detect another's preemption without the kernel. A running waiter repeatedly stores the time
//! in its node, so an old time means that its thread is off its CPU. Such a waiter loses its place. The price is a
//! clock read and a store in each turn, and no waiter ever sleeps.
//!
//! ```text
//! lock.tail ─────────────────────────────────────────────────┐
//! lock.section_begin: when the owner locked                  ▼
//! [owner] ─next─► [WAITING, time old] ─next─► [WAITING, time current] ─next─► null
//!                   │ unlock: FAILED             │ unlock: AVAILABLE
//!                   └► joins the queue again     └► owns the lock
//!
//! status  0 WAITING          a thread that locks   store, before its node can be found
//!         0 → 1 AVAILABLE    the owner             store: the handoff
//!         0 → 2 FAILED       the owner             store: it was passed over, and its node is free again
//! time                       its thread            store, in each turn of its wait
//! tail, next                 as in `mcs.rs`; if all waiters are passed over, tail becomes null
//!
//! A waiter yields instead of a pause if the owner has had the lock for more than 10 µs: it may be the owner that is
//! off its CPU.
//! ```
//!
//! A thread that was passed over may rejoin the queue while the same unlock still walks it, and be passed over
//! again. To bound this, an unlock that has passed over 16,000 threads fails further ones only at its end: until
//! then these cannot rejoin the queue.
//!
//! # Differences from the source
//!
//! The source's lock also gives up at a deadline, which is left out here, and so is its state `timed_out`. Without
//! it only the owner changes a waiter's status, by stores. The source tunes the age at which a time counts as old to
//! its machine; here it is 2 µs, several times the transfer of a line between two sockets.
//!
//! # Memory ordering
//!
//! `tail` and `next` have the orderings of MCS. `status` is stored with `Release` and polled with `Acquire`: with
//! `AVAILABLE` this pair is the handoff. With `FAILED` it makes the owner's last access to the node happen before
//! its thread reuses it. The times are `Relaxed`: they are guesses, and no safety depends on them.

use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use crate::queue::Tail;
use crate::{LockInfo, RawLock, Waiting};

const WAITING: u32 = 0;
const AVAILABLE: u32 = 1;
const FAILED: u32 = 2;

/// The age from which on a published time means that its thread does not run.
const OLD_NANOS: u32 = 2_000;
/// An owner that has had the lock for longer may have lost its CPU: `MAX_CS_TIME` of the source.
const LONG_SECTION_NANOS: u32 = 10_000;
/// The number of passed-over nodes that an unlock fails at once: `MAX_THREADS` of the source.
const MOST_TOLD_AT_ONCE: u32 = 16_000;

/// MCS with published times: see the [source file](self).
#[derive(Debug)]
pub struct McsTp<P: Platform> {
    queue: Tail<P, Node<P>>,
    /// In ticks.
    section_begin: P::AtomicUsize,
}

/// One thread's place in the queue, on its own cache line because its thread polls it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    next: P::AtomicPtr<Node<P>>,
    /// When its thread last ran, in ticks.
    time: P::AtomicUsize,
    status: P::AtomicU32,
}

queue_node!(Node { time: AtomicInt::new(0), status: AtomicInt::new(WAITING) }, prepare: |node| {
    node.time.store(now::<P>(), Ordering::Relaxed);
    node.status.store(WAITING, Ordering::Relaxed);
});

fn now<P: Platform>() -> usize {
    P::ticks() as usize
}

/// Whether `time` is more than `nanos` ago. Clocks of two CPUs may differ: a future time is not.
fn is_before<P: Platform>(time: usize, nanos: u32) -> bool {
    let ago = now::<P>().wrapping_sub(time).cast_signed();
    ago > P::ticks_in(nanos).cast_signed()
}

impl<P: Platform> Node<P> {
    /// Fails the nodes from `first` to the one before `end`, which were passed over.
    ///
    /// # Safety
    ///
    /// The nodes are linked in this order, the caller took them out of the queue, and they have not been failed yet.
    unsafe fn fail(mut first: *mut Self, end: *mut Self) {
        while first != end {
            // SAFETY: its thread waits until the status changes, which the store does; `next` is read before.
            let node = unsafe { &*first };
            first = node.next.load(Ordering::Acquire);
            node.status.store(FAILED, Ordering::Release);
        }
    }
}

impl<P: Platform> McsTp<P> {
    /// Waits in the queue; returns false if the thread was passed over.
    fn wait(&self, node: &Node<P>) -> bool {
        loop {
            match node.status.load(Ordering::Acquire) {
                WAITING => {}
                status => return status == AVAILABLE,
            }
            node.time.store(now::<P>(), Ordering::Relaxed);
            if is_before::<P>(self.section_begin.load(Ordering::Relaxed), LONG_SECTION_NANOS) {
                P::yield_now();
            } else {
                P::pause();
            }
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` when its node was first in the queue, or when the owner made
// it available. An owner makes one node available, or makes the tail null.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for McsTp<P> {
        INFO: LockInfo {
            name: "mcs_tp",
            waiting: Waiting::Yields,
            source: "He, Scherer and Scott, Preemption Adaptivity in Time-Published Locks (2005)",
            teaches: "Waiters publish the time: an unlock passes over those that do not run",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self { queue: Tail::new(), section_begin: AtomicInt::new(0) },
        lock: |this, node| {
            // A predecessor's node stays until it has seen the link: no owner changes its status before.
            while this.queue.enter(node) && !this.wait(node) {}
            this.section_begin.store(now::<P>(), Ordering::Relaxed);
        },
        try_lock: |this, node| {
            let locked = this.queue.try_enter(node);
            if locked {
                this.section_begin.store(now::<P>(), Ordering::Relaxed);
            }
            locked
        },
        unlock: |this, node| {
            let mut current = ptr::from_ref(node).cast_mut();
            // The first node that was passed over and not failed yet; the nodes up to `current` are linked after it.
            let mut untold: *mut Node<P> = ptr::null_mut();
            let mut passed = 0;
            loop {
                // SAFETY: the caller's node, or one whose thread waits for its status.
                let next = this.queue.leave(unsafe { &*current });
                // SAFETY: null, or a node whose thread waits for its status.
                let Some(waiter) = (unsafe { next.as_ref() }) else { break };
                if !is_before::<P>(waiter.time.load(Ordering::Relaxed), OLD_NANOS) {
                    waiter.status.store(AVAILABLE, Ordering::Release);
                    if !untold.is_null() {
                        // SAFETY: linked up to `next`, of which only the address is used.
                        unsafe { Node::fail(untold, next) };
                    }
                    return;
                }
                passed += 1;
                if untold.is_null() {
                    untold = next;
                } else if passed <= P::spins(MOST_TOLD_AT_ONCE) + 1 {
                    // SAFETY: as above.
                    unsafe { Node::fail(untold, next) };
                    untold = next;
                }
                current = next;
            }
            // SAFETY: linked up to the last node of the queue, whose `next` is null.
            unsafe { Node::fail(untold, ptr::null_mut()) };
        },
        is_idle: |this| this.queue.is_empty(),
    }
}
