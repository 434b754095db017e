//! Recursive reads, which the traits of [`lock_api`] 0.5 do not have.

extern crate std;

use core::time::Duration;
use std::time::Instant;

use super::api::after;
use super::{RawRwLock, RwLock, RwLockReadGuard, Shared};
use crate::mutex::deadline;
use crate::observe::{self, Access};
use crate::platform::{Native, Timestamp};

/// Reads by a thread that may already have a read lock of the same [`RwLock`]. They never wait for
/// a writer that is itself waiting.
///
/// If other threads use these reads, they keep such a writer waiting.
///
/// ```
/// use ondeck::RwLock;
/// use ondeck::rwlock::ReadRecursive;
///
/// let lock = RwLock::new(1);
/// let outer = lock.read();
/// let inner = lock.read_recursive();
/// assert_eq!(*outer, *inner);
/// ```
pub trait ReadRecursive {
    /// The type of the protected data.
    type Data: ?Sized;

    /// Waits until no writer owns the lock.
    fn read_recursive(&self) -> RwLockReadGuard<'_, Self::Data>;

    /// Returns a guard if no writer owns the lock.
    fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, Self::Data>>;

    /// Waits until no writer owns the lock, for `timeout` at most.
    fn try_read_recursive_for(&self, timeout: Duration) -> Option<RwLockReadGuard<'_, Self::Data>>;

    /// Waits until no writer owns the lock, until `timeout` at the latest.
    fn try_read_recursive_until(&self, timeout: Instant)
    -> Option<RwLockReadGuard<'_, Self::Data>>;
}

/// Makes the guard of a recursive read lock, which is held.
fn read_guard<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    // SAFETY: the read lock was just acquired, and is counted.
    unsafe { lock.make_read_guard_unchecked(Shared::counted()) }
}

/// Returns the lock without its data.
fn raw<T: ?Sized>(lock: &RwLock<T>) -> &RawRwLock<Native> {
    // SAFETY: the functions below only acquire read locks, for which they make guards.
    unsafe { lock.raw() }
}

impl<T: ?Sized> ReadRecursive for RwLock<T> {
    type Data = T;

    #[inline]
    #[track_caller]
    fn read_recursive(&self) -> RwLockReadGuard<'_, T> {
        let lock = raw(self);
        let attempt = || lock.try_lock_shared_recursive_counted().then_some(());
        let block = || lock.lock_shared_recursive_counted();
        observe::lock(lock, Access::ReadRecursive, attempt, block);
        read_guard(self)
    }

    #[inline]
    fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, T>> {
        let lock = raw(self);
        let attempt = || lock.try_lock_shared_recursive_counted().then_some(());
        observe::try_lock(lock, Access::Read, attempt).map(|()| read_guard(self))
    }

    #[inline]
    #[track_caller]
    fn try_read_recursive_for(&self, timeout: Duration) -> Option<RwLockReadGuard<'_, T>> {
        read_recursive_until(self, || after(timeout))
    }

    #[inline]
    #[track_caller]
    fn try_read_recursive_until(&self, timeout: Instant) -> Option<RwLockReadGuard<'_, T>> {
        read_recursive_until(self, || deadline(timeout))
    }
}

#[inline]
#[track_caller]
fn read_recursive_until<T: ?Sized>(
    lock: &RwLock<T>,
    deadline: impl FnOnce() -> Timestamp,
) -> Option<RwLockReadGuard<'_, T>> {
    let raw = raw(lock);
    let attempt = || raw.try_lock_shared_recursive_counted().then_some(());
    let block = || raw.try_lock_shared_recursive_counted_until(deadline()).then_some(());
    observe::lock_until(raw, Access::ReadRecursive, attempt, block).map(|()| read_guard(lock))
}
