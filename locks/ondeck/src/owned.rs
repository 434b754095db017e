//! Owned guards of a part of the protected data, which [`lock_api`] does not have: a guard that
//! owns a share of its lock, such as [`ArcMutexGuard`], and a pointer to the part.
//!
//! `map` and `try_map` cost nothing beside their closure, and order nothing. If the closure panics,
//! the lock is unlocked.
//!
//! ```
//! use ondeck::{ArcMutexGuard, MapArc, Mutex};
//! use std::sync::Arc;
//!
//! let mutex = Arc::new(Mutex::new((1, Some(2))));
//! let second = ArcMutexGuard::map(mutex.lock_arc(), |pair| &mut pair.1);
//! let mut two = MapArc::try_map(second, Option::as_mut).expect("it is there");
//! *two += 1;
//! assert!(mutex.is_locked());
//! drop(two);
//! assert_eq!(*mutex.lock(), (1, Some(3)));
//! ```

use core::fmt;
use core::ops::{Deref, DerefMut};

use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockWriteGuard, GetThreadId,
    RawMutex, RawRwLock,
};

mod sealed {
    /// # Safety
    ///
    /// References to the data that a dereference returned stay valid when the guard is moved, until
    /// its next dereference or its drop.
    pub unsafe trait Alone {}

    /// # Safety
    ///
    /// As for [`Alone`].
    pub unsafe trait Shares {}
}

// SAFETY: the data is in the lock, to which the guard has an `Arc`.
unsafe impl<R: RawMutex, T: ?Sized> sealed::Alone for ArcMutexGuard<R, T> {}
// SAFETY: as above.
unsafe impl<R: RawRwLock, T: ?Sized> sealed::Alone for ArcRwLockWriteGuard<R, T> {}
// SAFETY: as above.
unsafe impl<R: RawRwLock, T: ?Sized> sealed::Shares for ArcRwLockReadGuard<R, T> {}
// SAFETY: as above.
unsafe impl<R: RawMutex, G: GetThreadId, T: ?Sized> sealed::Shares
    for ArcReentrantMutexGuard<R, G, T>
{
}

macro_rules! mapped {
    ($(
        $(#[$about:meta])*
        $Mapped:ident(*$pointer:tt) by
        $(#[$maps:meta])*
        $Map:ident(&$($mut:tt)?) of $Kind:ident + $Deref:ident;
    )*) => {$(
        $(#[$about])*
        #[clippy::has_significant_drop]
        #[must_use = "if unused the lock is unlocked at once"]
        pub struct $Mapped<G, U: ?Sized> {
            /// Points into what the guard guards.
            data: *$pointer U,
            _guard: G,
        }

        // SAFETY: a shared reference to it gives a `&U` and nothing else.
        unsafe impl<G: Sync, U: ?Sized + Sync> Sync for $Mapped<G, U> {}

        // SAFETY: the data is where the pointer points, which is not derived from a reference to
        // this guard.
        unsafe impl<G: sealed::$Kind, U: ?Sized> sealed::$Kind for $Mapped<G, U> {}

        impl<G, U: ?Sized> Deref for $Mapped<G, U> {
            type Target = U;

            #[inline]
            fn deref(&self) -> &U {
                // SAFETY: the guard still has the lock, and this is borrowed.
                unsafe { &*self.data }
            }
        }

        impl<G, U: ?Sized + fmt::Debug> fmt::Debug for $Mapped<G, U> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        $(#[$maps])*
        pub trait $Map: sealed::$Kind + $Deref + Sized {
            /// Makes a guard of the part of the data that `part` returns.
            #[inline]
            fn map<U: ?Sized>(
                #[allow(unused_mut)] mut guard: Self,
                part: impl FnOnce(&$($mut)? Self::Target) -> &$($mut)? U,
            ) -> $Mapped<Self, U> {
                $Mapped { data: part(&$($mut)? guard), _guard: guard }
            }

            /// Makes a guard of the part of the data that `part` returns.
            ///
            /// # Errors
            ///
            /// With the guard itself, if there is none.
            #[inline]
            fn try_map<U: ?Sized>(
                #[allow(unused_mut)] mut guard: Self,
                part: impl FnOnce(&$($mut)? Self::Target) -> Option<&$($mut)? U>,
            ) -> Result<$Mapped<Self, U>, Self> {
                match part(&$($mut)? guard).map(|data| -> *$pointer U { data }) {
                    Some(data) => Ok($Mapped { data, _guard: guard }),
                    None => Err(guard),
                }
            }
        }

        impl<G: sealed::$Kind + $Deref> $Map for G {}
    )*};
}

mapped! {
    /// An owned guard of a part of the data that its thread has alone; see [`MapArc`].
    MappedArcGuard(*mut) by
    /// Makes guards of a part of the data from the owned guards of mutexes and of writers.
    ///
    /// A guard of a part of a part is a [`MappedArcGuard`] of a `MappedArcGuard`. The
    /// [module](self) has an example.
    MapArc(&mut) of Alone + DerefMut;

    /// An owned guard of a part of the data that its thread may share; see [`MapArcShared`].
    MappedArcSharedGuard(*const) by
    /// Makes guards of a part of the data from the owned guards of readers and of reentrant
    /// mutexes.
    ///
    /// A guard of a part of a part is a [`MappedArcSharedGuard`] of a `MappedArcSharedGuard`.
    ///
    /// ```
    /// use ondeck::{ArcRwLockReadGuard, MapArcShared, RwLock};
    /// use std::sync::Arc;
    ///
    /// let names = Arc::new(RwLock::new(vec!["one", "two"]));
    /// let first = ArcRwLockReadGuard::try_map(names.read_arc(), |names| names.first());
    /// assert_eq!(*first.expect("it is there"), "one");
    /// assert!(ArcRwLockReadGuard::try_map(names.read_arc(), |names| names.get(2)).is_err());
    /// ```
    MapArcShared(&) of Shares + Deref;
}

impl<G, U: ?Sized> DerefMut for MappedArcGuard<G, U> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: the guard still has the lock alone, and this is borrowed alone.
        unsafe { &mut *self.data }
    }
}
