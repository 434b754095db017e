//! The spinlock that AMD recommends: test, then test-and-set, with a pause.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is"
//! (2020), `spinlock_amd`, after AMD's talk at the Game Developers Conference.
//!
//! Teaches: waiters that only read share the lock's cache line until the owner writes it. A lock
//! can spare the caches and still starve a thread for a whole time slice, because to the scheduler
//! a spinning waiter is as busy as the owner.
//!
//! ```text
//! locked (u8): 0 unlocked · 1 locked
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange, after a load that finds 0
//! 1 → 0    the owner             store
//! ```
//!
//! # Memory ordering
//!
//! The load is `Relaxed`: it decides only whether an attempt is worth the write. The
//! compare-exchange is `Acquire` and pairs with the previous owner's `Release` store.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock};

/// Test and compare-exchange with a pause: see the [source file](self).
#[derive(Debug)]
pub struct SpinlockAmd<P: Platform> {
    locked: P::AtomicU8,
}

// SAFETY, as a lock: a thread returns from `lock` only after its compare-exchange took 0 to 1, and
// only the owner stores 0 again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for SpinlockAmd<P> {
        INFO: LockInfo {
            name: "spinlock_amd",
            origin: Origin::Sources,
            source: "Malte Skarupke, Measuring Mutexes, spinlock_amd",
            teaches: "Reading before writing spares the caches but not the thread that is off its CPU",
            ..LockInfo::USUAL
        },
        new: Self { locked: AtomicInt::new(0) },
        lock: |this, ()| {
            loop {
                if this.locked.load(Ordering::Relaxed) == 0
                    && this
                        .locked
                        .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
                        .is_ok()
                {
                    return;
                }
                P::pause();
            }
        },
        try_lock: |this, ()| {
            this.locked.load(Ordering::Relaxed) == 0
                && this.locked.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
        },
        unlock: |this, ()| this.locked.store(0, Ordering::Release),
        is_idle: |this| this.locked.load(Ordering::Relaxed) == 0,
    }
}
