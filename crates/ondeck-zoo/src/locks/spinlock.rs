//! Skarupke's spinlock: test, exchange, sixteen pauses, then a yield.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really
//! is" (2020), `spinlock`.
//!
//! Teaches: what a yield repairs (the longest wait fell from 62 ms to 11 ms in the source) and
//! that it is the scheduler, not the lock, which then decides who waits how long.
//!
//! ```text
//!            load finds 0, then exchange
//! locked: 0 ─────────────────────────────► 1      waiting: 16 × (try, pause), try, yield, ...
//!         ▲                                │
//!         └────────────────────────────────┘
//!                     store 0
//! ```
//!
//! The source sets its count to 0 after a yield and its `for` then adds one, so that all rounds of
//! pauses but the first are fifteen long; here every round is sixteen.
//!
//! # Memory ordering
//!
//! The test is `Relaxed`, the exchange `Acquire`; it pairs with the `Release` store of the owner
//! before. An exchange that finds 1 has changed nothing, and the test makes it rare.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// Pauses between two yields: the source tried many and kept this one.
pub(super) const PAUSES_PER_YIELD: u32 = 16;

/// Test and test-and-set with yields: see the [source file](self).
#[derive(Debug)]
pub struct Spinlock<P: Platform> {
    locked: P::AtomicU8,
}

impl<P: Platform> Spinlock<P> {
    #[inline(always)]
    fn acquire(&self) -> bool {
        self.locked.load(Ordering::Relaxed) == 0
            && !P::test_and_set(&self.locked, Ordering::Acquire)
    }

    #[cold]
    fn lock_slow(&self) {
        loop {
            for _ in 0..P::spins(PAUSES_PER_YIELD) {
                P::pause();
                if self.acquire() {
                    return;
                }
            }
            P::yield_now();
            if self.acquire() {
                return;
            }
        }
    }
}

// SAFETY: a thread returns from `lock` only after its test-and-set found 0 and left 1, and only
// the owner stores 0 again.
unsafe impl<P: Platform> RawLock<P> for Spinlock<P> {
    const INFO: LockInfo = LockInfo {
        name: "spinlock",
        origin: Origin::Sources,
        waiting: Waiting::Yields,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "Malte Skarupke, Measuring Mutexes, spinlock",
        teaches: "A yield now and then lets the owner run, as far as the scheduler obliges",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { locked: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if !self.acquire() {
            self.lock_slow();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.acquire()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        self.locked.store(0, Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        self.locked.load(Ordering::Relaxed) == 0
    }
}
