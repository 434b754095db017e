//! A lock, and a cell that it guards, as the scenarios of the exclusive and the reader-writer locks have them.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;

/// A lock, and a cell that it guards. Loom reports a race if exclusion or a happens-before edge is missing
/// between two accesses to the cell.
pub struct Guarded<L> {
    // Dropped by hand: see `free`.
    raw: ManuallyDrop<L>,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is only touched under the lock; loom checks that this is true.
unsafe impl<L: Sync> Sync for Guarded<L> {}
// SAFETY: as above.
unsafe impl<L: Send> Send for Guarded<L> {}

impl<L> Guarded<L> {
    /// Never freed, so that an access after its end is noticed and is not undefined behaviour. This costs a
    /// hundred bytes an execution.
    pub fn of(lock: L) -> &'static Self {
        let raw = ManuallyDrop::new(lock);
        Box::leak(Box::new(Self { raw, count: UnsafeCell::new(0) }))
    }

    /// The lock.
    pub fn raw(&self) -> &L {
        &self.raw
    }

    pub fn address(&self) -> usize {
        std::ptr::from_ref(self.raw()).addr()
    }

    /// Counts; the caller owns the lock.
    pub fn count(&self) -> u32 {
        self.count.with_mut(|count| {
            // SAFETY: the lock guards it.
            unsafe {
                *count += 1;
                *count
            }
        })
    }

    /// What was counted; the caller has the lock.
    pub fn counted(&self) -> u32 {
        self.count.with(|count| {
            // SAFETY: the lock guards it.
            unsafe { *count }
        })
    }

    /// From now on the lock is gone.
    ///
    /// # Safety
    ///
    /// No thread uses it any more. This function does not check that, but the model does.
    pub unsafe fn free(&self) {
        // SAFETY: as the caller promises, no reference to it is used any more; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.raw).cast_mut()) };
    }
}
