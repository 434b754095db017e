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

/// The guard of the lock. Its drop unlocks the mutex, and poisons it if this thread began to panic
/// during the section.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    pub(super) inner: crate::MutexGuard<'a, T>,
}

/// A guard of a part of the protected data; see [`MutexGuard::map`].
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    inner: crate::MappedMutexGuard<'a, T>,
}

// The next thread that locks learns of a panic that left changes to the value incomplete.
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}
impl<T: ?Sized> UnwindSafe for MutexGuard<'_, T> {}
impl<T: ?Sized> RefUnwindSafe for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self { poisoned: Flag::new(), inner: crate::Mutex::new(value) }
    }

    /// Returns the value, when no thread can hold the lock any more.
    ///
    /// # Errors
    ///
    /// With the value, if the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        let Self { poisoned, inner } = self;
        poisoned.tell(inner.into_inner())
    }

    /// Returns a copy of the value.
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

    /// Replaces the value. The previous value is dropped after the unlock.
    ///
    /// # Errors
    ///
    /// With the new value, if the mutex is poisoned: then it keeps the previous value.
    pub fn set(&self, value: T) -> Result<(), PoisonError<T>> {
        self.replace(value).map(drop)
    }

    /// Replaces the value, and returns the previous one.
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
    pub(crate) fn without_poison(&self) -> &crate::Mutex<T> {
        &self.inner
    }

    /// Waits until this thread owns the lock.
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
    /// `WouldBlock` if the lock is taken; `Poisoned` with the guard if the mutex is poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.inner.try_lock() {
            Some(guard) => Ok(self.guard(guard)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Returns the value without locking: the caller has the only reference, so no thread can own
    /// the lock.
    ///
    /// # Errors
    ///
    /// With the value, if the mutex is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poisoned.tell(self.inner.get_mut())
    }

    /// Returns whether a thread panicked while it held the lock.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.is_set()
    }

    /// Clears the poison: the caller has repaired the data.
    pub fn clear_poison(&self) {
        self.poisoned.clear();
    }

    fn guard<'a>(&'a self, inner: crate::MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.poisoned.tell(MutexGuard { section: self.poisoned.begin(), inner })
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// Returns the same guard, as an error if its mutex is poisoned: after a wait, in which others
    /// had the lock.
    pub(super) fn told(self) -> LockResult<Self> {
        self.section.flag.tell(self)
    }
}

/// The methods and traits that a guard and a guard of a part have in common.
macro_rules! guards {
    ($($guard:ident)*) => {$(
        impl<'a, T: ?Sized> $guard<'a, T> {
            /// Returns a guard of a part of the data that this one protects.
            ///
            /// An associated function, because a method could hide one of the value.
            pub fn map<U: ?Sized, F>(guard: Self, part: F) -> MappedMutexGuard<'a, U>
            where
                F: FnOnce(&mut T) -> &mut U,
            {
                let Self { section, inner } = guard;
                let inner = crate::$guard::map(inner, |value| section.within(|| part(value)));
                MappedMutexGuard { section, inner }
            }

            /// Returns a guard of a part of the data that this one protects, if the part exists.
            ///
            /// # Errors
            ///
            /// With the guard as it was, if the part does not exist.
            pub fn filter_map<U: ?Sized, F>(
                guard: Self,
                part: F,
            ) -> Result<MappedMutexGuard<'a, U>, Self>
            where
                F: FnOnce(&mut T) -> Option<&mut U>,
            {
                let Self { section, inner } = guard;
                match crate::$guard::try_map(inner, |value| section.within(|| part(value))) {
                    Ok(inner) => Ok(MappedMutexGuard { section, inner }),
                    Err(inner) => Err(Self { section, inner }),
                }
            }
        }

        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;
            fn deref(&self) -> &T {
                &self.inner
            }
        }

        impl<T: ?Sized> DerefMut for $guard<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.inner
            }
        }
    )*};
}

guards! { MutexGuard MappedMutexGuard }

shows_its_value! { MutexGuard MappedMutexGuard }

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

// The same output as the standard library's.
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
