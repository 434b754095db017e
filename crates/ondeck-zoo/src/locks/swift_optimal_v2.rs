//! Swift's "Optimal", second version: polls at long, irregular intervals, and no polls at all where
//! several threads sleep.
//!
//! Source: Sarunas (Ordo One), Swift pull request 88523, "Synchronization: Adaptive spinning on
//! Linux" (2026); `OptimalMutex` of synchronization-benchmarks from 2026-04-19.
//!
//! Teaches: on many CPUs the polls of waiters cost the owner more than their sleep costs them. Most
//! waiters stay off the lock's cache line if polls are few, far apart and out of step, and if
//! waiters check the length of the queue.
//!
//! ```text
//! word: as in `three_states.rs`. A thread that locks tries 0 → 1; again in each of 20 polls that reads a 0
//! sleeping (u32): threads that have slept and do not own the lock yet. A waiter adds 1 before it sleeps for
//!                 the first time, and subtracts 1 when it owns the lock
//! ```
//!
//! Between two polls a thread pauses for 64 to 127 PAUSEs, by the low bits of the tick counter,
//! read once for each contended acquisition. A poll that reads a 2 is the last: an unlock is about
//! to wake a thread, which must not be passed over. If the word is 2 and four threads sleep, a
//! thread that arrives does not poll. A thread that has slept does not poll again.
//!
//! The source has no `try_lock`; the one here is its first attempt.
//!
//! # Memory ordering
//!
//! The word's is in `three_states.rs`: a poll is a look. The count is a hint and also `Relaxed`; the
//! source reads it with `Acquire`, which adds nothing.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::three_states::{CONTENDED, ThreeStates, UNLOCKED};
use crate::{LockInfo, RawLock, Waiting};

/// Polls before a thread sleeps.
const POLLS: u32 = 20;
/// PAUSEs between two polls: the minimum, and the range of the random rest.
const SHORTEST_PAUSE: u32 = 64;
const JITTER: u32 = 64;
/// The number of sleeping threads at which a thread does not poll.
const ENOUGH_SLEEPING: u32 = 4;

/// Swift's "Optimal" as merged: see the [source file](self) for its states.
#[derive(Debug)]
pub struct SwiftOptimalV2<P: Platform> {
    word: ThreeStates<P>,
    sleeping: P::AtomicU32,
}

impl<P: Platform> SwiftOptimalV2<P> {
    #[cold]
    fn lock_slow(&self) {
        let is_queued = self.word.look() == CONTENDED
            && self.sleeping.load(Ordering::Relaxed) >= ENOUGH_SLEEPING;
        if is_queued || !self.poll() {
            self.lock_sleeping();
        }
    }

    /// Polls; returns whether this thread has acquired the lock.
    fn poll(&self) -> bool {
        let pauses = SHORTEST_PAUSE + P::ticks() as u32 % JITTER;
        for _ in 0..P::spins(POLLS) {
            match self.word.look() {
                UNLOCKED if self.word.acquire().is_ok() => return true,
                CONTENDED => return false,
                _ => P::pause_times(pauses),
            }
        }
        false
    }

    fn lock_sleeping(&self) {
        if self.word.mark() {
            return;
        }
        self.sleeping.fetch_add(1, Ordering::Relaxed);
        self.word.sleep();
        self.word.acquire_sleeping();
        self.sleeping.fetch_sub(1, Ordering::Relaxed);
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to
// another value by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for SwiftOptimalV2<P> {
        INFO: LockInfo {
            name: "swift_optimal_v2",
            waiting: Waiting::SpinsThenSleeps,
            source: "Ordo One, Swift pull request 88523; synchronization-benchmarks, OptimalMutex",
            teaches: "Few polls, far apart, and none where threads sleep, spare the owner's cache line",
            ..LockInfo::USUAL
        },
        new: Self { word: ThreeStates::new(), sleeping: AtomicInt::new(0) },
        lock: |this, ()| if this.word.acquire().is_err() {
            this.lock_slow();
        },
        try_lock: |this, ()| this.word.acquire().is_ok(),
        unlock: |this, ()| this.word.unlock(),
        is_idle: |this| {
            this.word.look() == UNLOCKED && this.sleeping.load(Ordering::Relaxed) == 0
        },
    }
}
