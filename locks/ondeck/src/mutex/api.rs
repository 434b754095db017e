//! The mutex that programs use: a [`lock_api`] mutex with data and guards.

extern crate std;

use core::ffi::CStr;
use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::time::Instant;

use lock_api::GuardNoSend;

use super::RawMutex;
use crate::observe::{self, Access, Place};
use crate::platform::{Native, Platform, Timestamp};

/// A mutual-exclusion lock around a `T`: one byte. An uncontended lock and unlock together cost one
/// atomic read-modify-write.
///
/// A thread that finds the mutex locked polls for some microseconds, then sleeps. Barging is
/// allowed: an arriving thread may acquire the lock before a thread that waits. At a mutex that its
/// owner locks over and over, each waiting thread has a turn, a quarter of a millisecond after the
/// one before it. A thread that was woken and found the mutex locked again is offered the mutex by
/// a later unlock.
///
/// There is no poisoning: `lock()` returns the guard itself. Where `lock().unwrap()`, written for
/// the standard library's mutex, no longer compiles, leave `unwrap` out, or use
/// [`poison::Mutex`](crate::poison::Mutex), which returns a `Result`.
///
/// The type is an instance of [`lock_api::Mutex`] and has all of its methods: mapped guards,
/// attempts with deadlines, a fair unlock, `bump`, and owned guards with the feature `arc_lock`. It
/// can be a `static`.
///
/// # Panics
///
/// If its owner locks it again. Only builds with debug assertions panic, and they report the
/// caller's location; without them the owner waits for ever.
///
/// # Memory ordering
///
/// An unlock happens before the next lock.
///
/// # Cost
///
/// An uncontended pair costs one test-and-set and two stores, about as much as a spinlock's. While
/// the process has one thread, it costs no atomic instruction at all. The [module](super) describes
/// the protocol.
///
/// ```
/// use ondeck::Mutex;
///
/// static TOTAL: Mutex<u64> = Mutex::new(0);
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             for _ in 0..1000 {
///                 *TOTAL.lock() += 1;
///             }
///         });
///     }
/// });
/// assert_eq!(*TOTAL.lock(), 4000);
/// # #[cfg(not(any(feature = "deadlock_detection", feature = "stats")))]
/// assert_eq!(size_of::<Mutex<u8>>(), 2);
/// ```
pub type Mutex<T> = lock_api::Mutex<RawMutex<Native>, T>;

/// The guard that [`Mutex::lock`] returns. Dropping it unlocks the mutex.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex<Native>, T>;

/// A guard of a part of the protected data; see [`lock_api::MutexGuard::map`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex<Native>, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see [`Mutex::lock_arc`].
#[cfg(feature = "arc_lock")]
pub type ArcMutexGuard<T> = lock_api::ArcMutexGuard<RawMutex<Native>, T>;

impl RawMutex<Native> {
    /// Creates an unlocked lock with a [name](crate::name).
    pub const fn named(name: &'static CStr) -> Self {
        Self { locked: AtomicU8::new(0), place: Place::named(name) }
    }
}

/// Converts an [`Instant`] to a timestamp of the platform's clock, never an earlier one.
pub(crate) fn deadline(instant: Instant) -> Timestamp {
    let left = instant.saturating_duration_since(Instant::now());
    Native::now().after(left)
}

/// Implements the traits of [`lock_api`] for an observed raw mutex. `$unlock_fair` is its method
/// that hands the lock to a waiting thread.
///
/// # Safety
///
/// From a lock to the matching unlock no other thread owns the mutex, and an unlock happens before
/// the next lock.
macro_rules! through_lock_api {
    ($mutex:ty, $init:expr, $unlock_fair:ident) => {
        // SAFETY: as the caller promises.
        unsafe impl lock_api::RawMutex for $mutex {
            const INIT: Self = $init;

            /// Only the owner unlocks: a guard does not move to another thread.
            type Guard = GuardNoSend;

            #[inline]
            #[track_caller]
            fn lock(&self) -> GuardNoSend {
                let attempt = || Self::try_lock(self).then_some(());
                observe::lock(self, Access::Alone, attempt, || Self::lock(self));
                GuardNoSend::new()
            }

            #[inline]
            #[track_caller]
            fn try_lock(&self) -> Option<GuardNoSend> {
                observe::try_lock(self, Access::Alone, || {
                    Self::try_lock(self).then(GuardNoSend::new)
                })
            }

            #[inline]
            #[track_caller]
            unsafe fn unlock(&self, _: GuardNoSend) {
                // SAFETY: as the caller promises.
                observe::unlock(self, Access::Alone, || unsafe { Self::unlock(self) });
            }

            #[inline]
            fn is_locked(&self) -> bool {
                Self::is_locked(self)
            }
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexFair for $mutex {
            #[inline]
            #[track_caller]
            unsafe fn unlock_fair(&self, _: GuardNoSend) {
                // SAFETY: as the caller promises.
                observe::unlock(self, Access::Alone, || unsafe { Self::$unlock_fair(self) });
            }

            #[inline]
            #[track_caller]
            unsafe fn bump(&self, _: &mut GuardNoSend) {
                // SAFETY: as the caller promises.
                observe::bump(self, Access::Alone, || unsafe { Self::bump(self) });
            }
        }

        impl $mutex {
            #[inline]
            #[track_caller]
            fn lock_until(&self, deadline: impl FnOnce() -> Timestamp) -> Option<GuardNoSend> {
                let attempt = || self.try_lock().then(GuardNoSend::new);
                let block = || self.try_lock_until(deadline()).then(GuardNoSend::new);
                observe::lock_until(self, Access::Alone, attempt, block)
            }
        }

        // SAFETY: as for `RawMutex`.
        unsafe impl lock_api::RawMutexTimed for $mutex {
            type Duration = Duration;
            type Instant = Instant;

            #[inline]
            #[track_caller]
            fn try_lock_for(&self, timeout: Duration) -> Option<GuardNoSend> {
                self.lock_until(|| Native::now().after(timeout))
            }

            #[inline]
            #[track_caller]
            fn try_lock_until(&self, timeout: Instant) -> Option<GuardNoSend> {
                self.lock_until(|| deadline(timeout))
            }
        }
    };
}
pub(crate) use through_lock_api;

// SAFETY: the module argues why at most one thread owns the mutex (1), and how an unlock orders the
// next lock.
through_lock_api!(
    RawMutex<Native>,
    Self { locked: AtomicU8::new(0), place: Place::new() },
    unlock_fair
);
