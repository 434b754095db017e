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
/// Writers poison, readers do not. A thread that already reads and reads again may wait for ever if
/// a writer waits in between, as with the standard library's.
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

// SAFETY: it owns a `T`.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: the lock gives threads shared references at the same time, or one thread a unique one.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// The guard of a read lock. Dropping it unlocks the lock.
///
/// A guard of a part lives no longer than the part:
///
/// ```compile_fail,E0597
/// use ondeck::poison::{RwLock, RwLockReadGuard};
///
/// static LOCK: RwLock<&str> = RwLock::new("");
/// let guard = {
///     let text = String::from("freed at the end of the block");
///     RwLockReadGuard::map(LOCK.read().unwrap(), |_| &text)
/// };
/// println!("{}", *guard);
/// ```
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    /// Not a reference to the lock, so that a guard of a `T` coerces to a guard of a supertype.
    value: NonNull<T>,
    inner: crate::RwLockReadGuard<'a, ()>,
}

/// The guard of the write lock. Its drop unlocks the lock, and poisons it if this thread began to
/// panic during the section.
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
pub struct MappedRwLockReadGuard<'a, T: ?Sized + 'a> {
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

// The next thread that locks learns of a panic that left changes to the value incomplete.
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

// As the lock is, so are its guards; a read guard only gives a `&T`.
impl<T: ?Sized + RefUnwindSafe> UnwindSafe for RwLockReadGuard<'_, T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for RwLockReadGuard<'_, T> {}
impl<T: ?Sized> UnwindSafe for RwLockWriteGuard<'_, T> {}
impl<T: ?Sized> RefUnwindSafe for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// Creates an unlocked lock around `value`.
    pub const fn new(value: T) -> Self {
        Self { poisoned: Flag::new(), inner: crate::RwLock::new(()), value: UnsafeCell::new(value) }
    }

    /// Returns the value, when no thread can hold the lock any more.
    ///
    /// # Errors
    ///
    /// With the value, if the lock is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        let Self { poisoned, value, .. } = self;
        poisoned.tell(value.into_inner())
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
        self.read().map(|guard| T::clone(&guard)).map_err(|_| PoisonError::new(()))
    }

    /// Replaces the value. The previous value is dropped after the unlock.
    ///
    /// # Errors
    ///
    /// With the new value, if the lock is poisoned: then it keeps the previous value.
    pub fn set(&self, value: T) -> Result<(), PoisonError<T>> {
        self.replace(value).map(drop)
    }

    /// Replaces the value, and returns the previous one.
    ///
    /// # Errors
    ///
    /// As for [`set`](Self::set).
    pub fn replace(&self, value: T) -> LockResult<T> {
        match self.write() {
            Ok(mut guard) => Ok(core::mem::replace(&mut *guard, value)),
            Err(_) => Err(PoisonError::new(value)),
        }
    }
}

impl<T: ?Sized> RwLock<T> {
    pub(crate) fn without_poison(&self) -> &crate::RwLock<()> {
        &self.inner
    }

    /// Waits until this thread may read.
    ///
    /// # Errors
    ///
    /// With the guard, if the lock is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.poisoned.tell(self.read_guard(self.inner.read()))
    }

    /// Acquires a read lock, if this thread need not wait for it.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if it would have to wait; `Poisoned` with the guard if the lock is poisoned.
    #[track_caller]
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
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.guard(self.inner.write())
    }

    /// Acquires the write lock, if no thread has the lock.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if a thread has it; `Poisoned` with the guard if the lock is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.inner.try_write() {
            Some(inner) => Ok(self.guard(inner)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Returns the value without locking: the caller has the only reference, so no thread can own
    /// the lock.
    ///
    /// # Errors
    ///
    /// With the value, if the lock is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poisoned.tell(self.value.get_mut())
    }

    /// Returns whether a thread panicked while it held the write lock.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.is_set()
    }

    /// Clears the poison: the caller has repaired the data.
    pub fn clear_poison(&self) {
        self.poisoned.clear();
    }

    fn value(&self) -> NonNull<T> {
        NonNull::new(self.value.get()).expect("a field has an address")
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
        // SAFETY: a shared guard gives a `&T`.
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}

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

/// The methods that a write guard and a guard of a part have in common.
macro_rules! writes {
    ($($guard:ident)*) => {$(
        // SAFETY: a shared guard gives a `&T`.
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}

        impl<'a, T: ?Sized> $guard<'a, T> {
            /// Returns a guard of a part of the data that this one protects.
            ///
            /// An associated function, because a method could hide one of the value.
            pub fn map<U: ?Sized, F>(guard: Self, part: F) -> MappedRwLockWriteGuard<'a, U>
            where
                F: FnOnce(&mut T) -> &mut U,
            {
                let Self { section, inner, mut value, unique: _ } = guard;
                // SAFETY: the lock is held, and this guard is its only one.
                let value = NonNull::from(section.within(|| part(unsafe { value.as_mut() })));
                MappedRwLockWriteGuard { section, inner, value, unique: PhantomData }
            }

            /// Returns a guard of a part of the data that this one protects, if the part exists.
            ///
            /// # Errors
            ///
            /// With the guard as it was, if the part does not exist.
            pub fn filter_map<U: ?Sized, F>(
                guard: Self,
                part: F,
            ) -> Result<MappedRwLockWriteGuard<'a, U>, Self>
            where
                F: FnOnce(&mut T) -> Option<&mut U>,
            {
                let Self { section, inner, mut value, unique } = guard;
                // SAFETY: as above.
                match section.within(|| part(unsafe { value.as_mut() })).map(NonNull::from) {
                    Some(value) => {
                        Ok(MappedRwLockWriteGuard { section, inner, value, unique: PhantomData })
                    }
                    None => Err(Self { section, inner, value, unique }),
                }
            }
        }

        impl<T: ?Sized> DerefMut for $guard<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the lock is held, and this guard is its only one.
                unsafe { self.value.as_mut() }
            }
        }
    )*};
}

writes! { RwLockWriteGuard MappedRwLockWriteGuard }

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

// The same output as the standard library's.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.inner.try_read() {
            Some(inner) => shown.field("data", &&*self.read_guard(inner)),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

macro_rules! derefs {
    ($($guard:ident)*) => {$(
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;
            fn deref(&self) -> &T {
                // SAFETY: the lock is held, and no thread writes beside a shared guard.
                unsafe { self.value.as_ref() }
            }
        }
    )*};
}

derefs! { RwLockReadGuard RwLockWriteGuard MappedRwLockReadGuard MappedRwLockWriteGuard }

shows_its_value! { RwLockReadGuard RwLockWriteGuard MappedRwLockReadGuard MappedRwLockWriteGuard }
