//! A mutex that remembers that a thread panicked while it held it.
//!
//! [`ondeck::Mutex`](crate::Mutex) does not: a panic unlocks it and that is all. Where the protected
//! data may be left half changed, this one tells the next owner, like the standard library's, by a
//! [`LockResult`]. It costs a byte and a look at the thread's panics; others pay nothing for it.

extern crate std;

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use std::thread::panicking;

/// A mutex with poisoning around a `T`.
///
/// ```
/// use ondeck::poison::Mutex;
///
/// let mutex = Mutex::new(1);
/// let _ = std::panic::catch_unwind(|| {
///     let _guard = mutex.lock();
///     panic!("half-way");
/// });
/// assert!(mutex.is_poisoned());
/// let guard = mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
/// assert_eq!(*guard, 1);
/// ```
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    /// Relaxed: written and read by the owner; others get a hint.
    poisoned: AtomicBool,
    inner: crate::Mutex<T>,
}

/// The lock, held; released, and poisoned if this thread began to panic meanwhile, when dropped.
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    poisoned: &'a AtomicBool,
    panicking_before: bool,
    inner: crate::MutexGuard<'a, T>,
}

// A panic that left the value half changed is told to the next thread that locks.
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self { poisoned: AtomicBool::new(false), inner: crate::Mutex::new(value) }
    }

    /// The value, when no thread can hold the lock any more.
    ///
    /// # Errors
    ///
    /// With the value, if the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        let value = self.inner.into_inner();
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the lock is this thread's.
    ///
    /// # Errors
    ///
    /// With the guard, if the mutex is poisoned.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.guard(self.inner.lock())
    }

    /// Acquires the lock if it is free.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if it is not; `Poisoned` with the guard if the mutex is poisoned.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.inner.try_lock() {
            Some(guard) => Ok(self.guard(guard)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether a thread panicked while it held the lock.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    /// Forgets about it: the caller has put the data right.
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
    }

    fn guard<'a>(&'a self, inner: crate::MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let guard = MutexGuard { poisoned: &self.poisoned, panicking_before: panicking(), inner };
        if self.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking_before && panicking() {
            self.poisoned.store(true, Ordering::Relaxed);
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex")
            .field("data", &&self.inner)
            .field("poisoned", &self.is_poisoned())
            .finish()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
