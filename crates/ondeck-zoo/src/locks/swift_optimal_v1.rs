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
//! word: as in `three_states.rs`
//!
//! A thread that locks tries 0 → 1; again in each of 14 polls that reads a 0. Then it marks and sleeps.
//! A poll reads the word, and a pause of n PAUSEs follows. n is 4 at first. After the pause it is
//! doubled if it is below the limit, and set to the limit if it is above it. The limit is 6 if the
//! poll read a 2, else 32. After a wake there are no further polls.
//! ```
//!
//! The source has no `try_lock`; the one here is its first attempt.
//!
//! # Memory ordering
//!
//! See `three_states.rs`: a poll is a look.

use ondeck::platform::Platform;

use crate::three_states::{CONTENDED, ThreeStates, UNLOCKED};
use crate::{LockInfo, RawLock, Waiting};

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
    word: ThreeStates<P>,
}

impl<P: Platform> SwiftOptimalV1<P> {
    #[cold]
    fn lock_slow(&self) {
        let mut pauses = FIRST_PAUSE;
        for _ in 0..P::spins(POLLS) {
            let seen = self.word.look();
            if seen == UNLOCKED && self.word.acquire().is_ok() {
                return;
            }
            P::pause_times(pauses);
            pauses = next_pause(pauses, seen);
        }
        self.word.acquire_sleeping();
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
            waiting: Waiting::SpinsThenSleeps,
            source: "Ordo One, synchronization-benchmarks, OptimalMutex, first commit",
            teaches: "Spinners that poll faster once a thread sleeps take the lock before it wakes",
            ..LockInfo::USUAL
        },
        new: Self { word: ThreeStates::new() },
        lock: |this, ()| if this.word.acquire().is_err() {
            this.lock_slow();
        },
        try_lock: |this, ()| this.word.acquire().is_ok(),
        unlock: |this, ()| this.word.unlock(),
        is_idle: |this| this.word.look() == UNLOCKED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::three_states::LOCKED;

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
