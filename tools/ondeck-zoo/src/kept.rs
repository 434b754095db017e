//! Storage in a thread's context for a guard, for locks whose unlock needs it.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// Makes a function that keeps a guard of the type until the unlock.
macro_rules! keeps {
    ($keep:ident $Guard:ident) => {
        #[inline(always)]
        fn $keep(context: &$crate::Kept<$Guard<'static, ()>>, guard: $Guard<'_, ()>) {
            use std::mem::transmute;
            // SAFETY: only the lifetime changes. The guard is used once more, by the unlock, whose
            // caller has the lock still borrowed; without an unlock it is never used or dropped.
            let guard = unsafe { transmute::<$Guard<'_, ()>, $Guard<'static, ()>>(guard) };
            context.keep(guard);
        }
    };
}

/// The guard while its thread holds the lock; uninitialized between acquisitions.
#[derive(Debug)]
pub struct Kept<G>(UnsafeCell<MaybeUninit<G>>);

impl<G> Default for Kept<G> {
    fn default() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

impl<G> Kept<G> {
    #[inline(always)]
    pub(crate) fn keep(&self, guard: G) {
        // SAFETY: the context serves this acquisition alone, and is not shared between threads
        // (it is not `Sync`), so no other reads it.
        unsafe { (*self.0.get()).write(guard) };
    }

    /// # Safety
    ///
    /// The calling thread acquired the lock with this context. Called once for each acquisition.
    #[inline(always)]
    pub(crate) unsafe fn take(&self) -> G {
        // SAFETY: the acquisition stored the guard, which is taken out once.
        unsafe { (*self.0.get()).assume_init_read() }
    }
}
