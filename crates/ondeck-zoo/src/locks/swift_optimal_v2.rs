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
//! word (u32), the futex: 0 unlocked · 1 locked, no thread sleeps · 2 locked, a thread may sleep
//! sleeping (u32)         threads that have slept and do not own the lock yet
//!
//! change    made by               operation
//! 0 → 1     a thread that locks   compare-exchange; again in each of 20 polls that reads a 0
//! 0 → 2     a waiter              swap for 2: it owns the lock
//! 1 → 2     a waiter              swap for 2: it sleeps while the word is 2
//! 1 → 0     the owner             swap for 0
//! 2 → 0     the owner             swap for 0; then it wakes one thread
//! sleeping  a waiter              adds 1 before it sleeps for the first time,
//!                                 subtracts 1 when it owns the lock
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
//! Acquisitions are `Acquire` and pair with the `Release` swap for 0. A poll is `Relaxed`, because
//! it only decides whether an attempt is worth the write. The count is a hint and also `Relaxed`;
//! the source reads it with `Acquire`, which adds nothing. After the swap the unlock uses only the
//! word's address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;

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
    word: P::AtomicU32,
    sleeping: P::AtomicU32,
}

impl<P: Platform> SwiftOptimalV2<P> {
    #[inline(always)]
    fn acquire(&self) -> bool {
        self.word.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        let is_queued = self.word.load(Ordering::Relaxed) == CONTENDED
            && self.sleeping.load(Ordering::Relaxed) >= ENOUGH_SLEEPING;
        if is_queued || !self.poll() {
            self.lock_sleeping();
        }
    }

    /// Polls; returns whether this thread has acquired the lock.
    fn poll(&self) -> bool {
        let pauses = SHORTEST_PAUSE + P::ticks() as u32 % JITTER;
        for _ in 0..P::spins(POLLS) {
            match self.word.load(Ordering::Relaxed) {
                UNLOCKED if self.acquire() => return true,
                CONTENDED => return false,
                _ => P::pause_times(pauses),
            }
        }
        false
    }

    fn lock_sleeping(&self) {
        if self.word.swap(CONTENDED, Ordering::Acquire) == UNLOCKED {
            return;
        }
        self.sleeping.fetch_add(1, Ordering::Relaxed);
        loop {
            // Every result means the same: the word may have changed, retry.
            let _ = P::futex_wait(&self.word, CONTENDED, None);
            if self.word.swap(CONTENDED, Ordering::Acquire) == UNLOCKED {
                break;
            }
        }
        self.sleeping.fetch_sub(1, Ordering::Relaxed);
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to
// another value by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for SwiftOptimalV2<P> {
        INFO: LockInfo {
            name: "swift_optimal_v2",
            origin: Origin::Literature,
            waiting: Waiting::SpinsThenSleeps,
            source: "Ordo One, Swift pull request 88523; synchronization-benchmarks, OptimalMutex",
            teaches: "Few polls, far apart, and none where threads sleep, spare the owner's cache line",
            ..LockInfo::USUAL
        },
        new: Self { word: AtomicInt::new(UNLOCKED), sleeping: AtomicInt::new(0) },
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
        is_idle: |this| {
            this.word.load(Ordering::Relaxed) == UNLOCKED
                && this.sleeping.load(Ordering::Relaxed) == 0
        },
    }
}
