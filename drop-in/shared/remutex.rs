//! The mutex that its owner may lock again.

use std::num::NonZeroUsize;

use crate::RawMutex;

/// Returns the name of the calling thread: for [`lock_api::ReentrantMutex`].
pub struct RawThreadId;

// SAFETY: no two live threads have the same name; see `ondeck::reentrant`.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: Self = Self;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        ondeck::lock_api::GetThreadId::nonzero_thread_id(&ondeck::reentrant::RawThreadId)
    }
}

/// A mutex that its owner may lock again. Its guards give shared references only.
///
/// ```
/// use parking_lot::ReentrantMutex;
/// use std::cell::Cell;
///
/// let total = ReentrantMutex::new(Cell::new(1));
/// let outer = total.lock();
/// let inner = total.lock();
/// inner.set(2);
/// assert_eq!(outer.get(), 2);
/// ```
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;

/// The guard that [`ReentrantMutex::lock`](lock_api::ReentrantMutex::lock) returns.
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// A guard of a part of the protected data.
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
