//! Loom's atomics as the atomics of a platform.
//!
//! A release store is an exchange here. Suppose that a thread makes a read-modify-write and then a
//! store, and another thread's read-modify-write comes between them. Loom does not see that the
//! store comes after that one, and lets a later read-modify-write read the older value. The
//! three-state futex, whose waiters exchange while the owner stores, then deadlocks in the model
//! although it never does on a machine. The exchange is stronger than the store in one respect: it
//! continues a release sequence, see `docs/verification.md`. Relaxed stores stay stores.
//!
//! No access may race with the drop of an atomic or follow it: every access of another thread has
//! to happen before the drop, which each access checks with [`life::Life`].

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use loom::cell::UnsafeCell;
use loom::sync::atomic;
use ondeck::platform::{AtomicInt, AtomicPointer, Ordering};

use super::words::{self, Model};
use super::{fence, life, readers};

/// A word, modelled according to [`words`].
enum Word<A, V> {
    Atomic(A),
    Guarded(UnsafeCell<V>),
    Hint(Cell<V>),
}

// SAFETY: loom runs all threads of a model on one thread of the machine, and switches at none of
// these accesses.
unsafe impl<A: Send, V> Send for Word<A, V> {}
// SAFETY: as above.
unsafe impl<A: Sync, V> Sync for Word<A, V> {}

impl<A, V: Copy> Word<A, V> {
    #[track_caller]
    fn new(value: V, atomic: impl FnOnce(V) -> A) -> Self {
        match words::model(Location::caller()) {
            Model::Atomic => Self::Atomic(atomic(value)),
            Model::Guarded => Self::Guarded(UnsafeCell::new(value)),
            Model::Hint => Self::Hint(Cell::new(value)),
        }
    }

    /// Returns the value, if the word is not an atomic.
    #[track_caller]
    fn plain(&self) -> Option<V> {
        match self {
            Self::Atomic(_) => None,
            // SAFETY: if another access is not ordered with this one, loom reports it.
            Self::Guarded(cell) => Some(cell.with(|value| unsafe { *value })),
            Self::Hint(cell) => Some(cell.get()),
        }
    }

    /// If the word is not an atomic, writes the value and returns the old one.
    #[track_caller]
    fn replace(&self, new: V) -> Option<V> {
        match self {
            Self::Atomic(_) => None,
            // SAFETY: as above.
            Self::Guarded(cell) => Some(cell.with_mut(|value| unsafe { value.replace(new) })),
            Self::Hint(cell) => Some(cell.replace(new)),
        }
    }

    #[track_caller]
    fn atomic(&self) -> &A {
        let Self::Atomic(atomic) = self else {
            panic!("a guarded word or a hint needs no such access")
        };
        atomic
    }
}

macro_rules! loom_word {
    ($($name:ident $(<$T:ident>)? of $value:ty;)*) => {$(
        pub struct $name $(<$T>)? (Word<atomic::$name $(<$T>)?, $value>, life::Life);

        impl $(<$T>)? fmt::Debug for $name $(<$T>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        impl $(<$T>)? $name $(<$T>)? {
            /// Called before every access of an atomic.
            #[track_caller]
            fn get(&self) -> &atomic::$name $(<$T>)? {
                self.1.check();
                fence::before_access();
                self.0.atomic()
            }
        }

        impl $(<$T>)? Drop for $name $(<$T>)? {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    return;
                }
                // Loom reports another thread's access that does not happen before this.
                match &mut self.0 {
                    Word::Atomic(atomic) => atomic.with_mut(|_| ()),
                    Word::Guarded(cell) => cell.with_mut(|_| ()),
                    Word::Hint(_) => {}
                }
            }
        }
    )*};
}

loom_word! {
    AtomicU8 of u8;
    AtomicU32 of u32;
    AtomicUsize of usize;
    AtomicPtr<T> of *mut T;
}

macro_rules! loom_integer {
    ($($name:ident $value:ident;)*) => {$(
        impl $name {
            fn address(&self) -> usize {
                std::ptr::from_ref(self).addr()
            }

            /// Called before every access of an atomic except a load.
            #[track_caller]
            fn get_to_write(&self) -> &atomic::$name {
                readers::before_write(self.address());
                self.get()
            }
        }

        // SAFETY: each method is one access of loom's atomic, in the given ordering or a stronger
        // one; or, if the word is not an atomic, a plain access between two of loom's switches.
        unsafe impl AtomicInt for $name {
            type Value = $value;

            #[track_caller]
            fn new(value: $value) -> Self {
                Self(Word::new(value, atomic::$name::new), life::Life::new())
            }
            #[track_caller]
            fn load(&self, order: Ordering) -> $value {
                self.1.check();
                if let Some(value) = self.0.plain() {
                    return value;
                }
                readers::before_load(self.address());
                self.get().load(order)
            }
            #[track_caller]
            fn store(&self, value: $value, order: Ordering) {
                self.1.check();
                if self.0.replace(value).is_some() {
                    return;
                }
                if order == Ordering::Relaxed {
                    self.get_to_write().store(value, order);
                } else {
                    // The top of this file gives the reason.
                    self.get_to_write().swap(value, order);
                }
            }
            forwarded! {
                Self::get_to_write =>
                fn swap(value: $value, order: Ordering) -> $value;
                fn compare_exchange(now: $value, new: $value, to: Ordering, or: Ordering) -> Result<$value, $value>;
                fn fetch_or(value: $value, order: Ordering) -> $value;
                fn fetch_and(value: $value, order: Ordering) -> $value;
            }
            #[track_caller]
            fn compare_exchange_weak(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
            #[track_caller]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                if let Some(old) = self.0.plain() {
                    self.0.replace(old.wrapping_add(value));
                    return old;
                }
                self.get_to_write().fetch_add(value, order)
            }
            #[track_caller]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                if let Some(old) = self.0.plain() {
                    self.0.replace(old.wrapping_sub(value));
                    return old;
                }
                self.get_to_write().fetch_sub(value, order)
            }
        }
    )*};
}

loom_integer! {
    AtomicU8 u8;
    AtomicU32 u32;
    AtomicUsize usize;
}

// SAFETY: as for the standard library's type: only the pointer is shared, not its target.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtomicPtr<T> {}

// SAFETY: each method is one access, as for the integers.
unsafe impl<T: 'static> AtomicPointer<T> for AtomicPtr<T> {
    #[track_caller]
    fn new(pointer: *mut T) -> Self {
        Self(Word::new(pointer, atomic::AtomicPtr::new), life::Life::new())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> *mut T {
        self.1.check();
        self.0.plain().unwrap_or_else(|| self.get().load(order))
    }
    #[track_caller]
    fn store(&self, pointer: *mut T, order: Ordering) {
        self.1.check();
        if self.0.replace(pointer).is_none() {
            self.get().store(pointer, order);
        }
    }
    #[track_caller]
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.1.check();
        self.0.replace(pointer).unwrap_or_else(|| self.get().swap(pointer, order))
    }
    forwarded! {
        Self::get =>
        fn compare_exchange(now: *mut T, new: *mut T, to: Ordering, or: Ordering) -> Result<*mut T, *mut T>;
    }
}
