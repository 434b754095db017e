//! Data guarded by any lock of the zoo, without `unsafe` for its user.

use std::cell::UnsafeCell;
use std::marker::PhantomData;

use ondeck::platform::{Native, Platform};

use crate::RawLock;

/// A value that one thread at a time may touch, guarded by the lock `L`.
///
/// The critical section is a closure rather than a guard because the context of a queue lock must
/// not move while the lock is held.
#[derive(Debug)]
pub struct Mutex<L, T, P = Native> {
    lock: L,
    value: UnsafeCell<T>,
    platform: PhantomData<P>,
}

// SAFETY: `with` hands out the value once at a time, as `RawLock` promises; the value is sent from
// one thread to the next, so it must be `Send`.
unsafe impl<L: Sync, T: Send, P> Sync for Mutex<L, T, P> {}

impl<P: Platform, L: RawLock<P>, T> Mutex<L, T, P> {
    /// An unlocked mutex around `value`.
    ///
    /// A lock that its owner may lock again is refused: a section within a section would have a
    /// second exclusive reference to the value.
    ///
    /// ```compile_fail,E0080
    /// use ondeck_zoo::{Mutex, own::OndeckReentrant};
    ///
    /// Mutex::<OndeckReentrant, u32>::new(0);
    /// ```
    pub fn new(value: T) -> Self {
        const { assert!(!L::IS_REENTRANT, "its sections could nest") };
        Self { lock: L::new(), value: UnsafeCell::new(value), platform: PhantomData }
    }

    /// Makes a thread's context for this mutex: one for each thread, for any number of
    /// acquisitions.
    pub fn context(&self) -> L::Context {
        L::Context::default()
    }

    /// Locks, runs `section`, and unlocks, even if `section` panics.
    #[inline]
    pub fn with<R>(&self, context: &mut L::Context, section: impl FnOnce(&mut T) -> R) -> R {
        let context = &*context;
        // SAFETY: the exclusive borrow keeps the context in place and out of other uses until this
        // function returns, which is after the unlock.
        unsafe { self.lock.lock(context) };
        // SAFETY: the lock was just acquired with this context. If this thread were in another
        // section, it would still wait, because `new` takes no reentrant lock.
        unsafe { self.run(context, section) }
    }

    /// Like [`with`](Self::with), but returns at once if the lock is taken.
    #[inline]
    pub fn try_with<R>(
        &self,
        context: &mut L::Context,
        section: impl FnOnce(&mut T) -> R,
    ) -> Option<R> {
        let context = &*context;
        // SAFETY: as in `with`.
        if unsafe { self.lock.try_lock(context) } {
            // SAFETY: the lock was just acquired with this context.
            Some(unsafe { self.run(context, section) })
        } else {
            None
        }
    }

    /// Whether the lock is in its initial state; see [`RawLock::is_idle`].
    pub fn is_idle(&mut self) -> bool {
        self.lock.is_idle()
    }

    /// Returns the value. No thread can hold the lock any more.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    /// # Safety
    ///
    /// The calling thread holds the lock, acquired with `context`; this call unlocks it.
    #[inline(always)]
    unsafe fn run<R>(&self, context: &L::Context, section: impl FnOnce(&mut T) -> R) -> R {
        struct Release<'a, P: Platform, L: RawLock<P>>(&'a L, &'a L::Context);
        impl<P: Platform, L: RawLock<P>> Drop for Release<'_, P, L> {
            #[inline(always)]
            fn drop(&mut self) {
                // SAFETY: only `run` makes this, and its caller holds the lock by this context.
                unsafe { self.0.unlock(self.1) };
            }
        }
        let _release = Release::<P, L>(&self.lock, context);
        // SAFETY: holding the lock makes this thread the only one that reaches the value.
        section(unsafe { &mut *self.value.get() })
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use ondeck::platform::Native;

    use super::*;
    use crate::locks::Mcs;

    #[test]
    fn a_panic_in_the_section_unlocks_and_poisons_nothing() {
        let mut value = Mutex::<Mcs<Native>, u32>::new(0);
        let mut context = value.context();
        let section = AssertUnwindSafe(|| value.with(&mut context, |_| resume_unwind(Box::new(1))));
        assert!(catch_unwind(section).is_err() && value.is_idle());
        value.with(&mut context, |value| *value += 1);
        assert_eq!(value.try_with(&mut context, |value| *value), Some(1));
    }
}
