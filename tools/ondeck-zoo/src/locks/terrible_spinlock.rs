//! The terrible spinlock: a test-and-set in a loop, and nothing else.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is"
//! (2020), `terrible_spinlock`.
//!
//! Teaches: the flaw that later spinlocks repair. Each attempt of each waiter writes, so the lock's
//! cache line moves from core to core, and the owner's unlocking store waits for the line. Threads
//! that use other lines also slow down.
//!
//! ```text
//! locked (u8): 0 unlocked · 1 locked
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   test-and-set that finds 0
//! 1 → 1    a waiter              test-and-set that finds 1: the value stays, the line moves
//! 1 → 0    the owner             store
//! ```
//!
//! The source's loop has an empty body, without a PAUSE and without a yield. Here the body is
//! [`Platform::spin_again`], which does nothing on a machine and lets a model checker run another
//! thread.
//!
//! # Memory ordering
//!
//! The test-and-set that finds 0 is `Acquire` and pairs with the previous owner's `Release` store.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock};

/// Test-and-set without a pause: see the [source file](self).
#[derive(Debug)]
pub struct TerribleSpinlock<P: Platform> {
    locked: P::AtomicU8,
}

// SAFETY, as a lock: a thread returns from `lock` only after its test-and-set found 0 and left 1,
// and only the owner stores 0 again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for TerribleSpinlock<P> {
        INFO: LockInfo {
            name: "terrible_spinlock",
            origin: Origin::Sources,
            source: "Malte Skarupke, Measuring Mutexes, terrible_spinlock",
            teaches: "Waiters that write fight the owner for its line, and slow down unrelated code",
            ..LockInfo::USUAL
        },
        new: Self { locked: AtomicInt::new(0) },
        lock: |this, ()| while P::test_and_set(&this.locked, Ordering::Acquire) {
            P::spin_again();
        },
        try_lock: |this, ()| !P::test_and_set(&this.locked, Ordering::Acquire),
        unlock: |this, ()| this.locked.store(0, Ordering::Release),
        is_idle: |this| this.locked.load(Ordering::Relaxed) == 0,
    }
}
