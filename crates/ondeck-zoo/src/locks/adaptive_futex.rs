//! The adaptive mutex: three states on a futex, and a spin whose length the lock learns.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is"
//! (2020), the discussion of adaptive mutexes ("How do adaptive mutexes perform?") and its
//! comments; the estimate is the one of glibc's `PTHREAD_MUTEX_ADAPTIVE_NP`.
//!
//! Teaches: a lock can remember how long its waits are, and spin for about twice that. But it
//! remembers turns of a loop. On another machine, where a PAUSE is a hundred times longer, the same
//! turns take another time.
//!
//! ```text
//! word (u32), the futex: 0 unlocked · 1 locked, no thread sleeps · 2 locked, a thread may sleep
//! estimate (u32): turns that contended acquisitions took lately, a running mean over eight
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange; again in each of up to
//!                                min(100, 2 × estimate + 10) turns of (pause, load, attempt)
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it sleeps while the word is 2
//! 1 → 0    the owner             swap for 0
//! 2 → 0    the owner             swap for 0; then it wakes one thread
//!
//! After each contended acquisition: estimate += (turns - estimate) / 8
//! ```
//!
//! The formula and its constants are glibc's. Newer versions of glibc pause longer from turn to
//! turn (exponential back-off, with jitter), which is left out here.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` swap for 0. The estimate is `Relaxed`:
//! all threads read it and the owner writes it, and an old estimate is as good a guess as a new
//! one.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;

/// No spin is longer: glibc's default for `glibc.pthread.mutex_spin_count`.
const MOST_TURNS: u32 = 100;
/// The number of turns by which a spin may exceed twice the estimate, so that an estimate of 0 can
/// grow.
const EXTRA_TURNS: u32 = 10;
/// The inverse of the weight of the newest count in the estimate.
const SMOOTHING: i32 = 8;

/// A three-state futex with a learnt spin: see the [source file](self).
#[derive(Debug)]
pub struct AdaptiveFutex<P: Platform> {
    word: P::AtomicU32,
    estimate: P::AtomicU32,
}

impl<P: Platform> AdaptiveFutex<P> {
    #[inline(always)]
    fn acquire(&self) -> bool {
        self.word.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        let estimate = self.estimate.load(Ordering::Relaxed);
        let most = P::spins(MOST_TURNS.min(estimate * 2 + EXTRA_TURNS));
        let mut turns = 0;
        loop {
            if turns == most {
                self.lock_sleeping();
                break;
            }
            turns += 1;
            P::pause();
            if self.word.load(Ordering::Relaxed) == UNLOCKED && self.acquire() {
                break;
            }
        }
        // Both are at most MOST_TURNS, and so is every value between them.
        let change = (turns.cast_signed() - estimate.cast_signed()) / SMOOTHING;
        self.estimate.store(estimate.wrapping_add_signed(change), Ordering::Relaxed);
    }

    fn lock_sleeping(&self) {
        while self.word.swap(CONTENDED, Ordering::Acquire) != UNLOCKED {
            // Every result means the same: the word may have changed, retry.
            let _ = P::futex_wait(&self.word, CONTENDED, None);
        }
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to
// another value by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for AdaptiveFutex<P> {
        INFO: LockInfo {
            name: "adaptive_futex",
            origin: Origin::Sources,
            waiting: Waiting::SpinsThenSleeps,
            source: "Malte Skarupke, Measuring Mutexes, adaptive mutexes; glibc's adaptive mutex",
            teaches: "A lock can learn how long to spin, but learns it in turns and not in time",
            ..LockInfo::USUAL
        },
        new: Self { word: AtomicInt::new(UNLOCKED), estimate: AtomicInt::new(0) },
        lock: |this, ()| if !this.acquire() {
            this.lock_slow();
        },
        try_lock: |this, ()| this.acquire(),
        unlock: |this, ()| {
            let address = &raw const this.word;
            if this.word.swap(UNLOCKED, Ordering::Release) == CONTENDED {
                P::futex_wake(address, 1);
            }
        },
        // Ignores the estimate, which the lock has learnt and keeps: it says nothing about threads.
        is_idle: |this| this.word.load(Ordering::Relaxed) == UNLOCKED,
    }
}
