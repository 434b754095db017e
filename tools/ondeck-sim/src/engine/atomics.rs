//! Atomics of the simulated machine, with the size and place of real ones; each access is an event.
//!
//! Outside of simulated threads, while a round is prepared or inspected, they are plain cells. No
//! type prevents a program from sharing one between two threads of its own; that is a data race.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering};

use super::access;
use super::world::on_thread;

/// An integer in simulated memory.
#[repr(transparent)]
pub struct SimInt<V: Copy>(Cell<V>);

/// A pointer in simulated memory: an integer with exposed provenance, so that the store buffer can
/// hold it.
#[repr(transparent)]
pub struct SimPtr<T>(SimInt<usize>, PhantomData<*mut T>);

// SAFETY: all threads of a machine are coroutines of one OS thread, and an atomic is used by one
// machine only.
unsafe impl<V: Copy + Send> Send for SimInt<V> {}
// SAFETY: as above.
unsafe impl<V: Copy + Send> Sync for SimInt<V> {}
// SAFETY: as above.
unsafe impl<T> Send for SimPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for SimPtr<T> {}

impl<V: Copy + fmt::Debug> fmt::Debug for SimInt<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.get().fmt(f)
    }
}

impl<T> fmt::Debug for SimPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<V: Copy> Drop for SimInt<V> {
    fn drop(&mut self) {
        access::forget(self.0.as_ptr().addr());
    }
}

/// A value in the form of the store buffer.
pub trait Bits: Copy + Eq + fmt::Debug + Send + 'static {
    /// As an integer of the largest size.
    fn bits(self) -> u64;
    /// Of such an integer, whose upper bits are cut off.
    fn of(bits: u64) -> Self;
}

macro_rules! bits {
    ($($value:ident)*) => {$(
        impl Bits for $value {
            #[inline]
            #[allow(clippy::cast_lossless, reason = "lossless for some of the types only")]
            fn bits(self) -> u64 {
                self as u64
            }
            #[inline]
            fn of(bits: u64) -> Self {
                bits as Self
            }
        }
    )*};
}

bits! { u8 u32 usize }

impl<V: Bits> SimInt<V> {
    /// The visible value; reading it is no event.
    pub(super) fn visible(&self) -> V {
        access::visible(self.0.as_ptr().addr()).map_or_else(|| self.0.get(), V::of)
    }

    /// A read-modify-write in one step.
    #[inline]
    pub(super) fn modify(&self, change: impl FnOnce(V) -> Option<V>) -> V {
        let address = self.0.as_ptr().addr();
        if on_thread().is_some() {
            access::exclusive(address);
        }
        let old = self.visible();
        let new = change(old);
        if let Some(new) = new
            && access::changed(address, new.bits())
        {
            self.0.set(new);
        }
        old
    }
}

// SAFETY: an access that changes the value happens in one step, between two switches of coroutines;
// stores become visible in the order of their CPU. The orderings are those of x86 at least: a
// read-modify-write waits for the stores before it, and loads are not reordered.
unsafe impl<V: Bits> AtomicInt for SimInt<V> {
    type Value = V;

    fn new(value: V) -> Self {
        Self(Cell::new(value))
    }
    #[inline]
    fn load(&self, _: Ordering) -> V {
        let address = self.0.as_ptr().addr();
        let seen = if on_thread().is_some() { access::load(address) } else { None };
        seen.map_or_else(|| self.0.get(), V::of)
    }
    #[inline]
    fn store(&self, value: V, order: Ordering) {
        if order == Ordering::SeqCst {
            self.modify(|_| Some(value));
            return;
        }
        let (bits, before) = (value.bits(), || self.0.get().bits());
        let size = size_of::<V>() as u8;
        let sets = on_thread().is_none()
            || access::store(self.0.as_ptr().expose_provenance(), bits, size, &before);
        if sets {
            self.0.set(value);
        }
    }
    #[inline]
    fn swap(&self, value: V, _: Ordering) -> V {
        self.modify(|_| Some(value))
    }
    #[inline]
    fn compare_exchange(&self, current: V, new: V, _: Ordering, _: Ordering) -> Result<V, V> {
        let old = self.modify(|old| (old == current).then_some(new));
        if old == current { Ok(old) } else { Err(old) }
    }
    #[inline]
    fn compare_exchange_weak(
        &self,
        current: V,
        new: V,
        success: Ordering,
        failure: Ordering,
    ) -> Result<V, V> {
        self.compare_exchange(current, new, success, failure)
    }
    #[inline]
    fn fetch_add(&self, value: V, _: Ordering) -> V {
        self.modify(|old| Some(V::of(old.bits().wrapping_add(value.bits()))))
    }
    #[inline]
    fn fetch_sub(&self, value: V, _: Ordering) -> V {
        self.modify(|old| Some(V::of(old.bits().wrapping_sub(value.bits()))))
    }
    #[inline]
    fn fetch_or(&self, value: V, _: Ordering) -> V {
        self.modify(|old| Some(V::of(old.bits() | value.bits())))
    }
    #[inline]
    fn fetch_and(&self, value: V, _: Ordering) -> V {
        self.modify(|old| Some(V::of(old.bits() & value.bits())))
    }
}

// SAFETY: as for the integers; each pointer is an integer whose provenance was exposed.
unsafe impl<T: 'static> AtomicPointer<T> for SimPtr<T> {
    fn new(pointer: *mut T) -> Self {
        Self(AtomicInt::new(pointer.expose_provenance()), PhantomData)
    }
    #[inline]
    fn load(&self, order: Ordering) -> *mut T {
        ptr::with_exposed_provenance_mut(self.0.load(order))
    }
    #[inline]
    fn store(&self, pointer: *mut T, order: Ordering) {
        self.0.store(pointer.expose_provenance(), order);
    }
    #[inline]
    fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        ptr::with_exposed_provenance_mut(self.0.swap(pointer.expose_provenance(), order))
    }
    #[inline]
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        let new = new.expose_provenance();
        let exchanged = self.0.compare_exchange(current.addr(), new, success, failure);
        exchanged.map(ptr::with_exposed_provenance_mut).map_err(ptr::with_exposed_provenance_mut)
    }
}
