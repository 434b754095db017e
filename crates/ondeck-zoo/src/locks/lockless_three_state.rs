//! Lockless' first mutex: three states, and a release that waits a little before it wakes.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", the first
//! `mutex_lock` and `mutex_unlock`.
//!
//! Teaches: that the releasing thread can spare a system call by watching for somebody who takes
//! the lock anyway; and that doing so touches the lock when it may be gone.
//!
//! ```text
//!   0 unlocked · 1 locked · 2 locked, somebody may sleep
//!
//! lock:   100 × (0 → 1 by compare-exchange, pause); then exchange for 2 until that finds 0,
//!         sleeping on 2 in between
//! unlock: from 1: exchange for 0, done
//!         from 2: store 0, then up to 200 looks at the word:
//!           1 or 2   somebody took it. Make a 1 a 2, because the sleepers are now its to wake,
//!                    and leave without a system call
//!           0        look again; at the end wake one
//! ```
//!
//! The source says `if (cmpxchg(m, 1, 2)) return`, where `cmpxchg` returns the value it *found*:
//! 1 (made a 2 just now) and 2 (the new owner's own mark) both mean that the new owner will wake,
//! and only 0 (taken and released again meanwhile) means to go on looking. That is what is written
//! out below; read as "if it exchanged", the 2 would cost a needless wake and nothing worse.
//!
//! # Memory ordering
//!
//! Acquisitions are `Acquire` and pair with the `Release` of whichever operation left 0. The
//! looks after the release are `Relaxed`: they hand over a duty that is written in the word
//! itself and publish nothing. A release from 2 may be a plain store because nobody changes a 2
//! but to another 2 while the lock is held; the load before it is of a value that this thread or a
//! waiter wrote since, and a 1 that is out of date only leads to the exchange.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::lockless_condvar::{LocklessCondvar, LocklessMutex};
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, Waiting};

const UNLOCKED: u32 = 0;
const LOCKED: u32 = 1;
const CONTENDED: u32 = 2;

/// Attempts before sleeping, and looks before waking: the source's numbers.
const SPINS_BEFORE_SLEEP: u32 = 100;
const SPINS_BEFORE_WAKE: u32 = 200;

/// Lockless' first mutex: see the [source file](self) for its states.
#[derive(Debug)]
pub struct LocklessThreeState<P: Platform> {
    word: P::AtomicU32,
}

impl<P: Platform> LocklessThreeState<P> {
    #[inline(always)]
    fn acquire(&self) -> Result<u32, u32> {
        self.word.compare_exchange(UNLOCKED, LOCKED, Ordering::Acquire, Ordering::Relaxed)
    }

    #[cold]
    fn lock_slow(&self, mut found: u32) {
        for _ in 1..P::spins(SPINS_BEFORE_SLEEP) {
            P::pause();
            match self.acquire() {
                Ok(_) => return,
                Err(now) => found = now,
            }
        }
        P::pause();
        if found == CONTENDED {
            self.sleep();
        }
        self.lock_slept();
    }

    /// The second half of a lock, and what a wait for a condition ends with.
    fn lock_slept(&self) {
        while self.word.swap(CONTENDED, Ordering::Acquire) != UNLOCKED {
            self.sleep();
        }
    }

    fn sleep(&self) {
        // Every outcome means the same: the word may have changed, try again.
        let _ = P::futex_wait(&self.word, CONTENDED, None);
    }

    /// After a release of a contended lock: finds somebody to take over the duty to wake, or
    /// wakes.
    #[cold]
    fn unlock_slow(&self) {
        for _ in 0..P::spins(SPINS_BEFORE_WAKE) {
            if self.word.load(Ordering::Relaxed) != UNLOCKED {
                let found = self.word.compare_exchange(
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
        P::futex_wake(&raw const self.word, 1);
    }
}

// SAFETY: a thread returns from `lock` only after it took the word from UNLOCKED to another value
// by an atomic read-modify-write; only the owner makes it UNLOCKED again. A releaser's late
// exchange only turns LOCKED into CONTENDED.
unsafe impl<P: Platform> RawLock<P> for LocklessThreeState<P> {
    const INFO: LockInfo = LockInfo {
        name: "lockless_three_state",
        origin: Origin::Sources,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Own,
        source: "Lockless Inc., Mutexes and Condition Variables using Futexes, first mutex",
        teaches: "A release that watches for a taker saves a wake, but outlives its right to the memory",
    };

    type Context = ();
    type Condvar = LocklessCondvar<P>;

    fn new() -> Self {
        Self { word: AtomicInt::new(UNLOCKED) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if let Err(found) = self.acquire() {
            self.lock_slow(found);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.acquire().is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        if self.word.load(Ordering::Relaxed) == CONTENDED {
            self.word.store(UNLOCKED, Ordering::Release);
        } else if self.word.swap(UNLOCKED, Ordering::Release) == LOCKED {
            return;
        }
        self.unlock_slow();
    }

    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == UNLOCKED
    }
}

impl<P: Platform> LocklessMutex<P> for LocklessThreeState<P> {
    fn sleepers(&self) -> &P::AtomicU32 {
        &self.word
    }

    unsafe fn lock_contended(&self, (): &()) {
        self.lock_slept();
    }
}
