//! Atomics of the simulated machine: of the same size and place as real ones, each access an event.
//!
//! Outside of simulated threads, while a round is prepared or looked at, they are plain cells.

use std::cell::Cell;
use std::fmt;

use ondeck::platform::{AtomicInt, AtomicPointer, Ordering};

use super::access;
use super::recent::{self, Step};
use super::world::on_thread;

/// An integer in simulated memory.
#[repr(transparent)]
pub struct SimInt<V: Copy>(Cell<V>);

/// A pointer in simulated memory.
#[repr(transparent)]
pub struct SimPtr<T>(Cell<*mut T>);

// SAFETY: all threads of a machine are coroutines of one OS thread, and an atomic is used by one machine only.
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
        self.0.get().fmt(f)
    }
}

impl<V: Copy> Drop for SimInt<V> {
    fn drop(&mut self) {
        access::forget(self.0.as_ptr().addr());
    }
}

impl<T> Drop for SimPtr<T> {
    fn drop(&mut self) {
        access::forget(self.0.as_ptr().addr());
    }
}

/// A value as the store buffer has it.
pub trait Bits: Copy {
    /// As an integer of the largest size.
    fn bits(self) -> u64;
    /// Of such an integer.
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
    pub(super) fn fresh(value: V) -> Self {
        Self(Cell::new(value))
    }

    /// The value that is visible: no event.
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
        note(&self.0, exchanged(old.bits(), new.map(V::bits)));
        old
    }
}

impl<T> SimPtr<T> {
    #[inline]
    fn modify(&self, change: impl FnOnce(*mut T) -> Option<*mut T>) -> *mut T {
        let address = self.0.as_ptr().addr();
        if on_thread().is_some() {
            access::exclusive(address);
        }
        let old = access::visible(address).map_or_else(|| self.0.get(), pointer);
        let new = change(old);
        if let Some(new) = new
            && access::changed(address, exposed(new))
        {
            self.0.set(new);
        }
        note(&self.0, exchanged(old.addr() as u64, new.map(|new| new.addr() as u64)));
        old
    }
}

/// A pointer is an integer in the store buffer, with its provenance exposed.
fn exposed<T>(pointer: *mut T) -> u64 {
    pointer.expose_provenance() as u64
}

fn pointer<T>(bits: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(bits as usize)
}

/// For the reader of a failure.
#[inline]
fn note<V>(cell: &Cell<V>, step: Step) {
    recent::note(Some(cell.as_ptr().addr()), step);
}

fn exchanged(old: u64, new: Option<u64>) -> Step {
    new.map_or(Step::Refused(old), |new| Step::Exchange(old, new))
}

macro_rules! integers {
    ($($value:ident)*) => {$(
        // SAFETY: an access that changes the value happens in one step, between two switches of coroutines;
        // stores become visible in the order of their CPU. The orderings are those of x86 at least: a
        // read-modify-write waits for the stores before it, and loads are not reordered.
        unsafe impl AtomicInt for SimInt<$value> {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(Cell::new(value))
            }
            #[inline]
            fn load(&self, _: Ordering) -> $value {
                if on_thread().is_some()
                    && let Some(bits) = access::load(self.0.as_ptr().addr())
                {
                    note(&self.0, Step::Load(bits));
                    return bits as $value;
                }
                note(&self.0, Step::Load(self.0.get().bits()));
                self.0.get()
            }
            #[inline]
            fn store(&self, value: $value, order: Ordering) {
                if order == Ordering::SeqCst {
                    self.modify(|_| Some(value));
                    return;
                }
                let (bits, before) = (value.bits(), || self.0.get().bits());
                let size = size_of::<$value>() as u8;
                let sets = on_thread().is_none()
                    || access::store(self.0.as_ptr().expose_provenance(), bits, size, before);
                if sets {
                    self.0.set(value);
                }
                note(&self.0, Step::Store(value.bits()));
            }
            #[inline]
            fn swap(&self, value: $value, _: Ordering) -> $value {
                self.modify(|_| Some(value))
            }
            #[inline]
            fn compare_exchange(
                &self, current: $value, new: $value, _: Ordering, _: Ordering,
            ) -> Result<$value, $value> {
                let old = self.modify(|old| (old == current).then_some(new));
                if old == current { Ok(old) } else { Err(old) }
            }
            #[inline]
            fn compare_exchange_weak(
                &self, current: $value, new: $value, success: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
            #[inline]
            fn fetch_add(&self, value: $value, _: Ordering) -> $value {
                self.modify(|old| Some(old.wrapping_add(value)))
            }
            #[inline]
            fn fetch_sub(&self, value: $value, _: Ordering) -> $value {
                self.modify(|old| Some(old.wrapping_sub(value)))
            }
            #[inline]
            fn fetch_or(&self, value: $value, _: Ordering) -> $value {
                self.modify(|old| Some(old | value))
            }
            #[inline]
            fn fetch_and(&self, value: $value, _: Ordering) -> $value {
                self.modify(|old| Some(old & value))
            }
        }
    )*};
}

integers! { u8 u32 usize }

// SAFETY: as for the integers. A pointer passes the store buffer as an integer whose provenance was exposed.
unsafe impl<T: 'static> AtomicPointer<T> for SimPtr<T> {
    fn new(pointer: *mut T) -> Self {
        Self(Cell::new(pointer))
    }
    #[inline]
    fn load(&self, _: Ordering) -> *mut T {
        if on_thread().is_some()
            && let Some(bits) = access::load(self.0.as_ptr().addr())
        {
            note(&self.0, Step::Load(bits));
            return self::pointer(bits);
        }
        note(&self.0, Step::Load(self.0.get().addr() as u64));
        self.0.get()
    }
    #[inline]
    fn store(&self, pointer: *mut T, order: Ordering) {
        if order == Ordering::SeqCst {
            self.modify(|_| Some(pointer));
            return;
        }
        let (bits, before) = (exposed(pointer), || exposed(self.0.get()));
        let address = self.0.as_ptr().expose_provenance();
        let size = size_of::<*mut T>() as u8;
        if on_thread().is_none() || access::store(address, bits, size, before) {
            self.0.set(pointer);
        }
        note(&self.0, Step::Store(bits));
    }
    #[inline]
    fn swap(&self, pointer: *mut T, _: Ordering) -> *mut T {
        self.modify(|_| Some(pointer))
    }
    #[inline]
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        _: Ordering,
        _: Ordering,
    ) -> Result<*mut T, *mut T> {
        let old = self.modify(|old| (old == current).then_some(new));
        if old == current { Ok(old) } else { Err(old) }
    }
}
