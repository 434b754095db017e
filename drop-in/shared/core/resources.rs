//! Which thread owns what, as locks tell; and deadlocks among their threads, with the feature
//! `deadlock_detection`.

use crate::detection::{self, Held, Want};

#[cfg(feature = "deadlock_detection")]
pub use crate::detection::{DeadlockedThread, check_deadlock};

/// The calling thread owns the resource at `key` now. Nothing without the feature.
///
/// # Safety
///
/// Not from a closure of [`park`](crate::park) or its like.
#[inline]
pub unsafe fn acquire_resource(key: usize) {
    detection::acquired(key, Want::Alone);
}

/// The calling thread is about to give up the resource at `key`. Nothing without the feature.
///
/// # Safety
///
/// Not from a closure of [`park`](crate::park) or its like.
#[inline]
pub unsafe fn release_resource(key: usize) {
    detection::releases(key, Held::Alone);
}
