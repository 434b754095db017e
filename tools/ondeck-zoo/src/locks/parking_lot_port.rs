//! parking_lot's mutex up to 0.12: one byte, a short spin with yields, and a queue outside the lock
//! that hands off now and then.
//!
//! Source: Amanieu d'Antras, the crates `parking_lot` 0.12, `raw_mutex.rs`, and `parking_lot_core`
//! 0.9, `parking_lot.rs` and `spinwait.rs`, after WebKit's `WTF::Lock` (Filip Pizlo, "Locking in
//! WebKit", 2016). The peer `parking_lot` is 0.13, another mutex.
//!
//! Teaches: a lock can be a byte if its queue is elsewhere, and barge without starving a thread if
//! an unlock every millisecond or so is a handoff. Sleeping, and waking another thread, cost the
//! queue's own lock.
//!
//! ```text
//! state (u8)   bit 0  locked
//!              bit 1  a thread is in the queue, or is about to be
//!
//! change              made by               operation
//! bit 0 is set        a thread that locks   compare-exchange that finds it clear, whatever bit 1 is
//! bit 1 is set        a waiter              compare-exchange that finds bit 0 set
//! 1 → 0               the owner             compare-exchange; it fails if bit 1 is set
//! 3 → 2, or → 0       the owner             store, under the bucket's lock; it wakes the first thread
//! 3 → 3, or → 1       the owner             the same as a handoff
//! bit 1 stays set if another thread is in the queue
//!
//! A waiter: 2, 4, 8 pauses and 7 yields, a look after each, while no thread is in the queue;
//!           sets bit 1; under the bucket's lock links its node if the state is 3; sleeps.
//! ```
//!
//! A handoff is due when the bucket's time for it has come; the next one is due a random time
//! later, up to a millisecond.
//!
//! # Differences from the source
//!
//! In the source the buckets form a table that all locks share. Here each lock has its own bucket,
//! in memory next to it. So two locks never share a bucket, no lock's queue is searched for the
//! threads of another, and the hash of the address is not computed. The other costs are the same: a
//! line for the bucket, with its lock, the ends of the queue and the time; a line for each thread.
//! But the bucket ends with the lock, and the unlock unlocks the bucket last: it touches memory of
//! the lock after another thread can own it.
//!
//! The first unlock that finds a thread is a handoff, as in the source, whose table initializes its
//! times so.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` exchange or store that cleared bit 0. A
//! handoff goes through the node: the unlock chooses it with `Release`, and its thread reads that
//! with `Acquire`. The queue is only used under the bucket's lock, so its words are `Relaxed`. A
//! waiter links itself only if it reads the state 3 under that lock, and the owner stores another
//! state also under it: so no wake is lost.

use std::marker::PhantomData;
use std::{fmt, ptr};

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering, Platform};

use super::word_lock::WordLock;
use crate::parker::Parker;
use crate::spin_wait::SpinWait;
use crate::{Fairness, LockInfo, RawLock, Waiting};

const LOCKED: u8 = 1;
const PARKED: u8 = 2;

/// The longest time in nanoseconds until the next handoff is due.
const LONGEST_UNFAIR: u32 = 1_000_000;

/// parking_lot's mutex of 0.12: see the [source file](self) for its states.
pub struct ParkingLotPort<P: Platform> {
    state: P::AtomicU8,
    bucket: Box<Bucket<P>>,
}

impl<P: Platform> fmt::Debug for ParkingLotPort<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkingLotPort").field("state", &self.state).finish_non_exhaustive()
    }
}

/// The queue, on its own cache line.
#[repr(align(64))]
struct Bucket<P: Platform> {
    lock: WordLock<P>,
    first: P::AtomicPtr<Node<P>>,
    last: P::AtomicPtr<Node<P>>,
    /// The time at which a handoff is due, in nanoseconds of the platform's clock.
    fair_at: P::AtomicUsize,
    random: P::AtomicU32,
}

/// A thread that waits, or has waited: parking_lot's `ThreadData`.
#[derive(Debug)]
#[repr(align(64))]
pub struct Node<P: Platform> {
    parker: Parker<P>,
    next: P::AtomicPtr<Node<P>>,
    /// Whether the unlock that chose this node's thread has handed it the lock.
    handed: P::AtomicU8,
}

impl<P: Platform> Default for Node<P> {
    fn default() -> Self {
        let next = AtomicPointer::new(ptr::null_mut());
        Self { parker: Parker::default(), next, handed: AtomicInt::new(0) }
    }
}

/// A guard of the bucket's lock.
struct Held<'a, P: Platform>(&'a Bucket<P>, PhantomData<P>);

impl<P: Platform> Drop for Held<'_, P> {
    fn drop(&mut self) {
        // SAFETY: made once, where the lock was taken. No context is needed.
        unsafe { RawLock::unlock(&self.0.lock, &()) };
    }
}

impl<P: Platform> Bucket<P> {
    fn new() -> Self {
        let none = || AtomicPointer::new(ptr::null_mut());
        let (fair_at, random) = (AtomicInt::new(0), AtomicInt::new(1));
        Self { lock: RawLock::new(), first: none(), last: none(), fair_at, random }
    }

    fn held(&self) -> Held<'_, P> {
        // SAFETY: no context is needed, and a thread holds a bucket's lock for a few steps only.
        unsafe { RawLock::lock(&self.lock, &()) };
        Held(self, PhantomData)
    }
}

impl<P: Platform> Held<'_, P> {
    fn append(&self, node: &Node<P>) {
        let own = ptr::from_ref(node).cast_mut();
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        let last = self.0.last.load(Ordering::Relaxed);
        if last.is_null() {
            self.0.first.store(own, Ordering::Relaxed);
        } else {
            // SAFETY: its thread sleeps until it is taken out, which takes the bucket's lock.
            unsafe { &*last }.next.store(own, Ordering::Relaxed);
        }
        self.0.last.store(own, Ordering::Relaxed);
    }

    /// Takes the first node out; also returns whether another is left.
    fn take(&self) -> Option<(*mut Node<P>, bool)> {
        let first = self.0.first.load(Ordering::Relaxed);
        if first.is_null() {
            return None;
        }
        // SAFETY: its thread sleeps until the taker chooses it.
        let next = unsafe { &*first }.next.load(Ordering::Relaxed);
        self.0.first.store(next, Ordering::Relaxed);
        if next.is_null() {
            self.0.last.store(next, Ordering::Relaxed);
        }
        Some((first, !next.is_null()))
    }

    /// Whether a handoff is due; if so, sets the time for the next.
    fn is_fair(&self) -> bool {
        let now = P::now().as_nanos() as usize;
        if now < self.0.fair_at.load(Ordering::Relaxed) {
            return false;
        }
        let mut random = self.0.random.load(Ordering::Relaxed);
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.0.random.store(random, Ordering::Relaxed);
        self.0.fair_at.store(now + (random % LONGEST_UNFAIR) as usize, Ordering::Relaxed);
        true
    }
}

impl<P: Platform> ParkingLotPort<P> {
    #[inline]
    fn replace(&self, from: u8, to: u8, success: Ordering) -> Result<u8, u8> {
        self.state.compare_exchange_weak(from, to, success, Ordering::Relaxed)
    }

    #[cold]
    fn lock_slow(&self, node: &Node<P>) {
        let mut spin = SpinWait::new();
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            if state & LOCKED == 0 {
                match self.replace(state, state | LOCKED, Ordering::Acquire) {
                    Ok(_) => return,
                    Err(found) => state = found,
                }
                continue;
            }
            if state & PARKED == 0 {
                if spin.spin::<P>() {
                    state = self.state.load(Ordering::Relaxed);
                    continue;
                }
                if let Err(found) = self.replace(state, state | PARKED, Ordering::Relaxed) {
                    state = found;
                    continue;
                }
            }
            if self.park(node) {
                return;
            }
            spin = SpinWait::new();
            state = self.state.load(Ordering::Relaxed);
        }
    }

    /// Sleeps in the queue, unless the state changes before. Returns whether the unlock that chose
    /// the calling thread has handed it the lock.
    fn park(&self, node: &Node<P>) -> bool {
        let may_park = || self.state.load(Ordering::Relaxed) == LOCKED | PARKED;
        let queue = self.bucket.held();
        if !may_park() {
            return false;
        }
        node.handed.store(0, Ordering::Relaxed);
        node.parker.prepare();
        queue.append(node);
        drop(queue);
        node.parker.park();
        node.handed.load(Ordering::Relaxed) != 0
    }

    #[cold]
    fn unlock_slow(&self) {
        let queue = self.bucket.held();
        let Some((node, more)) = queue.take() else {
            // The thread that set the bit has not linked its node, and will find another state.
            self.state.store(0, Ordering::Release);
            return;
        };
        if queue.is_fair() {
            if !more {
                self.state.store(LOCKED, Ordering::Relaxed);
            }
            // SAFETY: its thread sleeps until it is chosen below.
            unsafe { &*node }.handed.store(1, Ordering::Relaxed);
        } else {
            self.state.store(if more { PARKED } else { 0 }, Ordering::Release);
        }
        // SAFETY: it was taken out of the queue, so no other thread wakes its thread.
        let address = unsafe { Parker::choose(&raw const (*node).parker) };
        drop(queue);
        P::futex_wake(address, 1);
    }
}

// SAFETY, as a lock: a thread returns from `lock` after an exchange that found bit 0 clear and set
// it, or if it received the lock by a handoff. The owner clears the bit, or hands off to the one
// thread that it has taken out of the queue.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for ParkingLotPort<P> {
        INFO: LockInfo {
            name: "parking_lot_port",
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            touches_after_release: true,
            source: "Amanieu d'Antras, parking_lot 0.12; Filip Pizlo, Locking in WebKit",
            teaches: "A queue beside a lock of one byte, and a handoff now and then against starvation",
            ..LockInfo::USUAL
        },
        Context: Node<P>,
        new: Self { state: AtomicInt::new(0), bucket: Box::new(Bucket::new()) },
        lock: |this, node| if this.replace(0, LOCKED, Ordering::Acquire).is_err() {
            this.lock_slow(node);
        },
        try_lock: |this, _| {
            let mut state = this.state.load(Ordering::Relaxed);
            while state & LOCKED == 0 {
                match this.replace(state, state | LOCKED, Ordering::Acquire) {
                    Ok(_) => return true,
                    Err(found) => state = found,
                }
            }
            false
        },
        unlock: |this, _| {
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if this.state.compare_exchange(LOCKED, 0, release, relaxed).is_err() {
                this.unlock_slow();
            }
        },
        is_idle: |this| {
            let Bucket { lock, first, .. } = &mut *this.bucket;
            this.state.load(Ordering::Relaxed) == 0
                && first.load(Ordering::Relaxed).is_null()
                && lock.is_idle()
        },
    }
}
