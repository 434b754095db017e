//! The atomics of the hooked platform. Bytes and machine words have hooks, reads of pointers are
//! counted, and writes are recorded.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use ondeck::platform::{AtomicInt, AtomicPointer};

use super::Hooks;
use super::calls::{Write, count_call, note_write};

fn nothing() {}

macro_rules! hooked_integers {
    ($($(#[$about:meta])* $name:ident $atomic:ident $value:ident $load:path, $store:path, $swap:path;)*) => {$(
        $(#[$about])*
        #[repr(transparent)]
        pub struct $name<H>(pub(super) $atomic, PhantomData<H>);

        impl<H> fmt::Debug for $name<H> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<H> $name<H> {
            /// Returns the atomic, for a modification.
            fn changed(&self) -> &$atomic {
                note_write(Write::Change, self);
                &self.0
            }
        }

        // SAFETY: the atomic of `core`; a hook that stores later emulates a store buffer.
        unsafe impl<H: Hooks> AtomicInt for $name<H> {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self($atomic::new(value), PhantomData)
            }
            fn load(&self, order: Ordering) -> $value {
                $load(&self.0, order)
            }
            fn store(&self, value: $value, order: Ordering) {
                note_write(Write::Store, self);
                $store(&self.0, value, order);
            }
            fn swap(&self, value: $value, order: Ordering) -> $value {
                $swap();
                self.changed().swap(value, order)
            }
            forwarded! {
                Self::changed =>
                fn compare_exchange(now: $value, new: $value, to: Ordering, or: Ordering) -> Result<$value, $value>;
                fn compare_exchange_weak(now: $value, new: $value, to: Ordering, or: Ordering) -> Result<$value, $value>;
                fn fetch_add(value: $value, order: Ordering) -> $value;
                fn fetch_sub(value: $value, order: Ordering) -> $value;
                fn fetch_or(value: $value, order: Ordering) -> $value;
                fn fetch_and(value: $value, order: Ordering) -> $value;
            }
        }
    )*};
}

hooked_integers! {
    /// The byte of a lock.
    Byte AtomicU8 u8 AtomicU8::load, H::store, H::attempt;
    /// The word of a lock or of a futex.
    Word AtomicU32 u32 AtomicU32::load, AtomicU32::store, nothing;
    /// A machine word of the table or of a node.
    Number AtomicUsize usize H::load_number, H::store_number, nothing;
}

/// A pointer of the table.
pub struct Pointer<T>(AtomicPtr<T>);

impl<T> fmt::Debug for Pointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Pointer<T> {
    /// Returns the atomic, for a modification.
    fn changed(&self) -> &AtomicPtr<T> {
        note_write(Write::Change, self);
        &self.0
    }
}

// SAFETY: the atomic of `core`.
unsafe impl<T: 'static> AtomicPointer<T> for Pointer<T> {
    fn new(pointer: *mut T) -> Self {
        Self(AtomicPtr::new(pointer))
    }
    fn load(&self, order: Ordering) -> *mut T {
        count_call(|calls| calls.pointers += 1);
        self.0.load(order)
    }
    fn store(&self, pointer: *mut T, order: Ordering) {
        note_write(Write::Store, self);
        self.0.store(pointer, order);
    }
    forwarded! {
        Self::changed =>
        fn swap(pointer: *mut T, order: Ordering) -> *mut T;
        fn compare_exchange(now: *mut T, new: *mut T, to: Ordering, or: Ordering) -> Result<*mut T, *mut T>;
    }
}
