//! The condition variable of `lock_api`, over the raw one.

use std::time::{Duration, Instant};

pub use lock_api::WaitTimeoutResult;

use crate::signal::Signal;
use crate::time::at;
use crate::{GuardMarker, RawMutex};

/// The condition variable without the types: for [`lock_api::Condvar`].
#[repr(transparent)]
pub struct RawCondvar(Signal);

/// A condition variable for [`Mutex`](crate::Mutex): one byte. See `ondeck::Condvar`.
///
/// A wait never ends spuriously. Waiters may use different mutexes, where the original panics.
///
/// ```
/// use parking_lot::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *READY.lock() = true;
///         CHANGED.notify_one();
///     });
///     let mut ready = READY.lock();
///     CHANGED.wait_while(&mut ready, |ready| !*ready);
///     assert!(*ready);
/// });
/// ```
pub type Condvar = lock_api::Condvar<RawCondvar>;

// SAFETY: a waiter holds the mutex again when it returns, as crate `ondeck` promises.
unsafe impl lock_api::RawCondvar for RawCondvar {
    const INIT: Self = Self(Signal::NEW);

    type RawMutex = RawMutex;

    #[inline]
    unsafe fn wait(&self, mutex: &RawMutex, _: &mut GuardMarker) {
        // SAFETY: as the caller promises.
        unsafe { self.0.wait(mutex, None) };
    }

    #[inline]
    fn notify_one(&self) -> bool {
        self.0.notify_one()
    }

    #[inline]
    fn notify_all(&self) -> usize {
        self.0.notify_all()
    }
}

// SAFETY: as for `RawCondvar`.
unsafe impl lock_api::RawCondvarTimed for RawCondvar {
    #[inline]
    fn checked_duration_to_instant(timeout: &Duration) -> Option<Instant> {
        Instant::now().checked_add(*timeout)
    }

    #[inline]
    unsafe fn wait_until(&self, mutex: &RawMutex, _: &mut GuardMarker, timeout: &Instant) -> bool {
        // SAFETY: as the caller promises.
        unsafe { !self.0.wait(mutex, Some(at(*timeout))) }
    }
}
