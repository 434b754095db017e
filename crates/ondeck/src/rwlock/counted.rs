//! Reads that the word counts, whatever the lock would prefer: for faces that have no place to keep a
//! [`Shared`].
//!
//! A read lock says by its `Shared` how it was taken, and its unlock needs that. The functions of C, and
//! guards that another thread may drop, have nothing that they could keep it in. Their reads are counted,
//! and a counted read may be unlocked by any thread.

use super::{MOST_READERS, RawRwLock, Shared, Want};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

impl<P: Host> RawRwLock<P> {
    /// As [`lock_shared`](Self::lock_shared), counted.
    #[inline]
    pub fn lock_shared_counted(&self) {
        if !self.try_lock_shared_counted() {
            let holds = self.wait(Want::Read, None);
            debug_assert!(holds, "without a deadline a wait ends with the lock");
        }
    }

    /// As [`try_lock_shared`](Self::try_lock_shared), counted; says whether the caller has the lock.
    #[inline]
    pub fn try_lock_shared_counted(&self) -> bool {
        self.attempt(Want::Read, 0)
    }

    /// As [`try_lock_shared_until`](Self::try_lock_shared_until), counted; says whether the caller has the
    /// lock.
    #[inline]
    pub fn try_lock_shared_counted_until(&self, deadline: Timestamp) -> bool {
        self.try_lock_shared_counted() || self.wait(Want::Read, Some(deadline))
    }

    /// As [`lock_shared_recursive`](Self::lock_shared_recursive), counted; it never makes later reads visible, so that
    /// it needs nothing of the thread.
    #[inline]
    pub fn lock_shared_recursive_counted(&self) {
        if !self.try_lock_shared_recursive_counted() {
            let holds = self.wait(Want::Recursive, None);
            debug_assert!(holds, "without a deadline a wait ends with the lock");
        }
    }

    /// As [`try_lock_shared_recursive`](Self::try_lock_shared_recursive), counted; says whether the caller has the lock.
    #[inline]
    pub fn try_lock_shared_recursive_counted(&self) -> bool {
        self.attempt(Want::Recursive, 0)
    }

    /// As [`try_lock_shared_recursive_until`](Self::try_lock_shared_recursive_until), counted; says whether the caller
    /// has the lock.
    #[inline]
    pub fn try_lock_shared_recursive_counted_until(&self, deadline: Timestamp) -> bool {
        self.try_lock_shared_recursive_counted() || self.wait(Want::Recursive, Some(deadline))
    }

    /// Whether there are so many counted readers that there can be no more, 2^24: the reads of this file would then
    /// fail, or panic instead of waiting.
    #[inline]
    pub fn has_most_readers(&self) -> bool {
        self.state.load(Ordering::Relaxed) & MOST_READERS != 0
    }

    /// Gives a counted read lock up, by any thread.
    ///
    /// Counted are those of this file, recursive reads, and what a downgrade leaves.
    ///
    /// # Safety
    ///
    /// There is a counted read lock that is not unlocked otherwise.
    #[inline]
    pub unsafe fn unlock_shared_counted(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.unlock_shared(Shared::counted()) };
    }
}
