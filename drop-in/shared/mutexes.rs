//! The mutexes without data and without the traits of `lock_api`, which differ between its versions.

use ondeck::lock_api::RawMutex as _;
use ondeck::platform::{Native, Timestamp};

use crate::deadlock::{self, Ends, Held, Want};

/// A mutex of crate `ondeck`, one byte, with what detection of deadlocks is told.
macro_rules! mutex {
    ($(#[$doc:meta])* $name:ident, $inner:ty, $fair:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name($inner);

        impl $name {
            #[allow(clippy::declare_interior_mutable_const, reason = "what constructors begin with")]
            pub(crate) const NEW: Self = Self(<$inner>::INIT);

            fn key(&self) -> usize {
                (&raw const *self).addr()
            }

            #[inline]
            pub(crate) fn take(&self) {
                let wait = || {
                    self.0.lock();
                    true
                };
                deadlock::acquire(self.key(), Want::Alone, Ends::Never, || self.0.try_lock(), wait);
            }

            #[inline]
            pub(crate) fn try_take(&self) -> bool {
                deadlock::try_acquire(self.key(), Want::Alone, || self.0.try_lock())
            }

            /// Reads the clock only if the mutex is locked.
            #[inline]
            pub(crate) fn take_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
                self.try_take() || {
                    let wait = || self.0.try_lock_until(deadline());
                    deadlock::acquire(self.key(), Want::Alone, Ends::AtADeadline, || false, wait)
                }
            }

            /// # Safety
            ///
            /// The caller owns the mutex.
            #[inline]
            pub(crate) unsafe fn give_up(&self) {
                deadlock::releases(self.key(), Held::Alone);
                // SAFETY: as the caller promises.
                unsafe { self.0.unlock() };
            }

            /// # Safety
            ///
            /// The caller owns the mutex.
            #[inline]
            pub(crate) unsafe fn give_up_fair(&self) {
                deadlock::releases(self.key(), Held::Alone);
                // SAFETY: as the caller promises.
                unsafe { self.0.$fair() };
            }

            /// # Safety
            ///
            /// The caller owns the mutex.
            #[inline]
            pub(crate) unsafe fn yield_to_others(&self) {
                deadlock::releases(self.key(), Held::Alone);
                // SAFETY: as the caller promises.
                unsafe { self.0.bump() };
                deadlock::acquired(self.key(), Want::Alone);
            }

            #[inline]
            pub(crate) fn is_taken(&self) -> bool {
                self.0.is_locked()
            }
        }
    };
}

mutex! {
    /// The mutex without data: for [`lock_api::Mutex`].
    RawMutex, ondeck::mutex::RawMutex<Native>, unlock_fair
}

mutex! {
    /// The fair mutex without data: for [`lock_api::Mutex`].
    RawFairMutex, ondeck::fair::RawFairMutex<Native>, unlock
}

impl RawMutex {
    /// The mutex is unlocked and locked by a condition variable in `wait`.
    ///
    /// # Safety
    ///
    /// The caller owns the mutex, before and after `wait`.
    pub(crate) unsafe fn lend<T>(
        &self,
        wait: impl FnOnce(&ondeck::mutex::RawMutex<Native>) -> T,
    ) -> T {
        deadlock::releases(self.key(), Held::Alone);
        let result = wait(&self.0);
        deadlock::acquired(self.key(), Want::Alone);
        result
    }
}
