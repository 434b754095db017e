//! The reader-writer locks: the usual one, and a recursive one, of which a thread may have several
//! read guards.

use crate::raw_rwlock::ReadWrite;

/// The reader-writer lock without data: for [`lock_api::RwLock`].
pub type RawRwLock<const RECURSIVE: bool = false> = ReadWrite<RECURSIVE>;

/// The lock of [`RecursiveRwLock`] without data.
pub type RawRwLockRecursive = RawRwLock<true>;

/// A reader-writer lock whose readers wait for the writer that owns it, but not for waiting
/// writers.
///
/// A thread may have several read guards of it. A steady stream of readers keeps a writer waiting.
///
/// ```
/// let lock = parking_lot::RecursiveRwLock::new(1);
/// let outer = lock.read();
/// let inner = lock.read();
/// assert_eq!(*outer, *inner);
/// ```
pub type RecursiveRwLock<T> = lock_api::RwLock<RawRwLockRecursive, T>;

/// The guard that [`RecursiveRwLock::read`](lock_api::RwLock::read) returns.
pub type RecursiveRwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLockRecursive, T>;

/// The guard that [`RecursiveRwLock::write`](lock_api::RwLock::write) returns.
pub type RecursiveRwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLockRecursive, T>;

/// The guard that [`RecursiveRwLock::upgradable_read`](lock_api::RwLock::upgradable_read) returns.
pub type RecursiveRwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, RawRwLockRecursive, T>;

/// A read guard of a part of the protected data.
pub type MappedRecursiveRwLockReadGuard<'a, T> =
    lock_api::MappedRwLockReadGuard<'a, RawRwLockRecursive, T>;

/// A write guard of a part of the protected data.
pub type MappedRecursiveRwLockWriteGuard<'a, T> =
    lock_api::MappedRwLockWriteGuard<'a, RawRwLockRecursive, T>;
