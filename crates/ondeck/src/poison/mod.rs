//! Locks that remember that a thread panicked while it held them.
//!
//! [`ondeck::Mutex`](crate::Mutex) does not: a panic only unlocks it. If changes to the protected data may be left
//! incomplete, these locks report that to the next owner by a [`LockResult`], like the standard library's. It costs a byte
//! and a check whether the thread panics; other locks pay nothing for it.
//!
//! They have the methods, the traits and the output of the standard library's locks, so that a program may replace one `use`
//! by the other: `use ondeck::poison::{Condvar, Mutex, MutexGuard};`. The types of the results are the standard library's,
//! except for [`WaitTimeoutResult`], which no other crate can construct.
//!
//! | file | what |
//! |---|---|
//! | `mutex.rs` | the mutex, its guard, and guards of a part |
//! | `condvar.rs` | the condition variable |
//! | `rwlock.rs` | the reader-writer lock and its guards |
//!
//! # What poisons
//!
//! A panic that begins while a guard with write access exists, and drops that guard. A guard that is created while its
//! thread is already panicking, by a destructor, does not poison: its own section did not panic.

extern crate std;

/// What a lock around a value has beside its ways to lock it: `$read`, also as an attempt, `$try`, and `$write`. `$held`
/// is shown for the value while a thread has the lock.
macro_rules! has_a_value {
    ($lock:ident, $read:ident $try:ident $write:ident, $held:expr) => {
        // SAFETY: it has a `T`.
        unsafe impl<T: ?Sized + Send> Send for $lock<T> {}
        // A panic that left the value half changed is told to the next thread that locks.
        impl<T: ?Sized> UnwindSafe for $lock<T> {}
        impl<T: ?Sized> RefUnwindSafe for $lock<T> {}

        impl<T> $lock<T> {
            /// An unlocked lock around `value`.
            pub const fn new(value: T) -> Self {
                let inner = crate::$lock::new(());
                Self { poisoned: Flag::new(), inner, value: UnsafeCell::new(value) }
            }

            /// The value, when no thread can hold the lock any more.
            ///
            /// # Errors
            ///
            /// With the value, if the lock is poisoned.
            pub fn into_inner(self) -> LockResult<T> {
                let Self { poisoned, value, .. } = self;
                poisoned.tell(value.into_inner())
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
                self.$read().map(|guard| T::clone(&guard)).map_err(|_| PoisonError::new(()))
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
                match self.$write() {
                    Ok(mut guard) => Ok(core::mem::replace(&mut *guard, value)),
                    Err(_) => Err(PoisonError::new(value)),
                }
            }
        }

        impl<T: ?Sized> $lock<T> {
            #[cfg(feature = "deadlock_detection")]
            pub(crate) fn without_poison(&self) -> &crate::$lock<()> {
                &self.inner
            }

            /// The value, which no thread can have locked: the caller has the only reference.
            ///
            /// # Errors
            ///
            /// With the value, if the lock is poisoned.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.poisoned.tell(self.value.get_mut())
            }

            /// Whether a thread panicked while it held the lock and could write.
            pub fn is_poisoned(&self) -> bool {
                self.poisoned.is_set()
            }

            /// Forgets about it: the caller has put the data right.
            pub fn clear_poison(&self) {
                self.poisoned.clear();
            }

            fn value(&self) -> NonNull<T> {
                NonNull::new(self.value.get()).expect("a field has an address")
            }
        }

        impl<T> From<T> for $lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        // As the standard library prints it.
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($lock));
                match self.$try() {
                    Ok(guard) => shown.field("data", &&*guard),
                    Err(TryLockError::Poisoned(told)) => shown.field("data", &&**told.get_ref()),
                    Err(TryLockError::WouldBlock) => shown.field("data", &$held),
                };
                shown.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
            }
        }
    };
}

/// A guard that shows its value: what it dereferences to, and prints as.
macro_rules! shows_its_value {
    ($($guard:ident)*) => {$(
        // SAFETY: a shared guard gives a `&T`.
        unsafe impl<T: ?Sized + Sync> Sync for $guard<'_, T> {}

        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;
            fn deref(&self) -> &T {
                // SAFETY: the lock is held, and no thread writes beside a shared guard.
                unsafe { self.value.as_ref() }
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

/// What a guard of a thread that may write and a guard of a part have in common. A `$mapped` is of a part.
macro_rules! writes {
    ($($guard:ident)* => $mapped:ident) => {$(
        impl<'a, T: ?Sized> $guard<'a, T> {
            /// A guard of a part of what this one protects.
            ///
            /// An associated function, because a method could hide one of the value.
            pub fn map<U: ?Sized, F>(guard: Self, part: F) -> $mapped<'a, U>
            where
                F: FnOnce(&mut T) -> &mut U,
            {
                let Self { section, inner, mut value, unique: _ } = guard;
                // SAFETY: the lock is held, and this guard is its only one.
                let value = NonNull::from(section.within(|| part(unsafe { value.as_mut() })));
                $mapped { section, inner, value, unique: PhantomData }
            }

            /// A guard of a part of what this one protects, if there is that part.
            ///
            /// # Errors
            ///
            /// With the guard as it was, if there is not.
            pub fn filter_map<U: ?Sized, F>(guard: Self, part: F) -> Result<$mapped<'a, U>, Self>
            where
                F: FnOnce(&mut T) -> Option<&mut U>,
            {
                let Self { section, inner, mut value, unique } = guard;
                // SAFETY: as above.
                match section.within(|| part(unsafe { value.as_mut() })).map(NonNull::from) {
                    Some(value) => Ok($mapped { section, inner, value, unique: PhantomData }),
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

        shows_its_value! { $guard }
    )*};
}

mod condvar;
mod mutex;
mod rwlock;

use core::sync::atomic::{AtomicBool, Ordering};
use std::thread::panicking;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Whether a thread panicked while it held a lock.
///
/// Relaxed: written and read by owners, in the order of the lock; for other threads it is a hint.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Flag {
    const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Begins a section.
    fn begin(&self) -> Section<'_> {
        Section { flag: self, panicking_before: panicking() }
    }

    /// Returns the value, as an error if the lock is poisoned.
    fn tell<T>(&self, value: T) -> LockResult<T> {
        if self.is_set() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// A part of a guard, declared before the lock itself: when it is dropped the section ends, and the lock is still held.
struct Section<'a> {
    flag: &'a Flag,
    panicking_before: bool,
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        if !self.panicking_before && panicking() {
            self.flag.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Section<'_> {
    /// Runs a part of the section. If it panics, the lock is poisoned before anything outside is dropped.
    fn within<R>(&self, part: impl FnOnce() -> R) -> R {
        let _inner = Section { flag: self.flag, panicking_before: self.panicking_before };
        part()
    }
}
