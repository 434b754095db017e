//! This project's fair mutex, as a lock of the zoo.
//!
//! Source: `ondeck::fair`, which draws and argues its protocol.
//!
//! Teaches: the order of arrival costs a wake for each contended pair, also if the queue is in a parking table.

use ondeck::fair::RawFairMutex;
use ondeck::platform::Native;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// The mutex of [`ondeck::fair`].
#[derive(Debug)]
pub struct OndeckFair(RawFairMutex<Native>);

// SAFETY: `RawFairMutex` excludes; see its own argument.
unsafe impl RawLock<Native> for OndeckFair {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_fair",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Fifo,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "this project, ondeck::FairMutex",
        teaches: "The order of arrival costs a wake for each contended pair",
    };

    type Context = ();
    type Condvar = SequenceCondvar<Native>;

    fn new() -> Self {
        Self(RawFairMutex::new())
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        self.0.lock();
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() };
    }

    fn is_idle(&mut self) -> bool {
        !self.0.is_locked()
    }
}
