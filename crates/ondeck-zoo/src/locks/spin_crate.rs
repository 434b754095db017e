//! The mutex of the crate spin: an attempt at once, then reads with a pause.
//!
//! Source: Mathijs van de Nes, John Ericson and others, the crate `spin`, `mutex/spin.rs`. The peer
//! `spin` is the crate's own.
//!
//! Teaches: the first operation on a lock may be the one that locks. If the lock is free but on
//! another CPU's cache line, that is one transfer where a read first makes it two (`spinlock_amd`).
//!
//! ```text
//! locked (u8): 0 unlocked · 1 locked
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange; again after each read that finds 0
//! 1 → 0    the owner             store
//! ```
//!
//! # Memory ordering
//!
//! The compare-exchange is `Acquire` and pairs with the previous owner's `Release` store. The reads
//! are `Relaxed`.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// The crate spin's mutex: see the [source file](self).
#[derive(Debug)]
pub struct SpinCrate<P: Platform> {
    locked: P::AtomicU8,
}

// SAFETY: a thread returns from `lock` only after its exchange found 0 and left 1, and only the owner
// stores 0 again.
unsafe impl<P: Platform> RawLock<P> for SpinCrate<P> {
    const INFO: LockInfo = LockInfo {
        name: "spin_crate",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "The crate spin, mutex/spin.rs",
        teaches: "An attempt before the first read spares a free lock's line a second transfer",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { locked: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        while self.locked.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            while self.locked.load(Ordering::Relaxed) != 0 {
                P::pause();
            }
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.locked.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        self.locked.store(0, Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        self.locked.load(Ordering::Relaxed) == 0
    }
}
