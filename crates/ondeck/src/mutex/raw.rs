//! TODO header

use core::fmt;

use super::release;
use crate::parking::attention;
use crate::platform::{AtomicInt, Ordering, Platform, Timestamp};

/// A mutex without data, one byte.
#[repr(transparent)]
pub struct RawMutex<P: Platform> {
    pub(super) owned: P::AtomicU8,
}

impl<P: Platform> fmt::Debug for RawMutex<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMutex").field("locked", &self.is_locked()).finish()
    }
}

impl<P: Platform> Default for RawMutex<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform> RawMutex<P> {
    /// An unlocked mutex.
    pub fn new() -> Self {
        Self { owned: AtomicInt::new(0) }
    }

    /// The name of this mutex in the parking table.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        (&raw const self.owned).addr()
    }

    /// The byte, for whoever finds this mutex through one of its waiters.
    pub(crate) fn byte(&self) -> *const P::AtomicU8 {
        &raw const self.owned
    }

    /// Waits until the lock is this thread's.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            // Without a deadline it does not come back without the lock.
            let _ = self.lock_slow(None);
        }
    }

    /// Acquires the lock if it is free; says whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        if P::single_threaded() {
            // Nobody else: plain accesses will do, and a signal handler in between gives back what
            // it takes.
            let free = self.owned.load(Ordering::Relaxed) == 0;
            self.owned.store(1, Ordering::Relaxed);
            return free;
        }
        !P::test_and_set(&self.owned, Ordering::Acquire)
    }

    /// As [`lock`](Self::lock), but gives up at the deadline; says whether it has the lock.
    #[inline]
    pub fn try_lock_until(&self, deadline: Timestamp) -> bool {
        self.try_lock() || self.lock_slow(Some(deadline))
    }

    /// Releases the lock.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock(&self) {
        let owned = &raw const self.owned;
        self.owned.store(0, Ordering::Release);
        P::presumed_light_fence();
        if P::attention(owned.addr()).load(Ordering::Relaxed) != attention::SKIP {
            release::look_around::<P>(owned);
        }
    }

    /// Whether somebody owns the lock, for assertions and tests.
    pub fn is_locked(&self) -> bool {
        self.owned.load(Ordering::Relaxed) != 0
    }
}
