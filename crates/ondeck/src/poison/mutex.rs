//! The mutex with poisoning.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
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
    inner: crate::Mutex<()>,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives one thread at a time a reference.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The lock, held; unlocked, and poisoned if this thread began to panic meanwhile, when dropped.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    pub(super) inner: crate::MutexGuard<'a, ()>,
    value: NonNull<T>,
    unique: PhantomData<&'a mut T>,
}

/// A guard of a part of the protected data; see [`MutexGuard::map`].
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    inner: crate::MutexGuard<'a, ()>,
    value: NonNull<T>,
    unique: PhantomData<&'a mut T>,
}

has_a_value! { Mutex, lock try_lock lock, "<locked>" }
writes! { MutexGuard MappedMutexGuard => MappedMutexGuard }

impl<T: ?Sized> Mutex<T> {
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
    /// `WouldBlock` if the lock is taken; `Poisoned` with the guard if the mutex is poisoned.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.inner.try_lock() {
            Some(inner) => Ok(self.guard(inner)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    fn guard<'a>(&'a self, inner: crate::MutexGuard<'a, ()>) -> LockResult<MutexGuard<'a, T>> {
        let (section, value) = (self.poisoned.begin(), self.value());
        self.poisoned.tell(MutexGuard { section, inner, value, unique: PhantomData })
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// The same guard, told to be poisoned if its mutex is: after a wait, in which others had the lock.
    pub(super) fn told(self) -> LockResult<Self> {
        self.section.flag.tell(self)
    }
}
