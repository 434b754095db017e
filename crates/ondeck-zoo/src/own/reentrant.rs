//! This project's reentrant mutex, as a lock of the zoo: measured without a second lock by its owner.
//!
//! Source: `ondeck::reentrant`, which says how a thread is named.
//!
//! Teaches: the owner's name and a count are plain accesses beside the one read-modify-write of a mutex.

use std::fmt;

use ondeck::lock_api::RawReentrantMutex;
use ondeck::mutex::RawMutex;
use ondeck::platform::Native;
use ondeck::reentrant::RawThreadId;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// The mutex of [`ondeck::reentrant`].
pub struct OndeckReentrant(RawReentrantMutex<RawMutex<Native>, RawThreadId>);

impl fmt::Debug for OndeckReentrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OndeckReentrant")
    }
}

// SAFETY: `RawReentrantMutex` excludes other threads, and a thread never locks what it holds.
unsafe impl RawLock<Native> for OndeckReentrant {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_reentrant",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "this project, ondeck::ReentrantMutex",
        teaches: "Knowing the owner and counting costs plain accesses only",
    };

    type Context = ();
    type Condvar = SequenceCondvar<Native>;

    fn new() -> Self {
        Self(RawReentrantMutex::INIT)
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
