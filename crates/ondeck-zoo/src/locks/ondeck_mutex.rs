//! This project's own mutex, as a lock of the zoo.
//!
//! Source: `ondeck::mutex` and `ondeck::condvar`, which draw and argue their protocols.
//!
//! Teaches: the cost of a sleeping lock can be paid by the thread that parks. Its uncontended pair
//! is then a spinlock's.

use ondeck::condvar::RawCondvar as OwnCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::Host;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// The one-byte mutex of [`ondeck::mutex`].
#[derive(Debug)]
pub struct OndeckMutex<P: Host>(RawMutex<P>);

// SAFETY: `RawMutex` excludes; see its own argument.
unsafe impl<P: Host> RawLock<P> for OndeckMutex<P> {
    const INFO: LockInfo = LockInfo {
        name: "ondeck",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Own,
        source: "this project, ondeck::mutex",
        teaches: "A thread that parks pays for the fence: an uncontended pair costs what a spinlock's does",
    };

    type Context = ();
    type Condvar = OndeckCondvar<P>;

    fn new() -> Self {
        Self(RawMutex::new())
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

/// The condition variable of [`ondeck::condvar`].
#[derive(Debug)]
pub struct OndeckCondvar<P: Host>(OwnCondvar<P>);

// SAFETY: `RawCondvar` of this project acquires the mutex again before it returns; see its own
// argument on signals.
unsafe impl<P: Host> RawCondvar<P, OndeckMutex<P>> for OndeckCondvar<P> {
    fn new() -> Self {
        Self(OwnCondvar::new())
    }

    #[inline]
    unsafe fn wait(&self, lock: &OndeckMutex<P>, (): &()) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.wait(&lock.0, None) };
    }

    #[inline]
    fn notify_one(&self) {
        self.0.notify_one();
    }

    #[inline]
    fn notify_all(&self) {
        self.0.notify_all();
    }
}
