//! The condition variable that programs use: a [`lock_api`] condition variable.

extern crate std;

use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::time::Instant;

use lock_api::GuardNoSend;

use super::{RawCondvar, Waiter};
use crate::mutex::{RawMutex, deadline};
#[cfg(feature = "internals")]
use crate::observe::wrapped::Wrapped;
use crate::observe::{self, Observed};
use crate::platform::{Native, Timestamp};

/// A condition variable for [`Mutex`](crate::Mutex): one byte.
///
/// The type is an instance of [`lock_api::Condvar`] and has all of its methods: `wait`, `wait_while`, `wait_for`,
/// `wait_until`, `wait_while_for`, `wait_while_until`, and `notify_one` and `notify_all`, which return the number of waiters
/// they notified. A wait never ends spuriously: either it is notified, or its time is over, never both. Waiters may use
/// different mutexes, even at the same time. It can be a `static`.
///
/// A notified waiter that still runs competes for its mutex; one that sleeps is moved to the mutex's queue. If no thread
/// waits, a notification is a load. It makes no system call for a waiter that still runs, or if another thread is already
/// responsible for those that sleep for the mutex. Otherwise it makes one, whatever the number of waiters.
///
/// # Panics
///
/// Never.
///
/// # Memory ordering
///
/// The condition variable orders nothing by itself; the mutex does.
///
/// ```
/// use ondeck::{Condvar, Mutex};
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
pub type Condvar = lock_api::Condvar<RawCondvar<Native>>;

/// [`RawCondvar::wait`], observed as a wait with the mutex `observed`.
///
/// # Safety
///
/// The calling thread owns the mutex.
unsafe fn wait_observed(
    condvar: &RawCondvar<Native>,
    mutex: &RawMutex<Native>,
    observed: &impl Observed,
    deadline: Option<Timestamp>,
) -> bool {
    let waiter = Waiter::new(condvar, Some(mutex), deadline);
    // SAFETY: as the caller promises; the waiter stays here until the wait is over.
    let begin = || unsafe { waiter.begin() };
    // SAFETY: it has begun.
    let sleep = || unsafe { waiter.sleep() };
    observe::wait(observed, begin, sleep, || waiter.waited_for_mutex())
}

#[cfg(feature = "internals")]
impl<const MAY_MOVE: bool> Wrapped<'_, RawMutex<Native>, MAY_MOVE> {
    /// As [`RawCondvar::wait`], with this mutex.
    ///
    /// # Safety
    ///
    /// The calling thread owns the mutex.
    #[inline]
    pub unsafe fn wait(self, condvar: &RawCondvar<Native>, deadline: Option<Timestamp>) -> bool {
        // SAFETY: as the caller promises.
        unsafe { wait_observed(condvar, self.0, &self, deadline) }
    }
}

// SAFETY: a waiter is linked before its mutex is unlocked, and owns the mutex again when it returns; nothing in between
// panics.
unsafe impl lock_api::RawCondvar for RawCondvar<Native> {
    const INIT: Self = Self { waited: AtomicU8::new(0) };

    type RawMutex = RawMutex<Native>;

    unsafe fn wait(&self, mutex: &RawMutex<Native>, _: &mut GuardNoSend) {
        // SAFETY: as the caller promises.
        unsafe { wait_observed(self, mutex, mutex, None) };
    }

    #[inline]
    fn notify_one(&self) -> bool {
        Self::notify_one(self) != 0
    }

    #[inline]
    fn notify_all(&self) -> usize {
        Self::notify_all(self)
    }
}

// SAFETY: as for `RawCondvar`.
unsafe impl lock_api::RawCondvarTimed for RawCondvar<Native> {
    fn checked_duration_to_instant(timeout: &Duration) -> Option<Instant> {
        Instant::now().checked_add(*timeout)
    }

    unsafe fn wait_until(
        &self,
        mutex: &RawMutex<Native>,
        _: &mut GuardNoSend,
        timeout: &Instant,
    ) -> bool {
        // SAFETY: as the caller promises.
        unsafe { !wait_observed(self, mutex, mutex, Some(deadline(*timeout))) }
    }
}
