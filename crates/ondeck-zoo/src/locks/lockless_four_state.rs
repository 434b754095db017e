//! Lockless' second mutex: one byte says locked, another says contended.
//!
//! Source: Lockless Inc., "Mutexes and Condition Variables using Futexes", section "Optimized
//! Mutexes".
//!
//! Teaches: with "contended" apart from "locked", threads that come and go leave the mark alone,
//! and the release of a contended lock is a plain store.
//!
//! ```text
//! locked │ contended
//!    0   │     0       free
//!    1   │     0       owned, nobody sleeps
//!    1   │     1       owned, somebody may sleep
//!    0   │     1       just released, the releaser watches for a taker
//!
//! lock:   100 × (exchange `locked` for 1, pause); then, until that exchange finds 0:
//!         contended = 1, exchange `locked` for 1, sleep while `contended` is 1
//! unlock: contended = 1: locked = 0 by a plain store
//!         contended = 0: exchange `locked` for 0, and done if `contended` is 0 still
//!         then 200 looks whether somebody took it (who has the duty to wake from then on);
//!         nobody: contended = 0, wake one, who will set it again
//! ```
//!
//! # A defined equivalent
//!
//! The source keeps both bytes in one int and reaches it as bytes here and as an int there: a
//! sleeper exchanges all of it for 257 and sleeps on that value. Access to one word in two sizes is
//! undefined in Rust's memory model, so there are two atomics here. What one instruction did in the
//! source takes two, and three places need care:
//!
//! * A sleeper marks, then tries the lock, then sleeps on the *mark*. Slept on `locked`, it would
//!   not notice a releaser that takes the mark away between its mark and its sleep.
//! * The uncontended release was a compare-exchange of the int for 0, which fails if a mark comes
//!   in between. Here it exchanges `locked` and then looks at the mark once more.
//! * The store that releases a contended lock breaks the chain of read-modify-writes on `locked`.
//!   The mark's order is therefore given by sequential consistency, not by that chain.
//!
//! # Memory ordering
//!
//! `locked` is exchanged for 1 with `Acquire` and given back with `Release`. Marking, then
//! exchanging `locked` for 1, and exchanging it for 0, then looking at the mark, are Dekker's
//! pattern, and all four are `SeqCst`: if the sleeper's exchange comes first in the order of
//! `locked` (it found 1), the look finds its mark or something later; if the release comes first,
//! the sleeper finds 0. On x86-64 only the sleeper pays for it. A look that still finds an old mark
//! is harmless: it leads to a needless wake or leaves the duty to the next owner, who looks again.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::lockless_condvar::{LocklessCondvar, LocklessMutex};
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, Waiting};

/// Attempts before sleeping, and looks before waking: the source's numbers.
const SPINS_BEFORE_SLEEP: u32 = 100;
const SPINS_BEFORE_WAKE: u32 = 200;

/// Lockless' second mutex: see the [source file](self) for its states.
#[derive(Debug)]
pub struct LocklessFourState<P: Platform> {
    locked: P::AtomicU8,
    contended: P::AtomicU32,
}

impl<P: Platform> LocklessFourState<P> {
    #[cold]
    fn lock_slow(&self) {
        for _ in 1..P::spins(SPINS_BEFORE_SLEEP) {
            P::pause();
            if !P::test_and_set(&self.locked, Ordering::Acquire) {
                return;
            }
        }
        P::pause();
        self.lock_slept();
    }

    /// The second half of a lock, and what a wait for a condition ends with.
    fn lock_slept(&self) {
        loop {
            self.contended.store(1, Ordering::SeqCst);
            // An exchange even where a platform's test-and-set would not write: see "Memory
            // ordering".
            if self.locked.swap(1, Ordering::SeqCst) == 0 {
                return;
            }
            // Every outcome means the same: mark, and try again.
            let _ = P::futex_wait(&self.contended, 1, None);
        }
    }

    /// After a release of a contended lock: leaves when somebody took it, else wakes.
    #[cold]
    fn unlock_slow(&self) {
        for _ in 0..P::spins(SPINS_BEFORE_WAKE) {
            if self.locked.load(Ordering::Relaxed) != 0 {
                return;
            }
            P::pause();
        }
        self.contended.store(0, Ordering::Release);
        P::futex_wake(&raw const self.contended, 1);
    }
}

// SAFETY: a thread returns from `lock` only after it exchanged `locked` from 0 to 1, and only the
// owner makes it 0 again.
unsafe impl<P: Platform> RawLock<P> for LocklessFourState<P> {
    const INFO: LockInfo = LockInfo {
        name: "lockless_four_state",
        origin: Origin::Sources,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Own,
        source: "Lockless Inc., Mutexes and Condition Variables using Futexes, optimized mutex",
        teaches: "A contended mark apart from the lock makes the contended release a plain store",
    };

    type Context = ();
    type Condvar = LocklessCondvar<P>;

    fn new() -> Self {
        Self { locked: AtomicInt::new(0), contended: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if P::test_and_set(&self.locked, Ordering::Acquire) {
            self.lock_slow();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        !P::test_and_set(&self.locked, Ordering::Acquire)
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        if self.contended.load(Ordering::Relaxed) != 0 {
            self.locked.store(0, Ordering::Release);
        } else {
            self.locked.swap(0, Ordering::SeqCst);
            if self.contended.load(Ordering::SeqCst) == 0 {
                return;
            }
        }
        self.unlock_slow();
    }

    fn is_idle(&mut self) -> bool {
        self.locked.load(Ordering::Relaxed) == 0 && self.contended.load(Ordering::Relaxed) == 0
    }
}

impl<P: Platform> LocklessMutex<P> for LocklessFourState<P> {
    fn sleepers(&self) -> &P::AtomicU32 {
        &self.contended
    }

    unsafe fn lock_contended(&self, (): &()) {
        self.lock_slept();
    }
}
