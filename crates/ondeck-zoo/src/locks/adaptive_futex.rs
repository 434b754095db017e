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
//! word: as in `three_states.rs`
//! estimate (u32): turns that contended acquisitions took lately, a running mean over eight
//!
//! lock: 0 → 1; again in each of up to min(100, 2 × estimate + 10) turns of (pause, look, attempt);
//!       else marks and sleeps
//!       estimate += (turns - estimate) / 8, if the first attempt failed
//! ```
//!
//! The formula and its constants are glibc's. Newer versions of glibc pause longer from turn to
//! turn (exponential back-off, with jitter), which is left out here.
//!
//! # Memory ordering
//!
//! The word's is in `three_states.rs`. The estimate is `Relaxed`: all threads read it and the owner
//! writes it, and an old estimate is as good a guess as a new one.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::three_states::{ThreeStates, UNLOCKED};
use crate::{LockInfo, Origin, RawLock, Waiting};

/// No spin is longer: glibc's default for `glibc.pthread.mutex_spin_count`.
const MOST_TURNS: u32 = 100;
/// The number of turns by which a spin may exceed twice the estimate, so that an estimate of 0 can
/// grow.
const EXTRA_TURNS: u32 = 10;
/// The inverse of the weight of the newest count in the estimate.
const SMOOTHING: i32 = 8;

/// The turns that contended acquisitions took lately.
#[derive(Debug)]
pub(super) struct Estimate<P: Platform>(P::AtomicU32);

impl<P: Platform> Estimate<P> {
    pub(super) fn new() -> Self {
        Self(AtomicInt::new(0))
    }

    /// Calls `acquire` with the most turns that it may take, and learns how many it took.
    pub(super) fn learn(&self, acquire: impl FnOnce(u32) -> u32) {
        let estimate = self.0.load(Ordering::Relaxed);
        let turns = acquire(P::spins(MOST_TURNS.min(estimate * 2 + EXTRA_TURNS)));
        // Both are at most slightly above MOST_TURNS, and so is every value between them.
        let change = (turns.cast_signed() - estimate.cast_signed()) / SMOOTHING;
        self.0.store(estimate.wrapping_add_signed(change), Ordering::Relaxed);
    }
}

/// A three-state futex with a learnt spin: see the [source file](self).
#[derive(Debug)]
pub struct AdaptiveFutex<P: Platform> {
    word: ThreeStates<P>,
    estimate: Estimate<P>,
}

impl<P: Platform> AdaptiveFutex<P> {
    #[cold]
    fn lock_slow(&self) {
        self.estimate.learn(|most| {
            for turns in 1..=most {
                P::pause();
                if self.word.look() == UNLOCKED && self.word.acquire().is_ok() {
                    return turns;
                }
            }
            self.word.acquire_sleeping();
            most
        });
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
        new: Self { word: ThreeStates::new(), estimate: Estimate::new() },
        lock: |this, ()| if this.word.acquire().is_err() {
            this.lock_slow();
        },
        try_lock: |this, ()| this.word.acquire().is_ok(),
        unlock: |this, ()| this.word.unlock(),
        // Ignores the estimate, which the lock has learnt and keeps: it says nothing about threads.
        is_idle: |this| this.word.look() == UNLOCKED,
    }
}
