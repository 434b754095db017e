//! A mutex that its owner may lock again.
//!
//! It has no protocol of its own: it is [`lock_api::RawReentrantMutex`] over the one-byte
//! [`RawMutex`], with the owner's identifier and a count beside the byte. This file adds the
//! identifier of a thread.
//!
//! # The identifier of a thread
//!
//! [`RawThreadId`] is the thread pointer, the address of the block that the C library created for
//! the thread: one load of a register or two. It is never 0, no two live threads have the same one,
//! and a thread keeps it to its end, even in its thread-local destructors. Reading it makes no
//! allocation and registers no destructor, so a global allocator may use these mutexes. A
//! thread-local variable of a shared library may be allocated by the first thread that takes its
//! address; the thread pointer is not.
//!
//! A thread may end with the mutex, if it has forgotten a guard. The mutex stays locked, but the C
//! library may give the block of that thread to a thread that starts later, which is then the owner
//! by its identifier. That is sound, because the ended thread no longer uses anything, and guards
//! give only shared references. The standard library's `ReentrantLock` has numbers instead, and
//! stays locked for all threads.
//!
//! The child of a fork has the thread pointer of the thread that forked: a mutex that this thread
//! owned is owned in the child, and the child's thread may unlock it.
//!
//! # Memory ordering
//!
//! The owner's identifier is relaxed. A thread that reads its own identifier there has written it
//! itself and not cleared it yet. Any other value, however old, means that the thread does not own
//! the mutex. The byte orders the protected data.

use core::num::NonZeroUsize;

use crate::mutex::RawMutex;
use crate::platform::Native;

/// A mutual-exclusion lock that its owner may lock again.
///
/// It is unlocked when the last guard of its owner is dropped. Several guards may exist at the same
/// time, so a guard gives a `&T`: mutable data needs a [`Cell`](core::cell::Cell) or
/// [`RefCell`](core::cell::RefCell). The type is an instance of [`lock_api::ReentrantMutex`] and
/// has all of its methods: mapped guards, attempts with deadlines, a fair unlock, `bump`, and owned
/// guards with the feature `arc_lock`. It can be a `static`.
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
/// A lock and unlock of a free mutex costs as much as with [`Mutex`](crate::Mutex), one atomic
/// read-modify-write, and four plain accesses more. A lock by its owner makes no atomic
/// read-modify-write.
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

/// The guard that [`ReentrantMutex::lock`] returns. Dropping the last guard of its thread unlocks
/// the mutex.
pub type ReentrantMutexGuard<'a, T> =
    lock_api::ReentrantMutexGuard<'a, RawMutex<Native>, RawThreadId, T>;

/// A guard of a part of the protected data; see [`lock_api::ReentrantMutexGuard::map`].
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex<Native>, RawThreadId, T>;

/// A guard that owns a share of the mutex rather than borrowing it; see
/// [`ReentrantMutex::lock_arc`](lock_api::ReentrantMutex::lock_arc).
#[cfg(feature = "arc_lock")]
pub type ArcReentrantMutexGuard<T> =
    lock_api::ArcReentrantMutexGuard<RawMutex<Native>, RawThreadId, T>;

/// The identifier of the calling thread; see the [module](self).
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

// SAFETY: no two live threads have the same: the address of the C library's block of a thread, or
// elsewhere the system's number of it (`System::thread_pointer`). What may follow when it is used
// again: see the top.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: Self = Self;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        Native::thread_pointer()
    }
}
