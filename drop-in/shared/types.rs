//! The types with data: `lock_api`'s types over the raw locks.

use crate::{RawFairMutex, RawMutex, RawRwLock};

/// A mutual-exclusion lock around a `T`: one byte. See `ondeck::Mutex`.
///
/// ```
/// use parking_lot::Mutex;
///
/// static TOTAL: Mutex<u32> = Mutex::new(0);
///
/// *TOTAL.lock() += 1;
/// assert_eq!(*TOTAL.lock(), 1);
/// ```
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;

/// The guard that [`Mutex::lock`](lock_api::Mutex::lock) returns. It unlocks when it is dropped.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;

/// A guard of a part of the protected data.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// A mutual-exclusion lock that each unlock hands to the thread that has waited longest. See
/// `ondeck::FairMutex`.
///
/// ```
/// let turns = parking_lot::FairMutex::new(0);
/// *turns.lock() += 1;
/// assert_eq!(turns.into_inner(), 1);
/// ```
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;

/// The guard that [`FairMutex::lock`](lock_api::Mutex::lock) returns. It unlocks when it is
/// dropped.
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;

/// A guard of a part of the data that the fair mutex protects.
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// A reader-writer lock around a `T`: four bytes; readers, or one writer. See `ondeck::RwLock`.
///
/// A thread that reads and begins another read may wait forever if a writer waits in between.
///
/// ```
/// use parking_lot::{RwLock, RwLockUpgradableReadGuard};
///
/// let names = RwLock::new(vec!["one"]);
/// assert_eq!(names.read().len(), 1);
/// let upgradable = names.upgradable_read();
/// RwLockUpgradableReadGuard::upgrade(upgradable).push("two");
/// assert_eq!(names.read().len(), 2);
/// ```
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;

/// The guard that [`RwLock::read`](lock_api::RwLock::read) returns. It unlocks when it is dropped.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;

/// The guard that [`RwLock::write`](lock_api::RwLock::write) returns. It unlocks when it is
/// dropped.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;

/// The guard that [`RwLock::upgradable_read`](lock_api::RwLock::upgradable_read) returns. It
/// unlocks when it is dropped.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;

/// A read guard of a part of the protected data.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;

/// A write guard of a part of the protected data.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;
