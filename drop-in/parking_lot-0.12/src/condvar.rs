//! The condition variable, which `lock_api` 0.4 does not have.

use std::fmt;
use std::time::{Duration, Instant};

use crate::MutexGuard;
use crate::signal::Signal;
use crate::time::at;

/// The result of a timed wait: whether it timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait timed out, rather than was notified.
    #[inline]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

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
pub struct Condvar(Signal);

impl Condvar {
    /// Creates a condition variable without waiters.
    #[inline]
    pub const fn new() -> Self {
        Self(Signal::NEW)
    }

    /// Notifies one waiter. Returns whether there was one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        self.0.notify_one()
    }

    /// Notifies all waiters. Returns their number.
    #[inline]
    pub fn notify_all(&self) -> usize {
        self.0.notify_all()
    }

    /// Unlocks the mutex, waits until notified, and locks the mutex again.
    #[inline]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_by(guard, None);
    }

    /// As [`wait`](Self::wait), until `timeout` at most.
    #[inline]
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Instant,
    ) -> WaitTimeoutResult {
        self.wait_by(guard, Some(timeout))
    }

    /// As [`wait`](Self::wait), for `timeout` at most; forever, if the clock cannot represent that
    /// time.
    #[inline]
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        self.wait_by(guard, Instant::now().checked_add(timeout))
    }

    /// Waits while `condition` returns true.
    #[inline]
    pub fn wait_while<T, F>(&self, guard: &mut MutexGuard<'_, T>, condition: F)
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_by(guard, condition, None);
    }

    /// Waits while `condition` returns true, until `timeout` at most.
    ///
    /// After a timeout the condition is not evaluated again, so it may be true or false.
    #[inline]
    pub fn wait_while_until<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Instant,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_by(guard, condition, Some(timeout))
    }

    /// Waits while `condition` returns true, for `timeout` at most: as
    /// [`wait_while_until`](Self::wait_while_until).
    #[inline]
    pub fn wait_while_for<T: ?Sized, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_by(guard, condition, Instant::now().checked_add(timeout))
    }

    fn wait_by<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Option<Instant>,
    ) -> WaitTimeoutResult {
        // SAFETY: the guard proves that this thread has locked the mutex, and the mutex is locked
        // again after the wait.
        let notified = unsafe { self.0.wait(MutexGuard::mutex(guard).raw(), deadline.map(at)) };
        WaitTimeoutResult(!notified)
    }

    fn wait_while_by<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: F,
        deadline: Option<Instant>,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(&mut **guard) {
            result = self.wait_by(guard, deadline);
        }
        result
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
