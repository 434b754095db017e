//! The reader-writer lock with poisoning.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::std;
use super::{Flag, LockResult, PoisonError, Section, TryLockError, TryLockResult};

/// A reader-writer lock with poisoning around a `T`: [`std::sync::RwLock`] over the four-byte lock.
///
/// Writers poison, readers do not. A thread that already reads and reads again may wait for ever if a writer waits in
/// between, as with the standard library's.
///
/// ```
/// use ondeck::poison::RwLock;
///
/// let lock = RwLock::new(1);
/// assert_eq!(*lock.read().unwrap() + *lock.read().unwrap(), 2);
/// let _ = std::panic::catch_unwind(|| {
///     let _guard = lock.write();
///     panic!("half-way");
/// });
/// assert!(lock.read().is_err());
/// ```
#[derive(Default)]
pub struct RwLock<T: ?Sized> {
    poisoned: Flag,
    inner: crate::RwLock<()>,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives threads shared references at the same time, or one thread a unique one.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// The guard of a read lock. Dropping it unlocks the lock.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    /// Not a reference to the lock, so that a guard of a `T` coerces to a guard of a supertype.
    value: NonNull<T>,
    inner: crate::RwLockReadGuard<'a, ()>,
}

/// The guard of the write lock. Its drop unlocks the lock, and poisons it if this thread began to panic during the section.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    inner: crate::RwLockWriteGuard<'a, ()>,
    value: NonNull<T>,
    unique: PhantomData<&'a mut T>,
}

/// A read guard of a part of the protected data; see [`RwLockReadGuard::map`].
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MappedRwLockReadGuard<'a, T: ?Sized> {
    value: NonNull<T>,
    inner: crate::RwLockReadGuard<'a, ()>,
}

/// A write guard of a part of the protected data; see [`RwLockWriteGuard::map`].
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MappedRwLockWriteGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    inner: crate::RwLockWriteGuard<'a, ()>,
    value: NonNull<T>,
    unique: PhantomData<&'a mut T>,
}

has_a_value! { RwLock, read try_read write, format_args!("<locked>") }
writes! { RwLockWriteGuard MappedRwLockWriteGuard => MappedRwLockWriteGuard }
shows_its_value! { RwLockReadGuard MappedRwLockReadGuard }

impl<T: ?Sized> RwLock<T> {
    /// Waits until this thread may read.
    ///
    /// # Errors
    ///
    /// With the guard, if the lock is poisoned.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.poisoned.tell(self.read_guard(self.inner.read()))
    }

    /// Acquires a read lock, if this thread need not wait for it.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if it would have to wait; `Poisoned` with the guard if the lock is poisoned.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        match self.inner.try_read() {
            Some(inner) => Ok(self.poisoned.tell(self.read_guard(inner))?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Waits until this thread owns the lock.
    ///
    /// # Errors
    ///
    /// With the guard, if the lock is poisoned.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.guard(self.inner.write())
    }

    /// Acquires the write lock, if no thread has the lock.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if a thread has it; `Poisoned` with the guard if the lock is poisoned.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.inner.try_write() {
            Some(inner) => Ok(self.guard(inner)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    fn read_guard<'a>(&'a self, inner: crate::RwLockReadGuard<'a, ()>) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard { value: self.value(), inner }
    }

    fn guard<'a>(
        &'a self,
        inner: crate::RwLockWriteGuard<'a, ()>,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        let (section, value) = (self.poisoned.begin(), self.value());
        self.poisoned.tell(RwLockWriteGuard { section, inner, value, unique: PhantomData })
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Turns the write lock into a read lock, without a moment in which another thread could write.
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let Self { section, inner, value, .. } = guard;
        // A panic that is under way is recorded before others may read.
        drop(section);
        RwLockReadGuard { value, inner: crate::RwLockWriteGuard::downgrade(inner) }
    }
}

/// The methods that a read guard and a guard of a part have in common.
macro_rules! reads {
    ($($guard:ident)*) => {$(
        impl<'a, T: ?Sized> $guard<'a, T> {
            /// Returns a guard of a part of the data that this one protects.
            ///
            /// An associated function, because a method could hide one of the value.
            pub fn map<U: ?Sized, F>(guard: Self, part: F) -> MappedRwLockReadGuard<'a, U>
            where
                F: FnOnce(&T) -> &U,
            {
                MappedRwLockReadGuard { value: NonNull::from(part(&guard)), inner: guard.inner }
            }

            /// Returns a guard of a part of the data that this one protects, if the part exists.
            ///
            /// # Errors
            ///
            /// With the guard as it was, if the part does not exist.
            pub fn filter_map<U: ?Sized, F>(
                guard: Self,
                part: F,
            ) -> Result<MappedRwLockReadGuard<'a, U>, Self>
            where
                F: FnOnce(&T) -> Option<&U>,
            {
                match part(&guard).map(NonNull::from) {
                    Some(value) => Ok(MappedRwLockReadGuard { value, inner: guard.inner }),
                    None => Err(guard),
                }
            }
        }
    )*};
}

reads! { RwLockReadGuard MappedRwLockReadGuard }
