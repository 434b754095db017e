//! The mutex as programs use it: behind `lock_api`, with data and guards.

extern crate std;

use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::time::Instant;

use lock_api::GuardNoSend;

use super::RawMutex;
use crate::observe::{self, Access};
use crate::platform::{Native, Platform, Timestamp};

/// A mutual-exclusion lock around a `T`: one byte, and one atomic read-modify-write for an
/// uncontended lock and unlock together.
///
/// A thread that finds it locked polls for some microseconds if no other does, then sleeps. Barging is
/// allowed: a thread that arrives may take the lock before one that waits. A thread that has slept for a
/// millisecond is woken to compete for the mutex. If it finds the mutex locked again, it is handed the mutex later.
///
/// There is no poisoning: `lock()` returns the guard itself. Where `lock().unwrap()` of the standard library's mutex does
/// not compile any more, leave `unwrap` out, or use [`poison::Mutex`](crate::poison::Mutex), which returns a `Result`.
///
/// It comes through [`lock_api`], with everything that [`lock_api::Mutex`] offers: mapped guards,
/// attempts with deadlines, a fair unlock, `bump`, and owned guards with the feature `arc_lock`.
/// It can be a `static`.
///
/// # Panics
///
/// Only in builds with debug assertions, with the caller's place: when its owner locks it again
/// (which else waits for ever).
///
/// # Memory ordering
///
/// An unlock happens before the next lock.
///
/// # Cost
///
/// One test-and-set and two stores when uncontended, about what a spinlock costs; no atomic
/// instruction at all while the process has one thread. The protocol is told in the [module](super).
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
/// assert_eq!(size_of::<Mutex<u8>>(), 2);
/// ```
pub type Mutex<T> = lock_api::Mutex<RawMutex<Native>, T>;

/// What [`Mutex::lock`] returns: it unlocks when it is dropped.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex<Native>, T>;

/// A guard of a part of what the mutex protects; see [`lock_api::MutexGuard::map`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex<Native>, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see [`Mutex::lock_arc`].
#[cfg(feature = "arc_lock")]
pub type ArcMutexGuard<T> = lock_api::ArcMutexGuard<RawMutex<Native>, T>;

/// An [`Instant`] as the platform's clock tells time: never earlier than it was meant.
pub(crate) fn deadline(instant: Instant) -> Timestamp {
    let left = instant.saturating_duration_since(Instant::now());
    Native::now().after(left)
}

// SAFETY: what `RawMutex` in this module promises: from a lock to the matching unlock no other thread
// has it, and an unlock happens before the next lock.
unsafe impl lock_api::RawMutex for RawMutex<Native> {
    const INIT: Self = Self { locked: AtomicU8::new(0) };

    /// The owner unlocks, so that misuse can be told by thread.
    type Guard = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock(&self) -> GuardNoSend {
        let attempt = || Self::try_lock(self).then_some(());
        observe::lock(self, Access::Alone, attempt, || Self::lock(self));
        GuardNoSend::new()
    }

    #[inline]
    fn try_lock(&self) -> Option<GuardNoSend> {
        observe::try_lock(self, Access::Alone, || Self::try_lock(self).then(GuardNoSend::new))
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
unsafe impl lock_api::RawMutexFair for RawMutex<Native> {
    #[inline]
    #[track_caller]
    unsafe fn unlock_fair(&self, _: GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::unlock(self, Access::Alone, || unsafe { Self::unlock_fair(self) });
    }

    #[inline]
    #[track_caller]
    unsafe fn bump(&self, _: &mut GuardNoSend) {
        // SAFETY: as the caller promises.
        observe::bump(self, Access::Alone, || unsafe { Self::bump(self) });
    }
}

#[inline]
fn lock_until(
    mutex: &RawMutex<Native>,
    deadline: impl FnOnce() -> Timestamp,
) -> Option<GuardNoSend> {
    let attempt = || mutex.try_lock().then(GuardNoSend::new);
    let block = || mutex.try_lock_until(deadline()).then(GuardNoSend::new);
    observe::lock_until(mutex, Access::Alone, attempt, block)
}

// SAFETY: as for `RawMutex`.
unsafe impl lock_api::RawMutexTimed for RawMutex<Native> {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_for(&self, timeout: Duration) -> Option<GuardNoSend> {
        lock_until(self, || Native::now().after(timeout))
    }

    #[inline]
    fn try_lock_until(&self, timeout: Instant) -> Option<GuardNoSend> {
        lock_until(self, || deadline(timeout))
    }
}
