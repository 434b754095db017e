//! The raw mutexes: the ones of crate `ondeck` with the traits of `lock_api`, and with the calls of deadlock detection.
//!
//! The versions of `lock_api` differ in the arguments and results of methods: `methods.rs` of each package has a macro
//! for each kind of method. Each method evaluates the expression after its name. If the trait requires it, the calling
//! thread owns the lock.

use std::time::{Duration, Instant};

use ondeck::platform::{Native, Timestamp};

use crate::GuardMarker;
use crate::deadlock::{self, Ends, Held, Want};
use crate::methods::{attempts, bumps, guards, locks, unlocks};
use crate::time::{after, at};

/// A mutex of crate `ondeck`, one byte.
macro_rules! mutex {
    ($(#[$doc:meta])* $name:ident, $inner:ty, $fair:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name($inner);

        impl $name {
            #[inline]
            fn key(&self) -> usize {
                (&raw const *self).addr()
            }

            #[inline]
            fn take(&self) {
                let wait = || {
                    self.0.lock();
                    true
                };
                deadlock::acquire(self.key(), Want::Alone, Ends::Never, || self.0.try_lock(), wait);
            }

            #[inline]
            fn try_take(&self) -> bool {
                deadlock::try_acquire(self.key(), Want::Alone, || self.0.try_lock())
            }

            /// Reads the clock only if the mutex is locked.
            #[inline]
            fn take_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
                self.try_take() || {
                    let wait = || self.0.try_lock_until(deadline());
                    deadlock::acquire(self.key(), Want::Alone, Ends::AtADeadline, || false, wait)
                }
            }

            #[inline]
            fn give_up(&self) -> &$inner {
                deadlock::releases(self.key(), Held::Alone);
                &self.0
            }
        }

        // SAFETY: no other thread holds it between a lock and the matching unlock, as crate `ondeck` promises.
        unsafe impl lock_api::RawMutex for $name {
            const INIT: Self = Self(<$inner as ondeck::lock_api::RawMutex>::INIT);
            guards!(of a mutex);
            locks!(|self| lock => self.take(););
            attempts!(|self| try_lock() => self.try_take(););
            unlocks!(|self| unlock => self.give_up().unlock(););

            #[inline]
            fn is_locked(&self) -> bool {
                self.0.is_locked()
            }
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexFair for $name {
            unlocks!(|self| unlock_fair => self.give_up().$fair(););
            bumps!(|self| bump => {
                self.give_up().bump();
                deadlock::acquired(self.key(), Want::Alone);
            };);
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexTimed for $name {
            type Duration = Duration;
            type Instant = Instant;
            attempts!(|self|
                try_lock_for(timeout: Duration) => self.take_until(|| after(timeout));
                try_lock_until(timeout: Instant) => self.take_until(|| at(timeout));
            );
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
    /// Runs `wait`, in which a condition variable unlocks and locks the mutex.
    ///
    /// # Safety
    ///
    /// The caller owns the mutex, before and after `wait`.
    pub(crate) unsafe fn lend<T>(
        &self,
        wait: impl FnOnce(&ondeck::mutex::RawMutex<Native>) -> T,
    ) -> T {
        let result = wait(self.give_up());
        deadlock::acquired(self.key(), Want::Alone);
        result
    }
}
