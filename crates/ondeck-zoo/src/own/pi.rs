//! This project's mutex with priority inheritance, as a lock of the zoo.
//!
//! Source: `ondeck::pi`, which draws and argues its protocol.
//!
//! Teaches: the kernel's protocol needs no more than the owner's number in the word and, for an owner that ended, one
//! word beside it.

use ondeck::pi::RawPiMutex;
use ondeck::platform::Native;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// The mutex of [`ondeck::pi`].
#[derive(Debug)]
pub struct OndeckPi(RawPiMutex);

// SAFETY: `RawPiMutex` excludes; see its own argument.
unsafe impl RawLock<Native> for OndeckPi {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_pi",
        origin: Origin::Own,
        waiting: Waiting::Sleeps,
        fairness: Fairness::Priority,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "this project, ondeck::PiMutex",
        teaches: "An uncontended pair with priority inheritance is two compare-exchanges and no call",
    };

    type Context = ();
    type Condvar = SequenceCondvar<Native>;

    fn new() -> Self {
        Self(RawPiMutex::new())
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        self.0.lock().expect("no thread ends while it holds a lock of the zoo");
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
