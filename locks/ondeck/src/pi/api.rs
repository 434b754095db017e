//! The mutex with priority inheritance that programs use: a [`lock_api`] mutex with data and
//! guards.

extern crate std;

use core::time::Duration;
use std::time::Instant;

use lock_api::GuardNoSend;

use super::RawPiMutex;
use crate::mutex::deadline;
use crate::observe::{self, Access, Acquisition, Kind, Observed, Place};
use crate::platform::{Native, Platform, Timestamp};

/// A mutual-exclusion lock around a `T` whose owner runs with the highest priority of the waiting
/// threads.
///
/// It is for threads of real-time scheduling classes; for others [`Mutex`](crate::Mutex) is much
/// faster. The lock goes to the waiting thread of the highest priority. There is no poisoning. The
/// type is an instance of [`lock_api::Mutex`], and can be a `static`. The [module](super) describes
/// its protocol, and the case of threads that end with the lock.
///
/// # Panics
///
/// If its owner locks it again. [`lock`](lock_api::Mutex::lock) also panics if a thread ended with
/// the lock. Otherwise both would wait for ever.
///
/// # Memory ordering
///
/// An unlock happens before the next lock.
///
/// # Cost
///
/// An uncontended lock and its unlock cost one atomic read-modify-write each. A contended pair
/// costs two system calls.
///
/// ```
/// use ondeck::PiMutex;
///
/// static TOTAL: PiMutex<u32> = PiMutex::new(0);
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| *TOTAL.lock() += 1);
///     }
/// });
/// assert_eq!(*TOTAL.lock(), 4);
/// ```
pub type PiMutex<T> = lock_api::Mutex<RawPiMutex, T>;

/// The guard that [`PiMutex::lock`] returns. Dropping it unlocks the mutex.
pub type PiMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawPiMutex, T>;

/// A guard of a part of the protected data; see [`lock_api::MutexGuard::map`].
pub type MappedPiMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawPiMutex, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see
/// [`PiMutex::lock_arc`](lock_api::Mutex::lock_arc).
#[cfg(feature = "arc_lock")]
pub type ArcPiMutexGuard<T> = lock_api::ArcMutexGuard<RawPiMutex, T>;

impl Observed for RawPiMutex {
    type Platform = Native;
    const KIND: Kind = Kind::PiMutex;

    fn name(&self) -> usize {
        (&raw const *self).addr()
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn is_held(&self) -> bool {
        self.is_locked()
    }
}

// SAFETY: from a lock to the matching unlock the word has the owner's number, and an unlock happens
// before the next lock. If a thread ended with the lock, no other thread owns it.
unsafe impl lock_api::RawMutex for RawPiMutex {
    #[allow(clippy::declare_interior_mutable_const, reason = "lock_api asks for it")]
    const INIT: Self = Self::new();

    /// The kernel accepts only the owner's unlock.
    type Guard = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock(&self) -> GuardNoSend {
        let mut acquisition = Acquisition::of(self, Access::Alone);
        acquisition.begins(false);
        if acquisition.attempt(|| Self::try_lock(self).then_some(())).is_none() {
            lock_or_panic(self);
        }
        acquisition.acquired();
        GuardNoSend::new()
    }

    #[inline]
    #[track_caller]
    fn try_lock(&self) -> Option<GuardNoSend> {
        observe::try_lock(self, Access::Alone, || Self::try_lock(self).then(GuardNoSend::new))
    }

    #[inline]
    unsafe fn unlock(&self, _: GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Alone, || unsafe { Self::unlock(self) });
    }

    #[inline]
    fn is_locked(&self) -> bool {
        Self::is_locked(self)
    }
}

#[inline]
#[track_caller]
fn lock_or_panic(mutex: &RawPiMutex) {
    if let Err(ended) = RawPiMutex::lock(mutex) {
        panic!("deadlock: {ended}, {:#x}", (&raw const *mutex).addr());
    }
}

/// Waits until the deadline, also if a thread ended with the lock.
#[inline]
#[track_caller]
fn lock_until(mutex: &RawPiMutex, deadline: impl FnOnce() -> Timestamp) -> Option<GuardNoSend> {
    let attempt = || mutex.try_lock().then(GuardNoSend::new);
    let block = || {
        let deadline = deadline();
        let owner = RawPiMutex::try_lock_until(mutex, deadline).unwrap_or_else(|_| {
            // An attempt must not fail before its time.
            std::thread::sleep(deadline.since(Native::now()));
            false
        });
        owner.then(GuardNoSend::new)
    };
    observe::lock_until(mutex, Access::Alone, attempt, block)
}

// SAFETY: as for `RawMutex`.
unsafe impl lock_api::RawMutexTimed for RawPiMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> Option<GuardNoSend> {
        lock_until(self, || Native::now().after(timeout))
    }

    #[inline]
    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> Option<GuardNoSend> {
        lock_until(self, || deadline(timeout))
    }
}
