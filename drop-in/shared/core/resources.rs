//! Ownership of resources, as reported by locks, and deadlocks among their threads, with the
//! feature `deadlock_detection`.

use crate::detection::{self, Held, Want};

#[cfg(feature = "deadlock_detection")]
pub use crate::detection::{DeadlockedThread, check_deadlock};

/// Records that the calling thread owns the resource at `key`. Does nothing without the feature.
///
/// # Safety
///
/// Must not be called from a closure of [`park`](crate::park) or of a similar function.
#[inline]
pub unsafe fn acquire_resource(key: usize) {
    detection::acquired(key, Want::Alone);
}

/// Records that the calling thread is about to release the resource at `key`. Does nothing without
/// the feature.
///
/// # Safety
///
/// Must not be called from a closure of [`park`](crate::park) or of a similar function.
#[inline]
pub unsafe fn release_resource(key: usize) {
    detection::releases(key, Held::Alone);
}
