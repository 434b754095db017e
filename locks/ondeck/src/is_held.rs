//! Whether the calling thread holds a lock.

use crate::observe;
use crate::{FairMutex, Mutex, ReentrantMutex, RwLock, poison};

/// The question to a lock whether the calling thread holds it, for assertions: alone, so that a
/// reader of a [`RwLock`](crate::RwLock) does not.
///
/// | lock | answers |
/// |---|---|
/// | [`ReentrantMutex`](crate::ReentrantMutex), `PiMutex` | always: the lock has its owner's identifier |
/// | [`Mutex`](crate::Mutex), [`FairMutex`](crate::FairMutex), [`RwLock`](crate::RwLock), those of [`poison`](crate::poison) | if no thread holds it alone; in builds of this crate with debug assertions also if one does, except for some of them while threads hold many |
///
/// An answer orders nothing. It costs a load or, in builds with debug assertions, eight.
///
/// ```
/// use ondeck::{IsHeld, Mutex};
///
/// static TOTAL: Mutex<u32> = Mutex::new(0);
///
/// /// Its caller has `TOTAL` locked.
/// fn part_of_a_section() {
///     TOTAL.assert_held();
/// }
///
/// assert_eq!(TOTAL.is_held_by_current_thread(), Some(false));
/// let total = TOTAL.lock();
/// part_of_a_section();
/// assert_eq!(TOTAL.is_held_by_current_thread(), cfg!(debug_assertions).then_some(true));
/// # drop(total);
/// ```
pub trait IsHeld: sealed::Asked {
    /// Returns whether the calling thread holds the lock alone; `None` if this build does not know.
    ///
    /// Never use it to decide whether to lock: `None` is no answer.
    #[inline]
    fn is_held_by_current_thread(&self) -> Option<bool> {
        self.is_held_here()
    }

    /// Panics if it is known that the calling thread does not hold the lock alone.
    ///
    /// # Panics
    ///
    /// Then, with the caller's location.
    #[inline]
    #[track_caller]
    fn assert_held(&self) {
        assert!(self.is_held_here() != Some(false), "this thread does not hold the lock");
    }
}

impl<L: sealed::Asked + ?Sized> IsHeld for L {}

mod sealed {
    pub trait Asked {
        fn is_held_here(&self) -> Option<bool>;
    }
}

macro_rules! observed {
    ($($Lock:ident)*) => {$(
        impl<T: ?Sized> sealed::Asked for $Lock<T> {
            fn is_held_here(&self) -> Option<bool> {
                // SAFETY: the lock is only asked.
                observe::is_held_here(unsafe { self.raw() })
            }
        }
    )*};
}
observed!(Mutex FairMutex RwLock);

impl<T: ?Sized> sealed::Asked for poison::Mutex<T> {
    fn is_held_here(&self) -> Option<bool> {
        self.without_poison().is_held_here()
    }
}

impl<T: ?Sized> sealed::Asked for poison::RwLock<T> {
    fn is_held_here(&self) -> Option<bool> {
        self.without_poison().is_held_here()
    }
}

impl<T: ?Sized> sealed::Asked for ReentrantMutex<T> {
    fn is_held_here(&self) -> Option<bool> {
        Some(self.is_owned_by_current_thread())
    }
}

on_linux! {
    impl<T: ?Sized> sealed::Asked for crate::PiMutex<T> {
        fn is_held_here(&self) -> Option<bool> {
            // SAFETY: the lock is only asked.
            Some(unsafe { self.raw() }.is_owned_by_current_thread())
        }
    }
}
