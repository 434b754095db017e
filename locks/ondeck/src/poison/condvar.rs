//! The condition variable for the mutex with poisoning.

use core::fmt;
use core::time::Duration;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Instant;

use super::std;
use super::{LockResult, MutexGuard, PoisonError};

/// A condition variable for [`Mutex`](super::Mutex): [`std::sync::Condvar`] over the one-byte
/// condition variable.
///
/// A wait never ends spuriously, and waiters may use different mutexes, which the standard
/// library's refuses.
///
/// ```
/// use ondeck::poison::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *READY.lock().unwrap() = true;
///         CHANGED.notify_one();
///     });
///     let ready = CHANGED.wait_while(READY.lock().unwrap(), |ready| !*ready).unwrap();
///     assert!(*ready);
/// });
/// ```
#[derive(Default)]
pub struct Condvar {
    inner: crate::Condvar,
}

impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

/// Whether a wait timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait timed out without an earlier notification.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable without waiters.
    pub const fn new() -> Self {
        Self { inner: crate::Condvar::new() }
    }

    /// Unlocks the mutex, waits for a notification, and locks the mutex again.
    ///
    /// # Errors
    ///
    /// With the guard, if the mutex is poisoned after the wait.
    pub fn wait<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
    ) -> LockResult<MutexGuard<'a, T>> {
        self.inner.wait(&mut guard.inner);
        guard.told()
    }

    /// [Waits](Self::wait) while `condition` returns true for the value.
    ///
    /// # Errors
    ///
    /// With the guard, if the mutex is poisoned after a wait.
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`wait`](Self::wait), for at most `timeout`. Also returns whether it timed out.
    ///
    /// # Errors
    ///
    /// With both, if the mutex is poisoned after the wait.
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let timed_out = self.inner.wait_for(&mut guard.inner, timeout).timed_out();
        told(guard, timed_out)
    }

    /// As [`wait_timeout`](Self::wait_timeout), with the time in milliseconds. Returns whether the
    /// wait ended in time.
    ///
    /// # Errors
    ///
    /// As for `wait_timeout`.
    #[deprecated(note = "`wait_timeout` takes any time, as in the standard library")]
    pub fn wait_timeout_ms<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        millis: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(millis.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// As [`wait_while`](Self::wait_while), for at most `timeout`. Also returns whether the
    /// condition still held at its end.
    ///
    /// # Errors
    ///
    /// With both, if the mutex is poisoned after a wait.
    pub fn wait_timeout_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = Instant::now();
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = timeout.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// Wakes a waiting thread, if there is one.
    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.inner.notify_all();
    }
}

/// Returns the result of a wait with a timeout.
fn told<T: ?Sized>(
    guard: MutexGuard<'_, T>,
    timed_out: bool,
) -> LockResult<(MutexGuard<'_, T>, WaitTimeoutResult)> {
    let result = WaitTimeoutResult(timed_out);
    match guard.told() {
        Ok(guard) => Ok((guard, result)),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
    }
}

// The same output as the standard library's.
impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
