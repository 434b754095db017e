//! A guard of the checker in a lock, or in a raw guard of it.

use core::mem::MaybeUninit;

/// A guard of the checker that may outlive its object, of which it has a reference then: it is
/// forgotten rather than dropped, and its bytes may have any value.
pub struct Kept<G>(MaybeUninit<G>);

impl<G> Kept<G> {
    pub const fn of(guard: G) -> Self {
        Self(MaybeUninit::new(guard))
    }

    /// # Safety
    ///
    /// The lock still exists whose object the guard is of.
    pub unsafe fn guard(self) -> G {
        // SAFETY: it was made with a guard, whose object exists, as the caller promises.
        unsafe { self.0.assume_init() }
    }
}
