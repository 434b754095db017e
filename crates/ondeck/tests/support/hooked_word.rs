//! The words of the hooked machine.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use ondeck::platform::AtomicInt;

/// A word of the table, or of a node, which notes when another thread than its own changes `NEAR`: a near
/// thread, which runs, is then told what to do.
#[repr(C)]
pub struct Word {
    value: AtomicU32,
    told: AtomicBool,
    maker: usize,
}

impl Word {
    /// The word itself, at the same address.
    pub fn value(&self) -> &AtomicU32 {
        &self.value
    }

    /// Whether another thread has changed `NEAR` since the last call of this.
    pub fn take_told(&self) -> bool {
        self.told.swap(false, Ordering::Relaxed)
    }

    /// The status of a near thread, in `parking/node.rs`.
    const NEAR: u32 = 1;

    /// Changes the value. Notes are made before the change, because the word may be gone behind it.
    fn change(&self, to: u32, change: impl FnOnce(&AtomicU32) -> bool) {
        let before = self.value.load(Ordering::Relaxed);
        let is_told = before == Self::NEAR && to != Self::NEAR && self.maker != this_thread();
        if is_told {
            self.told.store(true, Ordering::Relaxed);
        }
        if !change(&self.value) && is_told {
            // The thread has left `NEAR` by itself, so the word is still there.
            self.told.store(false, Ordering::Relaxed);
        }
    }
}

/// A different value for each thread, never 0.
fn this_thread() -> usize {
    std::thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

// SAFETY: the atomic of `core`.
unsafe impl AtomicInt for Word {
    type Value = u32;

    fn new(value: u32) -> Self {
        let (value, told) = (AtomicU32::new(value), AtomicBool::new(false));
        Self { value, told, maker: this_thread() }
    }
    fn load(&self, order: Ordering) -> u32 {
        self.value.load(order)
    }
    fn store(&self, value: u32, order: Ordering) {
        self.change(value, |word| {
            word.store(value, order);
            true
        });
    }
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.value.swap(value, order)
    }
    fn compare_exchange(&self, now: u32, new: u32, to: Ordering, or: Ordering) -> Result<u32, u32> {
        let mut result = Err(now);
        self.change(new, |word| {
            result = word.compare_exchange(now, new, to, or);
            result.is_ok()
        });
        result
    }
    fn compare_exchange_weak(
        &self,
        now: u32,
        new: u32,
        to: Ordering,
        or: Ordering,
    ) -> Result<u32, u32> {
        self.compare_exchange(now, new, to, or)
    }
    fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        self.value.fetch_add(value, order)
    }
    fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
        self.value.fetch_sub(value, order)
    }
    fn fetch_or(&self, value: u32, order: Ordering) -> u32 {
        self.value.fetch_or(value, order)
    }
    fn fetch_and(&self, value: u32, order: Ordering) -> u32 {
        self.value.fetch_and(value, order)
    }
}
