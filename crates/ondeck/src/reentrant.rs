//! A mutex that its owner may lock again.
//!
//! There is no protocol of its own: it is [`lock_api::RawReentrantMutex`] over the one-byte
//! [`RawMutex`], with the owner's name and a count beside the byte. What this
//! file adds is the name of a thread.
//!
//! # The name of a thread
//!
//! [`RawThreadId`] is the thread pointer, the address of the block that the C library made for the
//! thread: one load of a register or two. It is never 0, no two threads that live have the same, and a
//! thread keeps it to its end, in its thread-local destructors too. Asking makes no allocation and
//! registers no destructor, so a global allocator may use these mutexes. A thread-local variable of a
//! shared library may be allocated by the first thread that asks for its address; the thread pointer
//! is not.
//!
//! A thread may end with the mutex, if it has forgotten a guard. The mutex stays locked, but the C library
//! may give the block of that thread to a thread that starts later, which is then the owner by its name.
//! The ended thread uses nothing any more, and guards give shared references only, so that is sound. The
//! standard library's `ReentrantLock` has numbers in place of names, and stays locked for all threads.
//!
//! The child of a fork has the thread pointer of the thread that forked: a mutex that this thread
//! owned is owned in the child, and the child's thread may unlock it.
//!
//! # Memory ordering
//!
//! The owner's name is relaxed. A thread that reads its own name there has written it itself and not
//! cleared it yet. Any other value, however old, means that the thread does not own the mutex. What the
//! mutex guards is ordered by the byte.

use core::num::NonZeroUsize;

use crate::mutex::RawMutex;
use crate::platform::Native;

/// A mutual-exclusion lock that the thread which owns it may lock again.
///
/// It is unlocked when the last guard of its owner is dropped. Several guards may be there at the same
/// time, so a guard gives a `&T`: what is to change needs a [`Cell`](core::cell::Cell) or
/// [`RefCell`](core::cell::RefCell). It comes through [`lock_api`], with everything that
/// [`lock_api::ReentrantMutex`] offers: mapped guards, attempts with deadlines, a fair unlock, `bump`,
/// and owned guards with the feature `arc_lock`. It can be a `static`.
///
/// # Panics
///
/// If its owner locks it more than `usize::MAX` times.
///
/// # Memory ordering
///
/// The last unlock happens before the next thread's lock.
///
/// # Cost
///
/// A pair of the owner of a free mutex is one of [`Mutex`](crate::Mutex), one atomic read-modify-write,
/// and four plain accesses. A lock by the thread that owns it already has no atomic read-modify-write.
///
/// ```
/// use ondeck::ReentrantMutex;
/// use std::cell::Cell;
///
/// static TOTAL: ReentrantMutex<Cell<u32>> = ReentrantMutex::new(Cell::new(0));
///
/// fn add(count: u32) {
///     let total = TOTAL.lock();
///     total.set(total.get() + count);
/// }
///
/// let total = TOTAL.lock();
/// add(1);
/// add(2);
/// assert_eq!(total.get(), 3);
/// ```
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex<Native>, RawThreadId, T>;

/// What [`ReentrantMutex::lock`] returns: the last one of its thread unlocks when it is dropped.
pub type ReentrantMutexGuard<'a, T> =
    lock_api::ReentrantMutexGuard<'a, RawMutex<Native>, RawThreadId, T>;

/// A guard of a part of what the mutex protects; see [`lock_api::ReentrantMutexGuard::map`].
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex<Native>, RawThreadId, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see
/// [`ReentrantMutex::lock_arc`](lock_api::ReentrantMutex::lock_arc).
#[cfg(feature = "arc_lock")]
pub type ArcReentrantMutexGuard<T> =
    lock_api::ArcReentrantMutexGuard<RawMutex<Native>, RawThreadId, T>;

/// The name of the calling thread; see the [module](self).
///
/// ```
/// use lock_api::GetThreadId;
/// use ondeck::reentrant::RawThreadId;
///
/// let own = RawThreadId.nonzero_thread_id();
/// assert_eq!(own, RawThreadId.nonzero_thread_id());
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_ne!(own, RawThreadId.nonzero_thread_id()));
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawThreadId;

// SAFETY: the C library has a block for each thread, at an address of its own, until the thread has
// ended.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: Self = Self;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        Native::thread_pointer()
    }
}
