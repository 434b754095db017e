//! Shuttle's atomics, each access with a look whether the memory is still there.

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering};
use shuttle::sync::atomic;

use super::life::Life;
use super::one_in;

macro_rules! shuttle_integer {
    ($($name:ident $value:ident;)*) => {$(
        #[derive(Debug)]
        pub struct $name(atomic::$name, Life);

        impl $name {
            /// An access; the memory must be there before and after it: it may have gone while other threads ran.
            fn access<R>(&self, access: impl FnOnce(&atomic::$name) -> R) -> R {
                self.1.check();
                let result = access(&self.0);
                self.1.check();
                result
            }
        }

        // SAFETY: each method is one access of shuttle's atomic.
        unsafe impl AtomicInt for $name {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(atomic::$name::new(value), Life::new())
            }
            fn load(&self, order: Ordering) -> $value {
                self.access(|atomic| atomic.load(order))
            }
            fn store(&self, value: $value, order: Ordering) {
                self.access(|atomic| atomic.store(value, order));
            }
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.access(|atomic| atomic.swap(value, order))
            }
            fn compare_exchange(
                &self, now: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.access(|atomic| atomic.compare_exchange(now, new, success, failure))
            }
            fn compare_exchange_weak(
                &self, now: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                if one_in(8) {
                    return Err(self.load(failure));
                }
                self.compare_exchange(now, new, success, failure)
            }
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.access(|atomic| atomic.fetch_add(value, order))
            }
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.access(|atomic| atomic.fetch_sub(value, order))
            }
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.access(|atomic| atomic.fetch_or(value, order))
            }
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.access(|atomic| atomic.fetch_and(value, order))
            }
        }
    )*};
}

shuttle_integer! {
    AtomicU8 u8;
    AtomicU32 u32;
    AtomicUsize usize;
}

#[derive(Debug)]
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>, Life);

// SAFETY: as for the standard library's type: only the pointer is shared, not what it points to.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// An access; the memory must be there before and after it.
    fn access<R>(&self, access: impl FnOnce(&atomic::AtomicPtr<T>) -> R) -> R {
        self.1.check();
        let result = access(&self.0);
        self.1.check();
        result
    }
}

// SAFETY: each method is one access of shuttle's atomic.
unsafe impl<T: 'static> AtomicPointer<T> for AtomicPtr<T> {
    fn new(pointer: *mut T) -> Self {
        Self(atomic::AtomicPtr::new(pointer), Life::new())
    }
    fn load(&self, order: Ordering) -> *mut T {
        self.access(|atomic| atomic.load(order))
    }
    fn store(&self, pointer: *mut T, order: Ordering) {
        self.access(|atomic| atomic.store(pointer, order));
    }
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.access(|atomic| atomic.swap(pointer, order))
    }
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.access(|atomic| atomic.compare_exchange(current, new, success, failure))
    }
}
