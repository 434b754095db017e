//! Swift's "Optimal", first version: a three-state futex, and a back-off that depends on whether a
//! thread sleeps.
//!
//! Source: Sarunas (Ordo One), synchronization-benchmarks, `OptimalMutex`, first commit (2026),
//! made for Swift pull request 88523, "Synchronization: Adaptive spinning on Linux".
//!
//! Teaches: the word shows not only that the lock is taken, but also whether other waiters sleep.
//! This lock polls at long intervals while no thread sleeps, and otherwise at short ones, to take
//! the lock before a woken thread runs. So its spinners pass over the sleeping threads.
//!
//! ```text
//! word (u32), the futex: 0 unlocked · 1 locked, no thread sleeps · 2 locked, a thread may sleep
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange; again in each of 14 polls that reads a 0
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it sleeps while the word is 2
//! 1 → 0    the owner             swap for 0
//! 2 → 0    the owner             swap for 0; then it wakes one thread
//!
//! A poll reads the word, and a pause of n PAUSEs follows. n is 4 at first. After the pause it is
//! doubled if it is below the limit, and set to the limit if it is above it. The limit is 6 if the
//! poll read a 2, else 32. After a wake there are no further polls.
//! ```
//!
//! The source has no `try_lock`; the one here is its first attempt.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` swap for 0. A poll is `Relaxed`, because
//! it only decides whether an attempt is worth the write. After the swap the unlock uses only the
//! word's address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;

/// Polls before a thread sleeps.
const POLLS: u32 = 14;
/// The first pause, and the limits of the later pauses while no thread sleeps and while one does,
/// in PAUSEs: the source's numbers, found on three machines with 12 to 64 CPUs.
const FIRST_PAUSE: u32 = 4;
const LONGEST_ALONE: u32 = 32;
const LONGEST_CONTENDED: u32 = 6;

/// Swift's "Optimal" of the first commit: see the [source file](self) for its states.
#[derive(Debug)]
pub struct SwiftOptimalV1<P: Platform> {
    word: P::AtomicU32,
}

impl<P: Platform> SwiftOptimalV1<P> {
    #[inline(always)]
    fn acquire(&self) -> bool {
        self.word.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        let mut pauses = FIRST_PAUSE;
        for _ in 0..P::spins(POLLS) {
            let seen = self.word.load(Ordering::Relaxed);
            if seen == UNLOCKED && self.acquire() {
                return;
            }
            P::pause_times(pauses);
            pauses = next_pause(pauses, seen);
        }
        while self.word.swap(CONTENDED, Ordering::Acquire) != UNLOCKED {
            // Every result means the same: the word may have changed, retry.
            let _ = P::futex_wait(&self.word, CONTENDED, None);
        }
    }
}

/// The length of the pause after the next poll: doubles until one step beyond the limit, which
/// leads back to it.
fn next_pause(pauses: u32, seen: u32) -> u32 {
    let limit = if seen == CONTENDED { LONGEST_CONTENDED } else { LONGEST_ALONE };
    if pauses < limit { pauses * 2 } else { limit }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to
// another value by an atomic read-modify-write, and only the owner makes it UNLOCKED again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for SwiftOptimalV1<P> {
        INFO: LockInfo {
            name: "swift_optimal_v1",
            origin: Origin::Literature,
            waiting: Waiting::SpinsThenSleeps,
            source: "Ordo One, synchronization-benchmarks, OptimalMutex, first commit",
            teaches: "Spinners that poll faster once a thread sleeps take the lock before it wakes",
            ..LockInfo::USUAL
        },
        new: Self { word: AtomicInt::new(UNLOCKED) },
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
        is_idle: |this| this.word.load(Ordering::Relaxed) == UNLOCKED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(seen: &[u32]) -> Vec<u32> {
        let mut pauses = FIRST_PAUSE;
        let next = |&seen: &u32| {
            let now = pauses;
            pauses = next_pause(pauses, seen);
            now
        };
        seen.iter().map(next).collect()
    }

    #[test]
    fn pauses_double_to_the_limit_and_shrink_once_a_thread_sleeps() {
        assert_eq!(pauses(&[LOCKED; 6]), [4, 8, 16, 32, 32, 32]);
        assert_eq!(pauses(&[CONTENDED; 4]), [4, 8, 6, 6]);
        assert_eq!(pauses(&[LOCKED, LOCKED, LOCKED, CONTENDED, CONTENDED]), [4, 8, 16, 32, 6]);
        assert_eq!(pauses(&[CONTENDED, CONTENDED, LOCKED, LOCKED, LOCKED]), [4, 8, 6, 12, 24]);
    }
}
