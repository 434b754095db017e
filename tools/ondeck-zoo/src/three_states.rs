//! The word of a futex mutex of three states: what the locks of that kind do alike.
//!
//! ```text
//! word (u32), the futex: 0 unlocked · 1 locked, no thread sleeps · 2 locked, a thread may sleep
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it sleeps while the word is 2
//! 1 → 0    the owner             swap for 0
//! 2 → 0    the owner             swap for 0; then it wakes one thread
//! ```
//!
//! The file of a lock says when its waiters look at the word, when they try and when they sleep.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` swap for 0. A look is `Relaxed`, because
//! it only decides whether an attempt is worth the write. After the swap for 0 the unlock uses only
//! the word's address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

pub(crate) const UNLOCKED: u32 = 0;
pub(crate) const LOCKED: u32 = 1;
pub(crate) const CONTENDED: u32 = 2;

/// The word. Locks that change it in other ways use it directly.
#[derive(Debug)]
pub(crate) struct ThreeStates<P: Platform>(pub(crate) P::AtomicU32);

impl<P: Platform> ThreeStates<P> {
    pub(crate) fn new() -> Self {
        Self(AtomicInt::new(UNLOCKED))
    }

    pub(crate) fn look(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// 0 → 1; fails with the value that it found.
    #[inline(always)]
    pub(crate) fn acquire(&self) -> Result<u32, u32> {
        self.0.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed)
    }

    /// Swaps for 2; returns whether this thread owns the lock now.
    pub(crate) fn mark(&self) -> bool {
        self.0.swap(CONTENDED, Ordering::Acquire) == UNLOCKED
    }

    /// Sleeps while the word is 2, or for a shorter time: the caller looks or marks again.
    pub(crate) fn sleep(&self) {
        // Every result means the same: the word may have changed.
        let _ = P::futex_wait(&self.0, CONTENDED, None);
    }

    /// Marks and sleeps until this thread owns the lock.
    pub(crate) fn acquire_sleeping(&self) {
        while !self.mark() {
            self.sleep();
        }
    }

    #[inline(always)]
    pub(crate) fn unlock(&self) {
        let address = &raw const self.0;
        if self.0.swap(UNLOCKED, Ordering::Release) == CONTENDED {
            P::futex_wake(address, 1);
        }
    }
}
