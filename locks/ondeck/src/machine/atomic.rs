//! Atomic integers and pointers as traits, so that a lock can run on a machine whose memory
//! accesses are events: a model checker's or a simulator's.

use core::fmt;
use core::sync::atomic;

use super::Ordering;

/// An integer shared between threads: the operations that locks use, with their C++20 orderings.
///
/// On [`Native`](crate::platform::Native) each method is the instruction of the same name and
/// nothing else. Orderings that the operation does not allow (a `Release` load) panic, as in
/// `core`.
///
/// # Safety
///
/// Locks rely on an implementation for mutual exclusion, and so for the memory safety of the data
/// that they protect.
///
/// * Each method is one access, indivisible to all threads. The changes of one atomic have one
///   order, in which a read-modify-write reads the value right before the one that it writes.
/// * Each access has at least the ordering that it is given, in the C++20 model.
/// * A method does what its name states: a load returns a value that was written there; an exchange
///   that returns `Ok` has found `current` and written `new`; one that returns `Err` has written
///   nothing.
/// * Nothing but these methods changes the value.
pub unsafe trait AtomicInt: fmt::Debug + Send + Sync + 'static {
    /// The plain integer inside.
    type Value: Copy + Eq;

    /// Creates an atomic that holds `value`.
    fn new(value: Self::Value) -> Self;
    /// Reads the value.
    fn load(&self, order: Ordering) -> Self::Value;
    /// Writes the value.
    fn store(&self, value: Self::Value, order: Ordering);
    /// Writes `value` and returns the previous value.
    fn swap(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Writes `new` if the value is `current`. Returns the previous value, as `Ok` if it wrote.
    ///
    /// # Errors
    ///
    /// `Err` with the value found, which was not `current`.
    fn compare_exchange(
        &self,
        current: Self::Value,
        new: Self::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self::Value, Self::Value>;
    /// As [`compare_exchange`](Self::compare_exchange), but may fail although the value matched. On
    /// load-linked machines it is one instruction pair shorter, for use in a loop.
    ///
    /// # Errors
    ///
    /// `Err` with the value found.
    fn compare_exchange_weak(
        &self,
        current: Self::Value,
        new: Self::Value,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self::Value, Self::Value>;
    /// Adds, wrapping around. Returns the previous value.
    fn fetch_add(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Subtracts, wrapping around. Returns the previous value.
    fn fetch_sub(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Sets bits. Returns the previous value.
    fn fetch_or(&self, value: Self::Value, order: Ordering) -> Self::Value;
    /// Keeps only the bits of `value`. Returns the previous value.
    fn fetch_and(&self, value: Self::Value, order: Ordering) -> Self::Value;
}

/// A pointer shared between threads; see [`AtomicInt`] for the operations.
///
/// # Safety
///
/// As for [`AtomicInt`]; in addition, a pointer is returned as it was written, with its provenance.
pub unsafe trait AtomicPointer<T>: Send + Sync + 'static {
    /// Creates an atomic that holds `pointer`.
    fn new(pointer: *mut T) -> Self;
    /// Reads the pointer.
    fn load(&self, order: Ordering) -> *mut T;
    /// Writes the pointer.
    fn store(&self, pointer: *mut T, order: Ordering);
    /// Writes `pointer` and returns the previous one.
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T;
    /// Writes `new` if the pointer is `current`. Returns the previous one, as `Ok` if it wrote.
    ///
    /// # Errors
    ///
    /// `Err` with the pointer found, which was not `current`.
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T>;
}

/// Methods that forward to the methods of the same names of `core`'s atomic.
macro_rules! of_core {
    ($($name:ident($($arg:ident: $Type:ty),*) $(-> $Result:ty)?;)*) => {$(
        #[inline(always)]
        fn $name(&self, $($arg: $Type),*) $(-> $Result)? {
            self.$name($($arg),*)
        }
    )*};
}

macro_rules! real_integer {
    ($($atomic:ident $value:ident)*) => {$(
        // SAFETY: these are the atomics of `core`, and their methods of the same names are called.
        unsafe impl AtomicInt for atomic::$atomic {
            type Value = $value;

            #[inline(always)]
            fn new(value: $value) -> Self {
                Self::new(value)
            }
            of_core! {
                load(order: Ordering) -> $value;
                store(value: $value, order: Ordering);
                swap(value: $value, order: Ordering) -> $value;
                compare_exchange(current: $value, new: $value, success: Ordering, failure: Ordering) -> Result<$value, $value>;
                compare_exchange_weak(current: $value, new: $value, success: Ordering, failure: Ordering) -> Result<$value, $value>;
                fetch_add(value: $value, order: Ordering) -> $value;
                fetch_sub(value: $value, order: Ordering) -> $value;
                fetch_or(value: $value, order: Ordering) -> $value;
                fetch_and(value: $value, order: Ordering) -> $value;
            }
        }
    )*};
}

real_integer! { AtomicU8 u8 AtomicU32 u32 AtomicUsize usize }

// SAFETY: as for the integers.
unsafe impl<T: 'static> AtomicPointer<T> for atomic::AtomicPtr<T> {
    #[inline(always)]
    fn new(pointer: *mut T) -> Self {
        Self::new(pointer)
    }
    of_core! {
        load(order: Ordering) -> *mut T;
        store(pointer: *mut T, order: Ordering);
        swap(pointer: *mut T, order: Ordering) -> *mut T;
        compare_exchange(current: *mut T, new: *mut T, success: Ordering, failure: Ordering) -> Result<*mut T, *mut T>;
    }
}
