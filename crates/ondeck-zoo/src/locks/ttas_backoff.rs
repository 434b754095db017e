//! Test and test-and-set with exponential backoff.
//!
//! Source: Thomas E. Anderson, "The Performance of Spin Lock Alternatives for Shared-Memory
//! Multiprocessors" (1990), and John M. Mellor-Crummey and Michael L. Scott, "Algorithms for Scalable
//! Synchronization on Shared-Memory Multiprocessors" (1991), algorithm 1.
//!
//! Teaches: the simplest remedy for a crowd at one cache line. A waiter that lost waits longer before its
//! next read, so fewer waiters read at once. But the thread that has just unlocked waits the least, and keeps
//! the lock.
//!
//! ```text
//! locked (u8): 0 unlocked · 1 locked
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   test-and-set that finds 0, after a load that finds 0
//! 1 → 1    a thread that locks   the same, if another thread locked after the load
//! 1 → 0    the owner             store
//!
//! A waiter repeats: 1, 2, 4, ... 1,024 pauses, then 1,024 each time; load; attempt if that found 0.
//! ```
//!
//! # Differences from the sources
//!
//! Anderson's delays are random within a limit that doubles. Here they are the limit itself, so that a run in
//! virtual time repeats exactly. Threads that began to wait at different times still read at different times.
//!
//! # Memory ordering
//!
//! The load is `Relaxed`: it decides only whether an attempt is worth the write. The test-and-set that
//! finds 0 is `Acquire` and pairs with the previous owner's `Release` store.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, RawLock};

/// The longest delay between two reads, in pauses: some ten microseconds where a pause is 40 cycles or more.
const MOST_PAUSES: u32 = 1_024;

/// Test and test-and-set with delays that double: see the [source file](self).
#[derive(Debug)]
pub struct TtasBackoff<P: Platform> {
    locked: P::AtomicU8,
}

impl<P: Platform> TtasBackoff<P> {
    /// Like [`RawLock::lock`], which needs no context here. Other locks contain this one.
    #[inline]
    pub(super) fn acquire(&self) {
        if !self.attempt() {
            self.acquire_slow();
        }
    }

    #[inline]
    pub(super) fn attempt(&self) -> bool {
        self.locked.load(Ordering::Relaxed) == 0
            && !P::test_and_set(&self.locked, Ordering::Acquire)
    }

    /// Unlocks, on the owner or on a thread to which the owner left the unlock.
    #[inline]
    pub(super) fn clear(&self) {
        self.locked.store(0, Ordering::Release);
    }

    #[cold]
    fn acquire_slow(&self) {
        let mut pauses = 1;
        loop {
            P::pause_times(pauses);
            if self.attempt() {
                return;
            }
            pauses = (pauses * 2).min(MOST_PAUSES);
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after its test-and-set found 0 and left 1,
// and only the owner stores 0 again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for TtasBackoff<P> {
        INFO: LockInfo {
            name: "ttas_backoff",
            source: "Anderson (1990); Mellor-Crummey and Scott (1991), algorithm 1",
            teaches: "Delays that double thin the crowd at one word, and favour the thread that just had it",
            ..LockInfo::USUAL
        },
        new: Self { locked: AtomicInt::new(0) },
        lock: |this, ()| this.acquire(),
        try_lock: |this, ()| this.attempt(),
        unlock: |this, ()| this.clear(),
        is_idle: |this| this.locked.load(Ordering::Relaxed) == 0,
    }
}
