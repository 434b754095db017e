//! Lockless' first mutex: three states, and an unlock that watches the lock before it wakes a
//! thread.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", the first `mutex_lock`
//! and `mutex_unlock`.
//! Teaches: an unlock can avoid a system call by watching whether another thread takes the lock
//! anyway. For that it reads the lock after the store that unlocked it, when the lock may have been
//! freed.
//!
//! ```text
//! word (u32), the futex: 0 unlocked · 1 locked · 2 locked, a thread may sleep
//!
//! change   made by               operation
//! 0 → 1    a thread that locks   compare-exchange, up to 100 times with a pause in between
//! 0 → 2    a waiter              swap for 2: it owns the lock
//! 1 → 2    a waiter              swap for 2: it sleeps while the word is 2
//! 1 → 0    the owner             swap for 0, and it is done
//! 2 → 0    the owner             store, or swap for 0; then it watches
//! 1 → 2    the previous owner    compare-exchange, while it watches
//!
//! The previous owner watches by up to 200 reads of the word:
//!   1 or 2   a thread has taken the lock: the unlock makes a 1 a 2 and ends. The new owner's
//!            unlock wakes a sleeping thread
//!   0        it reads again; after the last read it wakes one thread
//! ```
//!
//! The source says `if (cmpxchg(m, 1, 2)) return`, where `cmpxchg` returns the value that it
//! *found*. If it found 1, it has made that a 2. If it found 2, the new owner has marked the word
//! itself. Either way the new owner will wake a thread. Only after a 0, where the lock was taken
//! and unlocked again in between, does the unlock continue to watch. The code below spells that
//! out.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` operation that made the word 0. The
//! unlock's later operations are `Relaxed`: the obligation to wake is in the word itself, and no
//! other memory is published with it. A plain store may unlock a 2, because while the lock is held
//! a 2 changes to nothing but another 2. If the load before that store reads an outdated 1, the
//! unlock swaps instead, which is right for both.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::lockless_condvar::{LocklessCondvar, LocklessMutex};
use crate::three_states::{CONTENDED, LOCKED, ThreeStates, UNLOCKED};
use crate::{CondvarKind, LockInfo, Origin, RawLock, Waiting};

/// Attempts before sleeping, and reads before waking: the source's numbers.
const SPINS_BEFORE_SLEEP: u32 = 100;
const SPINS_BEFORE_WAKE: u32 = 200;

/// Lockless' first mutex: see the [source file](self) for its states.
#[derive(Debug)]
pub struct LocklessThreeState<P: Platform> {
    word: ThreeStates<P>,
}

impl<P: Platform> LocklessThreeState<P> {
    #[cold]
    fn lock_slow(&self, mut found: u32) {
        for _ in 1..P::spins(SPINS_BEFORE_SLEEP) {
            P::pause();
            match self.word.acquire() {
                Ok(_) => return,
                Err(now) => found = now,
            }
        }
        P::pause();
        if found == CONTENDED {
            self.word.sleep();
        }
        self.word.acquire_sleeping();
    }

    /// Runs after the store that unlocked a contended lock: leaves the wake to a new owner, or
    /// wakes a thread.
    #[cold]
    fn unlock_slow(&self) {
        for _ in 0..P::spins(SPINS_BEFORE_WAKE) {
            if self.word.look() != UNLOCKED {
                let found = self.word.0.compare_exchange(
                    LOCKED,
                    CONTENDED,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                if found != Err(UNLOCKED) {
                    return;
                }
            }
            P::pause();
        }
        P::futex_wake(&raw const self.word.0, 1);
    }
}

// SAFETY, as a lock: a thread returns from `lock` only after it took the word from UNLOCKED to
// another value by an atomic read-modify-write; only the owner makes it UNLOCKED again. The
// exchange of an unlock that watches only turns LOCKED into CONTENDED.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for LocklessThreeState<P> {
        INFO: LockInfo {
            name: "lockless_three_state",
            origin: Origin::Sources,
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            condvar: CondvarKind::Own,
            source: "Lockless Inc., Mutexes and Condition Variables using Futexes, first mutex",
            teaches: "An unlock that watches for a taker saves a wake, but outlives its right to the memory",
            ..LockInfo::USUAL
        },
        Condvar: LocklessCondvar<P>,
        new: Self { word: ThreeStates::new() },
        lock: |this, ()| if let Err(found) = this.word.acquire() {
            this.lock_slow(found);
        },
        try_lock: |this, ()| this.word.acquire().is_ok(),
        unlock: |this, ()| {
            if this.word.look() == CONTENDED {
                this.word.0.store(UNLOCKED, Ordering::Release);
            } else if this.word.0.swap(UNLOCKED, Ordering::Release) == LOCKED {
                return;
            }
            this.unlock_slow();
        },
        is_idle: |this| this.word.look() == UNLOCKED,
    }
}

impl<P: Platform> LocklessMutex<P> for LocklessThreeState<P> {
    fn wait_word(&self) -> &P::AtomicU32 {
        &self.word.0
    }

    unsafe fn lock_contended(&self, (): &()) {
        self.word.acquire_sleeping();
    }
}
