//! Skarupke's spinlock: test, then test-and-set, sixteen pauses, then a yield.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is"
//! (2020), `spinlock`.
//!
//! Teaches: the effect of a yield. In the source the longest wait fell from 62 ms to 11 ms. From
//! the yield on, the scheduler decides how long each thread waits, not the lock.
//!
//! ```text
//! locked (u8): 0 unlocked · 1 locked
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   test-and-set that finds 0, after a load that finds 0
//! 1 → 1    a thread that locks   the same, if another thread locked after the load
//! 1 → 0    the owner             store
//!
//! A waiter repeats: 16 × (pause, attempt), then yield, attempt.
//! ```
//!
//! # Differences from the source
//!
//! The source sets its count to 0 after a yield, and its `for` then adds one. So each of its rounds
//! but the first has fifteen pauses. Here each round has sixteen.
//!
//! # Memory ordering
//!
//! The load is `Relaxed`: it decides only whether an attempt is worth the write. The test-and-set
//! is `Acquire` and pairs with the previous owner's `Release` store. A test-and-set that finds 1
//! writes the 1 again, which changes nothing.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, Waiting};

/// Pauses between two yields: the source tried many and kept this one.
const PAUSES_PER_YIELD: u32 = 16;

/// Attempts, with pauses and yields, until one succeeds.
#[cold]
pub(crate) fn spin_until<P: Platform>(attempt: impl Fn() -> bool) {
    loop {
        for _ in 0..P::spins(PAUSES_PER_YIELD) {
            P::pause();
            if attempt() {
                return;
            }
        }
        P::yield_now();
        if attempt() {
            return;
        }
    }
}

/// Test and test-and-set with yields: see the [source file](self).
#[derive(Debug)]
pub struct Spinlock<P: Platform> {
    locked: P::AtomicU8,
}

impl<P: Platform> Spinlock<P> {
    #[inline(always)]
    fn acquire(&self) -> bool {
        self.locked.load(Ordering::Relaxed) == 0
            && !P::test_and_set(&self.locked, Ordering::Acquire)
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after its test-and-set found 0 and left 1,
// and only the owner stores 0 again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for Spinlock<P> {
        INFO: LockInfo {
            name: "spinlock",
            origin: Origin::Sources,
            waiting: Waiting::Yields,
            source: "Malte Skarupke, Measuring Mutexes, spinlock",
            teaches: "A yield now and then lets the owner run, as far as the scheduler obliges",
            ..LockInfo::USUAL
        },
        new: Self { locked: AtomicInt::new(0) },
        lock: |this, ()| if !this.acquire() {
            spin_until::<P>(|| this.acquire());
        },
        try_lock: |this, ()| this.acquire(),
        unlock: |this, ()| this.locked.store(0, Ordering::Release),
        is_idle: |this| this.locked.load(Ordering::Relaxed) == 0,
    }
}
