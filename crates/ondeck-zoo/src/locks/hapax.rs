//! Hapax locks: a queue made of numbers that are used once, without nodes and without pointers.
//!
//! Source: Dave Dice and Alex Kogan, "Hapax Locks: Scalable Value-Based Mutual Exclusion" (PPoPP 2026), the variant
//! with visible waiters.
//!
//! Teaches: a waiter needs to know its predecessor, and a number is enough for that. No thread keeps an address of
//! another's memory, so nothing has to be freed later or stay in place. The price is a place to wait that two threads
//! may happen to share.
//!
//! ```text
//! arrive = 7:1            depart = 4:0               slot = block % 64
//!
//! owner: 2:5      waiter: 3:9, polls slot 2 for 2:5 to go     waiter: 7:1, polls slot 3 for 3:9 to go
//!
//! A number, a hapax, is a block and a count. Each thread draws a block of 65,536 numbers when it has none left.
//!
//! change                  made by               operation
//! arrive    any → hapax   a thread that locks   swap: it finds its predecessor's. It owns the lock if `depart`
//!                                               is that one
//! depart    any → hapax   the owner             store of its own: the unlock, if no thread waits in its slot
//! slot      0 → hapax     a waiter              compare-exchange to its predecessor's: it is visible. If the
//!                                               slot is taken it polls `depart` instead
//!           hapax → 0     the owner             compare-exchange from its own: the handoff. `depart` stays
//!                         a waiter              the same, if it finds after all that `depart` is its
//!                                               predecessor's
//!
//! The lock is free if `arrive` and `depart` are equal.
//! ```
//!
//! # Differences from the source
//!
//! The source's slots and blocks are those of the whole process: 4,096 slots, chosen by the lock's address and the
//! block. A lock there has two words. Here each lock has 64 slots and draws blocks of its own, because a portable lock
//! has no statics: a model checker runs thousands of executions in one process. So the lock is 4 KiB large, and a
//! thread that goes from lock to lock draws a block each time. There are 2⁴⁸ of them.
//!
//! # Memory ordering
//!
//! The handoff is `depart`, stored with `Release` and read with `Acquire`, or the slot, cleared with `Release` and polled
//! with `Acquire`. A slot changes by read-modify-writes only, so the next waiter's does not hide that pair.
//! `arrive` passes nothing on.
//!
//! A waiter makes itself visible and then reads `depart`; the owner stores `depart` and then looks into the slot. Each
//! has a `SeqCst` fence between the two, so that not both miss the other. If both do see the other, the waiter
//! owns the lock, and the slot is cleared by one of them.

use std::array;
use std::cell::Cell;
use std::sync::atomic;

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// As many as there are CPUs in a larger machine; more threads than that do not poll at once.
const SLOTS: usize = 64;

/// A block has 2¹⁶ numbers.
const BLOCK_BITS: u32 = 16;

/// A queue of numbers: see the [source file](self).
#[derive(Debug)]
pub struct Hapax<P: Platform> {
    slots: [Slot<P>; SLOTS],
    arrive: P::AtomicUsize,
    depart: P::AtomicUsize,
    /// How many blocks threads have drawn.
    blocks: P::AtomicUsize,
    /// No other lock of the process has it: threads know by it which lock their numbers are for.
    identity: usize,
}

/// Where the thread behind an owner waits, on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Slot<P: Platform> {
    waits_for: P::AtomicUsize,
}

/// A thread's numbers.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The lock that they are for; 0 if there are none.
    identity: Cell<usize>,
    /// The one to use next.
    next: Cell<usize>,
    /// The one of the acquisition in progress.
    own: Cell<usize>,
}

/// Not the platform's: the numbers are only compared, and what a checker explores does not depend on them.
static IDENTITIES: atomic::AtomicUsize = atomic::AtomicUsize::new(1);

impl<P: Platform> Hapax<P> {
    /// A number that no other acquisition of this lock has; never 0.
    #[inline]
    fn draw(&self, numbers: &Numbers) -> usize {
        let in_block = (1 << BLOCK_BITS) - 1;
        let mut hapax = numbers.next.get();
        if numbers.identity.get() != self.identity || hapax & in_block == 0 {
            // Relaxed: an atomic addition is enough for no two threads to draw the same.
            hapax = (self.blocks.fetch_add(1, Ordering::Relaxed) + 1) << BLOCK_BITS;
            numbers.identity.set(self.identity);
        }
        numbers.next.set(hapax + 1);
        numbers.own.set(hapax);
        hapax
    }

    #[inline(always)]
    fn slot(&self, hapax: usize) -> &P::AtomicUsize {
        &self.slots[(hapax >> BLOCK_BITS) % SLOTS].waits_for
    }

    #[inline(always)]
    fn clear(slot: &P::AtomicUsize, hapax: usize) -> bool {
        slot.compare_exchange(hapax, 0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    fn has_departed(&self, hapax: usize) -> bool {
        self.depart.load(Ordering::Acquire) == hapax
    }

    /// Waits for the owner of the number `before`.
    #[cold]
    fn wait(&self, before: usize) {
        let slot = self.slot(before);
        if slot.compare_exchange(0, before, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            while !self.has_departed(before) {
                P::pause();
            }
            return;
        }
        // Pairs with the one of the unlock.
        P::fence(Ordering::SeqCst);
        if self.has_departed(before) {
            // If this fails, the unlock has found this thread, too.
            Self::clear(slot, before);
            return;
        }
        while slot.load(Ordering::Acquire) == before {
            P::pause();
        }
    }
}

// SAFETY: swaps of `arrive` put the threads in one order. A thread returns from `lock` when its predecessor
// stored its number in `depart`, or took it out of the slot, which it does once, at its unlock.
unsafe impl<P: Platform> RawLock<P> for Hapax<P> {
    const INFO: LockInfo = LockInfo {
        name: "hapax",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Fifo,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Generic,
        source: "Dice and Kogan, Hapax Locks: Scalable Value-Based Mutual Exclusion (2026)",
        teaches: "Numbers that are used once make a queue in which no thread has another's address",
    };

    type Context = Numbers;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self {
            slots: array::from_fn(|_| Slot { waits_for: AtomicInt::new(0) }),
            arrive: AtomicInt::new(0),
            depart: AtomicInt::new(0),
            blocks: AtomicInt::new(0),
            identity: IDENTITIES.fetch_add(1, atomic::Ordering::Relaxed),
        }
    }

    #[inline]
    unsafe fn lock(&self, numbers: &Numbers) {
        let before = self.arrive.swap(self.draw(numbers), Ordering::Relaxed);
        if !self.has_departed(before) {
            self.wait(before);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, numbers: &Numbers) -> bool {
        // Numbers do not come again: if `arrive` is still what departed, no thread came between.
        let departed = self.depart.load(Ordering::Acquire);
        self.arrive
            .compare_exchange(departed, self.draw(numbers), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, numbers: &Numbers) {
        let own = numbers.own.get();
        let slot = self.slot(own);
        if Self::clear(slot, own) {
            return;
        }
        self.depart.store(own, Ordering::Release);
        // Pairs with the one of `wait`.
        P::fence(Ordering::SeqCst);
        Self::clear(slot, own);
    }

    fn is_idle(&mut self) -> bool {
        self.arrive.load(Ordering::Relaxed) == self.depart.load(Ordering::Relaxed)
            && self.slots.iter().all(|slot| slot.waits_for.load(Ordering::Relaxed) == 0)
    }
}
