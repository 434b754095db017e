//! The biased mutex as programs use it: behind `lock_api`, with data and guards.

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
/// The thread that has had it 64 times in a row becomes its owner: that thread then locks and unlocks without an
/// atomic read-modify-write. The first lock by another thread ends that, which costs a heavy fence
/// (membarrier(2)), 2 to 12 µs, and interrupts the CPUs that run threads of this process. A bias that did
/// not last has to be earned by twice as many acquisitions in a row, 65,536 at most. Without a bias it is a
/// [`Mutex`](crate::Mutex) with a few more instructions, and waits as that one does. There is no poisoning.
///
/// Use it where other threads come no oftener than every few milliseconds: the state of a worker that a monitor reads
/// now and then, a cache of each thread that a maintenance thread trims. If threads take turns, it loses: use
/// [`Mutex`](crate::Mutex). `docs/data/costs.md` has a table of when it loses.
///
/// It comes through [`lock_api`]: mapped guards, attempts with deadlines, a fair unlock, and owned guards with
/// the feature `arc_lock`. It can be a `static`. It takes 24 bytes. An attempt that fails may have revoked the
/// bias, too, unless it sees the owner inside. Beside another attempt, one may fail although no thread has the lock;
/// both may.
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
/// For the thread that it is biased to: two stores and some loads for lock and unlock together. The protocol is
/// told in the [module](super).
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

/// What [`BiasedMutex::lock`] returns: it unlocks when it is dropped.
pub type BiasedMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawBiasedMutex<Native>, T>;

/// A guard of a part of what the mutex protects; see [`lock_api::MutexGuard::map`].
pub type MappedBiasedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawBiasedMutex<Native>, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see
/// [`BiasedMutex::lock_arc`](lock_api::Mutex::lock_arc).
#[cfg(feature = "arc_lock")]
pub type ArcBiasedMutexGuard<T> = lock_api::ArcMutexGuard<RawBiasedMutex<Native>, T>;

// SAFETY: what `RawBiasedMutex` in this module promises: one thread is inside, and an unlock happens before the
// next lock.
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
