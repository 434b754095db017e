//! The raw mutexes: the ones of crate `ondeck` with the traits of `lock_api`.
//!
//! The versions of `lock_api` differ in the arguments and results of methods: `methods.rs` of each
//! package has a macro for each kind of method. Each method evaluates the expression after its
//! name. If the trait requires it, the calling thread owns the lock.

use std::time::{Duration, Instant};

use ondeck::platform::{Native, Timestamp};
use ondeck::wrapped::Access;

use crate::deadlock::Stack;
use crate::methods::{attempts, bumps, guards, locks, unlocks};
use crate::time::{after, at};
use crate::{GuardMarker, Observed, attempted};

/// A mutex of crate `ondeck`, one byte.
macro_rules! mutex {
    ($(#[$doc:meta])* $name:ident, $inner:ty, $fair:ident) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name($inner);

        impl $name {
            #[inline]
            fn observed(&self) -> Observed<'_, $inner> {
                Observed::of(&self.0)
            }

            #[inline]
            #[track_caller]
            fn take(&self) {
                let attempt = || self.0.try_lock();
                if !attempted(|| self.observed().try_lock(Access::Alone, attempt)) {
                    let _stack = Stack::keep();
                    self.observed().lock(Access::Alone, attempt, || self.0.lock());
                }
            }

            /// Reads the clock only if the mutex is locked.
            #[inline]
            #[track_caller]
            fn take_until(&self, deadline: impl FnOnce() -> Timestamp) -> bool {
                let attempt = || self.0.try_lock();
                let block = || self.0.try_lock_until(deadline());
                self.observed().lock_until(Access::Alone, attempt, block)
            }
        }

        // SAFETY: no other thread holds it between a lock and the matching unlock, as crate
        // `ondeck` promises.
        unsafe impl lock_api::RawMutex for $name {
            const INIT: Self = Self(<$inner as ondeck::lock_api::RawMutex>::INIT);
            guards!(of a mutex);
            locks!(|self| lock => self.take(););
            attempts!(|self| try_lock() => self.observed().try_lock(Access::Alone, || self.0.try_lock()););
            unlocks!(|self| unlock => self.observed().unlock(Access::Alone, || self.0.unlock()););

            #[inline]
            fn is_locked(&self) -> bool {
                self.0.is_locked()
            }
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexFair for $name {
            unlocks!(|self| unlock_fair => self.observed().unlock(Access::Alone, || self.0.$fair()););
            bumps!(|self| bump => self.observed().bump(Access::Alone, || self.0.bump()););
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
    /// Unlocks the mutex, waits until notified or until the deadline, and locks the mutex again.
    /// Returns whether the thread was notified.
    ///
    /// # Safety
    ///
    /// The caller owns the mutex.
    #[track_caller]
    pub(crate) unsafe fn wait(
        &self,
        condvar: &ondeck::condvar::RawCondvar<Native>,
        deadline: Option<Timestamp>,
    ) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.observed().wait(condvar, deadline) }
    }
}
