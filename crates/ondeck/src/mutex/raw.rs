//! The byte, and the paths that need nothing else.

use core::fmt;

use super::release;
use crate::parking::attention;
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

/// A mutex without data, one byte; see the [module](super) for its protocol.
///
/// Programs use it as [`Mutex`](crate::Mutex). Its own methods are for locks built of it and for
/// platforms other than [`Linux`](crate::platform::Linux).
#[repr(transparent)]
pub struct RawMutex<P: Host> {
    pub(super) owned: P::AtomicU8,
}

impl<P: Host> fmt::Debug for RawMutex<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMutex").field("locked", &self.is_locked()).finish()
    }
}

impl<P: Host> Default for RawMutex<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Host> RawMutex<P> {
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
        // spec: Mutex!TryLock
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
        let byte = P::attention(owned.addr());
        // spec: Mutex!Section
        // An older value costs the one who waits another turn, no more.
        if byte.load(Ordering::Relaxed) == attention::HAND_OVER
            && release::hand_over_on_demand::<P>(owned)
        {
            return;
        }
        // spec: Mutex!Release
        self.owned.store(0, Ordering::Release);
        P::presumed_light_fence();
        // spec: Mutex!ReadAttention
        if byte.load(Ordering::Relaxed) != attention::SKIP {
            release::look_around::<P>(owned);
        }
    }

    /// Releases the lock by handing it to the waiter that has slept longest, if there is one.
    ///
    /// That one is asleep, so the lock rests until it runs: some microseconds, where
    /// [`unlock`](Self::unlock) would have let others have it. A waiter that still polls is not
    /// handed the lock; it finds it free.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock_fair(&self) {
        if !self.may_have_sleepers() || !release::hand_to_oldest::<P>(&raw const self.owned) {
            // SAFETY: as the caller promises.
            unsafe { self.unlock() };
        }
    }

    /// Lets the waiter that has slept longest have the lock for a turn, if there is one, and gets it
    /// back: [`unlock_fair`](Self::unlock_fair) and [`lock`](Self::lock), or two loads.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn bump(&self) {
        if self.may_have_sleepers() && release::hand_to_oldest::<P>(&raw const self.owned) {
            self.lock();
        }
    }

    /// Of the owner: a sleeper whose count it does not see yet has not had its last look.
    #[inline]
    fn may_have_sleepers(&self) -> bool {
        P::attention(self.address()).load(Ordering::Relaxed) != attention::SKIP
            && P::bucket(self.address()).has_parked()
    }

    /// Whether somebody owns the lock, for assertions and tests.
    pub fn is_locked(&self) -> bool {
        self.owned.load(Ordering::Relaxed) != 0
    }
}
