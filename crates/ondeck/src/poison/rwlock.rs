//! The reader-writer lock with poisoning.

use core::fmt;
use core::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::std;
use super::{Flag, LockResult, Section, TryLockError, TryLockResult};

/// A reader-writer lock with poisoning around a `T`: [`std::sync::RwLock`] over the one of four bytes.
///
/// Writers poison, readers do not. A thread that reads and reads again may wait for ever if a writer waits in
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
    inner: crate::RwLock<T>,
}

/// A read lock, held; unlocked when dropped.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    inner: crate::RwLockReadGuard<'a, T>,
}

/// The write lock, held; unlocked, and poisoned if this thread began to panic meanwhile, when dropped.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    inner: crate::RwLockWriteGuard<'a, T>,
}

/// A read lock, held, as a guard of a part of what it protects; see [`RwLockReadGuard::map`].
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MappedRwLockReadGuard<'a, T: ?Sized> {
    inner: crate::MappedRwLockReadGuard<'a, T>,
}

/// The write lock, held, as a guard of a part of what it protects; see [`RwLockWriteGuard::map`].
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MappedRwLockWriteGuard<'a, T: ?Sized> {
    // Dropped in this order.
    section: Section<'a>,
    inner: crate::MappedRwLockWriteGuard<'a, T>,
}

// A panic that left the value half changed is told to the next thread that locks.
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// An unlocked lock around `value`.
    pub const fn new(value: T) -> Self {
        Self { poisoned: Flag::new(), inner: crate::RwLock::new(value) }
    }

    /// The value, when no thread can hold the lock any more.
    ///
    /// # Errors
    ///
    /// With the value, if the lock is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        let Self { poisoned, inner } = self;
        poisoned.tell(inner.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    #[cfg(feature = "deadlock_detection")]
    pub(crate) fn without_poison(&self) -> &crate::RwLock<T> {
        &self.inner
    }

    /// Waits until this thread may read.
    ///
    /// # Errors
    ///
    /// With the guard, if the lock is poisoned.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let inner = self.inner.read();
        self.poisoned.tell(RwLockReadGuard { inner })
    }

    /// A read lock, if this thread need not wait for it.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if it would; `Poisoned` with the guard if the lock is poisoned.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        match self.inner.try_read() {
            Some(inner) => Ok(self.poisoned.tell(RwLockReadGuard { inner })?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Waits until the lock is this thread's alone.
    ///
    /// # Errors
    ///
    /// With the guard, if the lock is poisoned.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.guard(self.inner.write())
    }

    /// The write lock, if no thread has the lock.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if one has; `Poisoned` with the guard if the lock is poisoned.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.inner.try_write() {
            Some(inner) => Ok(self.guard(inner)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// The value, which no thread can have locked: the caller has the only reference.
    ///
    /// # Errors
    ///
    /// With the value, if the lock is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poisoned.tell(self.inner.get_mut())
    }

    /// Whether a thread panicked while it held the write lock.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.is_set()
    }

    /// Forgets about it: the caller has put the data right.
    pub fn clear_poison(&self) {
        self.poisoned.clear();
    }

    fn guard<'a>(
        &'a self,
        inner: crate::RwLockWriteGuard<'a, T>,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        self.poisoned.tell(RwLockWriteGuard { section: self.poisoned.begin(), inner })
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// A read lock in place of the write lock, without a moment between them in which another thread could write.
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let Self { section, inner } = guard;
        // A panic that is under way has been noted before others may read.
        drop(section);
        RwLockReadGuard { inner: crate::RwLockWriteGuard::downgrade(inner) }
    }
}

/// `map` and `filter_map` of a read guard.
macro_rules! read_parts {
    ($guard:ident, $part_of:path) => {
        impl<'a, T: ?Sized> $guard<'a, T> {
            /// A guard of a part of what this one protects.
            ///
            /// An associated function, because a method could hide one of the value.
            pub fn map<U: ?Sized>(
                guard: Self,
                part: impl FnOnce(&T) -> &U,
            ) -> MappedRwLockReadGuard<'a, U> {
                MappedRwLockReadGuard { inner: <$part_of>::map(guard.inner, part) }
            }

            /// A guard of a part of what this one protects, if there is that part.
            ///
            /// # Errors
            ///
            /// With the guard as it was, if there is not.
            pub fn filter_map<U: ?Sized>(
                guard: Self,
                part: impl FnOnce(&T) -> Option<&U>,
            ) -> Result<MappedRwLockReadGuard<'a, U>, Self> {
                match <$part_of>::try_map(guard.inner, part) {
                    Ok(inner) => Ok(MappedRwLockReadGuard { inner }),
                    Err(inner) => Err(Self { inner }),
                }
            }
        }
    };
}

read_parts!(RwLockReadGuard, crate::RwLockReadGuard<'a, T>);
read_parts!(MappedRwLockReadGuard, crate::MappedRwLockReadGuard<'a, T>);

/// `map` and `filter_map` of a write guard.
macro_rules! write_parts {
    ($guard:ident, $part_of:path) => {
        impl<'a, T: ?Sized> $guard<'a, T> {
            /// A guard of a part of what this one protects.
            ///
            /// An associated function, because a method could hide one of the value.
            pub fn map<U: ?Sized>(
                guard: Self,
                part: impl FnOnce(&mut T) -> &mut U,
            ) -> MappedRwLockWriteGuard<'a, U> {
                let Self { section, inner } = guard;
                let inner = <$part_of>::map(inner, |value| section.within(|| part(value)));
                MappedRwLockWriteGuard { section, inner }
            }

            /// A guard of a part of what this one protects, if there is that part.
            ///
            /// # Errors
            ///
            /// With the guard as it was, if there is not.
            pub fn filter_map<U: ?Sized>(
                guard: Self,
                part: impl FnOnce(&mut T) -> Option<&mut U>,
            ) -> Result<MappedRwLockWriteGuard<'a, U>, Self> {
                let Self { section, inner } = guard;
                match <$part_of>::try_map(inner, |value| section.within(|| part(value))) {
                    Ok(inner) => Ok(MappedRwLockWriteGuard { section, inner }),
                    Err(inner) => Err(Self { section, inner }),
                }
            }
        }

        impl<T: ?Sized> DerefMut for $guard<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                &mut self.inner
            }
        }
    };
}

write_parts!(RwLockWriteGuard, crate::RwLockWriteGuard<'a, T>);
write_parts!(MappedRwLockWriteGuard, crate::MappedRwLockWriteGuard<'a, T>);

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

// As the standard library prints it.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.inner.try_read() {
            Some(value) => shown.field("data", &&*value),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

macro_rules! shows_its_value {
    ($($guard:ident)*) => {$(
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;
            fn deref(&self) -> &T {
                &self.inner
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

shows_its_value! { RwLockReadGuard RwLockWriteGuard MappedRwLockReadGuard MappedRwLockWriteGuard }
