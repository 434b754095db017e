//! The fair mutex that programs use: a [`lock_api`] mutex with data and guards.

extern crate std;

use core::ffi::CStr;
use core::sync::atomic::AtomicU8;
use core::time::Duration;
use std::time::Instant;

use lock_api::GuardNoSend;

use super::RawFairMutex;
use crate::mutex::{deadline, through_lock_api};
use crate::observe::{self, Access, Kind, Observed, Place};
use crate::platform::{Host, Native, Platform, Timestamp};

/// A mutual-exclusion lock around a `T` that each unlock hands to the thread that has waited
/// longest.
///
/// One byte. There is no barging: while a thread waits, an arriving thread waits after it, and so
/// does the thread that has just unlocked. A thread waits for at most as many sections as there
/// were threads before it. That order has a price: each contended section may cost a wake. Where
/// nothing depends on the order, use [`Mutex`](crate::Mutex). There is no poisoning.
///
/// The type is an instance of [`lock_api::Mutex`] and has all of its methods: mapped guards,
/// attempts with deadlines, `bump`, and owned guards with the feature `arc_lock`. It can be a
/// `static`.
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
/// An uncontended lock and its unlock cost one atomic read-modify-write each. The [module](super)
/// describes the protocol.
///
/// ```
/// use ondeck::FairMutex;
///
/// static TURNS: FairMutex<Vec<u32>> = FairMutex::new(Vec::new());
///
/// std::thread::scope(|scope| {
///     for thread in 0..3 {
///         scope.spawn(move || {
///             for _ in 0..100 {
///                 TURNS.lock().push(thread);
///             }
///         });
///     }
/// });
/// assert_eq!(TURNS.lock().len(), 300);
/// ```
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex<Native>, T>;

/// The guard that [`FairMutex::lock`] returns. Dropping it unlocks the mutex.
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex<Native>, T>;

/// A guard of a part of the protected data; see [`lock_api::MutexGuard::map`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex<Native>, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see
/// [`FairMutex::lock_arc`](lock_api::Mutex::lock_arc).
#[cfg(feature = "arc_lock")]
pub type ArcFairMutexGuard<T> = lock_api::ArcMutexGuard<RawFairMutex<Native>, T>;

impl RawFairMutex<Native> {
    /// Creates an unlocked lock with a [name](crate::name).
    pub const fn named(name: &'static CStr) -> Self {
        Self { state: AtomicU8::new(0), place: Place::named(name) }
    }
}

impl<P: Host> Observed for RawFairMutex<P> {
    type Platform = P;
    const KIND: Kind = Kind::FairMutex;

    fn name(&self) -> usize {
        self.key()
    }

    fn place(&self) -> &Place {
        &self.place
    }

    fn is_held(&self) -> bool {
        self.is_locked()
    }
}

// SAFETY: from a lock to the matching unlock, the byte marks the lock as taken, and an unlock
// happens before the next lock.
through_lock_api!(
    RawFairMutex<Native>,
    Self { state: AtomicU8::new(0), place: Place::new() },
    unlock
);
