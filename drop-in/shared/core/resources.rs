//! Ownership of resources, as reported by locks, and deadlocks among their threads, with the
//! feature `deadlock_detection`.

#[cfg(feature = "deadlock_detection")]
use ondeck_deadlock::{Ends, Held, Lock, LockKind, Want};

#[cfg(feature = "deadlock_detection")]
pub use crate::stacks::{DeadlockedThread, check_deadlock};

#[cfg(feature = "deadlock_detection")]
fn resource(key: usize) -> Lock {
    Lock { address: key, kind: LockKind::Mutex, name: c"" }
}

/// Records that the calling thread owns the resource at `key`. Does nothing without the feature.
///
/// # Safety
///
/// Must not be called from a closure of [`park`](crate::park) or of a similar function.
#[inline]
pub unsafe fn acquire_resource(key: usize) {
    let _ = key;
    #[cfg(feature = "deadlock_detection")]
    ondeck_deadlock::acquired(resource(key), Held::Alone);
}

/// Records that the calling thread is about to release the resource at `key`. Does nothing without
/// the feature.
///
/// # Safety
///
/// Must not be called from a closure of [`park`](crate::park) or of a similar function.
#[inline]
pub unsafe fn release_resource(key: usize) {
    let _ = key;
    #[cfg(feature = "deadlock_detection")]
    ondeck_deadlock::released(resource(key), Held::Alone);
}

/// Runs `park`, which waits for the resource at `key`.
#[inline]
pub(crate) fn waits<T>(key: usize, has_deadline: bool, park: impl FnOnce() -> T) -> T {
    let _ = (key, has_deadline);
    #[cfg(feature = "deadlock_detection")]
    if !has_deadline {
        let _stack = crate::stacks::Stack::keep();
        let mut attempt = ondeck_deadlock::begin(resource(key), Want::Alone, Ends::Never);
        attempt.waits_for_condition();
        return park();
    }
    park()
}
