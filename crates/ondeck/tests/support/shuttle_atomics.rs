//! Shuttle's atomics, each access watched: what it changes, and whether the memory is still there.

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering};
use shuttle::sync::atomic;

use super::{one_in, watch};

macro_rules! shuttle_integer {
    ($($name:ident $value:ident $changed:path, $read:path, $stored:path;)*) => {$(
        #[derive(Debug)]
        pub struct $name(atomic::$name, watch::Life);

        impl $name {
            /// After shuttle's switch, in the same step as the access: the memory may have gone while other
            /// threads ran.
            fn changed(&self, old: $value, new: $value) -> $value {
                self.1.check();
                $changed(std::ptr::from_ref(self).addr(), old, new);
                old
            }
        }

        // SAFETY: each method is one access of shuttle's atomic; the watching happens in the same step.
        unsafe impl AtomicInt for $name {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(atomic::$name::new(value), watch::Life::new())
            }
            fn load(&self, order: Ordering) -> $value {
                self.1.check();
                let value = self.0.load(order);
                self.1.check();
                $read(std::ptr::from_ref(self).addr(), value, order);
                value
            }
            fn store(&self, value: $value, order: Ordering) {
                self.1.check();
                self.0.store(value, order);
                self.1.check();
                $stored(std::ptr::from_ref(self).addr(), value);
            }
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.1.check();
                let old = self.0.swap(value, order);
                self.changed(old, value)
            }
            fn compare_exchange(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.1.check();
                let exchanged = self.0.compare_exchange(current, new, success, failure);
                self.1.check();
                exchanged.map(|old| self.changed(old, new))
            }
            fn compare_exchange_weak(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                if one_in(8) {
                    return Err(self.load(failure));
                }
                self.compare_exchange(current, new, success, failure)
            }
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.1.check();
                let old = self.0.fetch_add(value, order);
                self.1.check();
                old
            }
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.1.check();
                let old = self.0.fetch_sub(value, order);
                self.1.check();
                old
            }
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.1.check();
                let old = self.0.fetch_or(value, order);
                self.changed(old, old | value)
            }
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.1.check();
                let old = self.0.fetch_and(value, order);
                self.changed(old, old & value)
            }
        }
    )*};
}

shuttle_integer! {
    AtomicU8 u8 watch::unchanged, watch::not_read, watch::nothing;
    AtomicU32 u32 watch::word, watch::status, watch::nothing;
    AtomicUsize usize watch::marks, watch::not_read, watch::number;
}

#[derive(Debug)]
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>, watch::Life);

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
        Self(atomic::AtomicPtr::new(pointer), watch::Life::new())
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
