//! The biased mutex that programs use: a [`lock_api`] mutex with data and guards.

extern crate std;

use core::sync::atomic::AtomicUsize;
use core::time::Duration;
use std::time::Instant;

use super::history::History;
use super::{Held, NOBODY, RawBiasedMutex};
use crate::mutex::{RawMutex, deadline};
use crate::platform::{Native, Platform};

/// A mutual-exclusion lock around a `T` for data that one thread uses almost always.
///
/// A thread that has locked it 64 times in a row becomes its owner: it then locks and unlocks without an atomic
/// read-modify-write. The first lock by another thread ends the bias. That costs a heavy fence (membarrier(2)), 2 to 12 µs,
/// and interrupts the CPUs that run threads of this process. After a bias that did not last, the next one takes twice as
/// many acquisitions in a row, at most 65,536. Without a bias it is a [`Mutex`](crate::Mutex) with a few more instructions,
/// and its threads wait in the same way. There is no poisoning.
///
/// Use it if other threads come no more often than every few milliseconds: for the state of a worker that a monitor reads
/// now and then, or for a cache of each thread that a maintenance thread trims. If threads alternate, it is slower: use
/// [`Mutex`](crate::Mutex). `docs/data/costs.md` has a table of the cases in which it is slower.
///
/// The type is an instance of [`lock_api::Mutex`] and has all of its methods: mapped guards, attempts with deadlines, a fair
/// unlock, and owned guards with the feature `arc_lock`. It can be a `static`. It takes 24 bytes. A failed attempt may also
/// have revoked the bias, unless it saw the owner inside. Beside another attempt, an attempt may fail although no thread has
/// the lock; both may.
///
/// # Panics
///
/// Never. A thread that locks it again waits for ever.
///
/// # Memory ordering
///
/// An unlock happens before the next lock.
///
/// # Cost
///
/// For the thread that it is biased to, a lock and an unlock together take two stores and some loads. The [module](super)
/// describes the protocol.
///
/// ```
/// use ondeck::BiasedMutex;
///
/// static DONE: BiasedMutex<u64> = BiasedMutex::new(0);
///
/// let worker = std::thread::spawn(|| {
///     for _ in 0..100_000 {
///         *DONE.lock() += 1;
///     }
/// });
/// assert!(*DONE.lock() <= 100_000);
/// worker.join().unwrap();
/// assert_eq!(*DONE.lock(), 100_000);
/// ```
pub type BiasedMutex<T> = lock_api::Mutex<RawBiasedMutex<Native>, T>;

/// The guard that [`BiasedMutex::lock`] returns. Dropping it unlocks the mutex.
pub type BiasedMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawBiasedMutex<Native>, T>;

/// A guard of a part of the protected data; see [`lock_api::MutexGuard::map`].
pub type MappedBiasedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawBiasedMutex<Native>, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see
/// [`BiasedMutex::lock_arc`](lock_api::Mutex::lock_arc).
#[cfg(feature = "arc_lock")]
pub type ArcBiasedMutexGuard<T> = lock_api::ArcMutexGuard<RawBiasedMutex<Native>, T>;

// SAFETY: as `RawBiasedMutex` in this module promises: one thread is inside, and an unlock happens before the next lock.
unsafe impl lock_api::RawMutex for RawBiasedMutex<Native> {
    const INIT: Self = Self {
        owner: AtomicUsize::new(NOBODY),
        history: History::NONE,
        inner: <RawMutex<Native> as lock_api::RawMutex>::INIT,
    };

    type Guard = Held<Native>;

    #[inline]
    fn lock(&self) -> Held<Native> {
        Self::lock(self)
    }

    #[inline]
    fn try_lock(&self) -> Option<Held<Native>> {
        Self::try_lock(self)
    }

    #[inline]
    unsafe fn unlock(&self, held: Held<Native>) {
        // SAFETY: as the caller promises.
        unsafe { Self::unlock(self, held) };
    }

    #[inline]
    fn is_locked(&self) -> bool {
        Self::is_locked(self)
    }
}

// SAFETY: as for `RawMutex`.
unsafe impl lock_api::RawMutexFair for RawBiasedMutex<Native> {
    #[inline]
    unsafe fn unlock_fair(&self, held: Held<Native>) {
        // SAFETY: as the caller promises.
        unsafe { Self::unlock_fair(self, held) };
    }
}

// SAFETY: as for `RawMutex`.
unsafe impl lock_api::RawMutexTimed for RawBiasedMutex<Native> {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_for(&self, timeout: Duration) -> Option<Held<Native>> {
        Self::try_lock_until(self, Native::now().after(timeout))
    }

    #[inline]
    fn try_lock_until(&self, timeout: Instant) -> Option<Held<Native>> {
        Self::try_lock_until(self, deadline(timeout))
    }
}
