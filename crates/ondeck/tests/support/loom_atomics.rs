//! Loom's atomics as a platform's.
//!
//! A release store is an exchange here. Loom does not see that a store which follows a
//! read-modify-write of the same thread comes after whatever another thread's read-modify-write
//! put between the two, and lets a later one read the older value: the three-state futex, whose
//! waiters exchange while the owner stores, then deadlocks in the model though never on a machine.
//! The exchange is stronger than the store in one respect, it continues a release sequence; that
//! is written in `docs/limits.md`. Relaxed stores stay stores.
//!
//! An atomic that is dropped must not be accessed at the same time, nor afterwards: every access of
//! another thread has to happen before, and each asks [`watch::Life`].

use loom::sync::atomic;
use ondeck::platform::{AtomicInt, AtomicPointer, Ordering};

use super::{fence, readers, watch};

macro_rules! loom_integer {
    ($($name:ident $value:ident $changed:path, $read:path;)*) => {$(
        #[derive(Debug)]
        pub struct $name(atomic::$name, watch::Life);

        impl $name {
            /// Before every access.
            #[track_caller]
            fn get(&self) -> &atomic::$name {
                self.1.check();
                fence::before_access();
                &self.0
            }

            /// Before every access but a load.
            #[track_caller]
            fn get_to_write(&self) -> &atomic::$name {
                readers::before_write(std::ptr::from_ref(self).addr());
                self.get()
            }

            /// After a read-modify-write that found `old`.
            fn changed(&self, old: $value, new: $value) -> $value {
                $changed(std::ptr::from_ref(self).addr(), old, new);
                old
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                if !std::thread::panicking() {
                    // Says so if another thread's access does not happen before.
                    self.0.with_mut(|_| ());
                }
            }
        }

        // SAFETY: each method is one access of loom's atomic, in the ordering given or a stronger one.
        unsafe impl AtomicInt for $name {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(atomic::$name::new(value), watch::Life::new())
            }
            #[track_caller]
            fn load(&self, order: Ordering) -> $value {
                readers::before_load(std::ptr::from_ref(self).addr());
                let value = self.get().load(order);
                $read(std::ptr::from_ref(self).addr(), value);
                value
            }
            #[track_caller]
            fn store(&self, value: $value, order: Ordering) {
                if order == Ordering::Relaxed {
                    self.get_to_write().store(value, order);
                } else {
                    // See above on why.
                    self.swap(value, order);
                }
            }
            #[track_caller]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                let old = self.get_to_write().swap(value, order);
                self.changed(old, value)
            }
            #[track_caller]
            fn compare_exchange(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                let exchanged = self.get_to_write().compare_exchange(current, new, success, failure);
                exchanged.map(|old| self.changed(old, new))
            }
            #[track_caller]
            fn compare_exchange_weak(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
            #[track_caller]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_add(value, order)
            }
            #[track_caller]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_sub(value, order)
            }
            #[track_caller]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_or(value, order)
            }
            #[track_caller]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.get_to_write().fetch_and(value, order)
            }
        }
    )*};
}

loom_integer! {
    AtomicU8 u8 watch::byte, watch::nothing;
    AtomicU32 u32 watch::word, watch::status;
    AtomicUsize usize watch::number, watch::nothing;
}

#[derive(Debug)]
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>, watch::Life);

// SAFETY: as for the standard library's: the pointer is shared, what it points to is the user's.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// Before every access.
    #[track_caller]
    fn get(&self) -> &atomic::AtomicPtr<T> {
        self.1.check();
        fence::before_access();
        &self.0
    }
}

impl<T> Drop for AtomicPtr<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
    }
}

// SAFETY: each method is one access of loom's atomic.
unsafe impl<T: 'static> AtomicPointer<T> for AtomicPtr<T> {
    fn new(pointer: *mut T) -> Self {
        Self(atomic::AtomicPtr::new(pointer), watch::Life::new())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> *mut T {
        self.get().load(order)
    }
    #[track_caller]
    fn store(&self, pointer: *mut T, order: Ordering) {
        self.get().store(pointer, order);
    }
    #[track_caller]
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.get().swap(pointer, order)
    }
    #[track_caller]
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.get().compare_exchange(current, new, success, failure)
    }
}
