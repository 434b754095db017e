//! The mutex with poisoning.

use core::fmt;
use core::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::std;
use super::{Flag, LockResult, PoisonError, Section, TryLockError, TryLockResult};

/// A mutex with poisoning around a `T`: [`std::sync::Mutex`] over the one-byte mutex.
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
    poisoned: Flag,
    inner: crate::Mutex<T>,
}

/// The lock, held; unlocked, and poisoned if this thread began to panic meanwhile, when dropped.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    pub(super) inner: crate::MutexGuard<'a, T>,
}

/// The lock, held, as a guard of a part of what it protects; see [`MutexGuard::map`].
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    inner: crate::MappedMutexGuard<'a, T>,
}

// A panic that left the value half changed is told to the next thread that locks.
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self { poisoned: Flag::new(), inner: crate::Mutex::new(value) }
    }

    /// The value, when no thread can hold the lock any more.
    ///
    /// # Errors
    ///
    /// With the value, if the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        let Self { poisoned, inner } = self;
        poisoned.tell(inner.into_inner())
    }

    /// A copy of the value.
    ///
    /// # Errors
    ///
    /// If it is poisoned.
    pub fn get_cloned(&self) -> Result<T, PoisonError<()>>
    where
        T: Clone,
    {
        self.lock().map(|guard| T::clone(&guard)).map_err(|_| PoisonError::new(()))
    }

    /// Replaces the value. The one before is dropped when the lock is free again.
    ///
    /// # Errors
    ///
    /// With the new value, if it is poisoned: then it has the one before still.
    pub fn set(&self, value: T) -> Result<(), PoisonError<T>> {
        self.replace(value).map(drop)
    }

    /// Replaces the value, and returns the one before.
    ///
    /// # Errors
    ///
    /// As for [`set`](Self::set).
    pub fn replace(&self, value: T) -> LockResult<T> {
        match self.lock() {
            Ok(mut guard) => Ok(core::mem::replace(&mut *guard, value)),
            Err(_) => Err(PoisonError::new(value)),
        }
    }
}

impl<T: ?Sized> Mutex<T> {
    #[cfg(feature = "deadlock_detection")]
    pub(crate) fn without_poison(&self) -> &crate::Mutex<T> {
        &self.inner
    }

    /// Waits until the lock is this thread's.
    ///
    /// # Errors
    ///
    /// With the guard, if the mutex is poisoned.
    #[track_caller]
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

    /// The value, which no thread can have locked: the caller has the only reference.
    ///
    /// # Errors
    ///
    /// With the value, if the mutex is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poisoned.tell(self.inner.get_mut())
    }

    /// Whether a thread panicked while it held the lock.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.is_set()
    }

    /// Forgets about it: the caller has put the data right.
    pub fn clear_poison(&self) {
        self.poisoned.clear();
    }

    fn guard<'a>(&'a self, inner: crate::MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.poisoned.tell(MutexGuard { section: self.poisoned.begin(), inner })
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The same guard, told to be poisoned if its mutex is: after a wait, in which others had the lock.
    pub(super) fn told(self) -> LockResult<Self> {
        self.section.flag.tell(self)
    }

    /// A guard of a part of what the mutex protects.
    ///
    /// An associated function, because a method could hide one of the value.
    pub fn map<U: ?Sized, F>(guard: Self, part: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let Self { section, inner } = guard;
        let inner = crate::MutexGuard::map(inner, |value| section.within(|| part(value)));
        MappedMutexGuard { section, inner }
    }

    /// A guard of a part of what the mutex protects, if there is that part.
    ///
    /// # Errors
    ///
    /// With the guard as it was, if there is not.
    pub fn filter_map<U: ?Sized, F>(guard: Self, part: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let Self { section, inner } = guard;
        match crate::MutexGuard::try_map(inner, |value| section.within(|| part(value))) {
            Ok(inner) => Ok(MappedMutexGuard { section, inner }),
            Err(inner) => Err(Self { section, inner }),
        }
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// A guard of a part of the part.
    pub fn map<U: ?Sized, F>(guard: Self, part: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let Self { section, inner } = guard;
        let inner = crate::MappedMutexGuard::map(inner, |value| section.within(|| part(value)));
        MappedMutexGuard { section, inner }
    }

    /// A guard of a part of the part, if there is that one.
    ///
    /// # Errors
    ///
    /// With the guard as it was, if there is not.
    pub fn filter_map<U: ?Sized, F>(guard: Self, part: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let Self { section, inner } = guard;
        match crate::MappedMutexGuard::try_map(inner, |value| section.within(|| part(value))) {
            Ok(inner) => Ok(MappedMutexGuard { section, inner }),
            Err(inner) => Err(Self { section, inner }),
        }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
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

impl<T: ?Sized> Deref for MappedMutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> DerefMut for MappedMutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

// As the standard library prints it.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.inner.try_lock() {
            Some(value) => shown.field("data", &&*value),
            None => shown.field("data", &"<locked>"),
        };
        shown.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
