//! The reader-writer lock, with the traits for recursive reads, which `lock_api` 0.5 does not have.

use std::time::{Duration, Instant};

use crate::raw_rwlock::{ReadWrite, Reader};
use crate::time::{after, at};

/// The reader-writer lock without data: for [`lock_api::RwLock`].
pub type RawRwLock = ReadWrite<false>;

// SAFETY: readers share the lock, and a writer excludes all others, as crate `ondeck` promises.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[inline]
    #[track_caller]
    fn lock_shared_recursive(&self) {
        self.read(Reader::Recursive);
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        self.try_read(Reader::Recursive)
    }
}

// SAFETY: as for `RawRwLockRecursive`.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    #[inline]
    #[track_caller]
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        self.read_until(Reader::Recursive, || after(timeout))
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        self.read_until(Reader::Recursive, || at(timeout))
    }
}
