//! The upgradable reader: one at a time, beside other readers, and the only one that may become the writer
//! without unlocking.

use super::shared::AbortOnDrop;
use super::{BIASED, DRAINING, ONE, PARKED, READERS, RawRwLock, Shared, UPGRADABLE, Want};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

impl<P: Host> RawRwLock<P> {
    /// Waits until the calling thread has the upgradable read lock.
    #[inline]
    pub fn lock_upgradable(&self) {
        if !self.try_lock_upgradable() {
            let holds = self.wait(Want::Upgradable, None);
            debug_assert!(holds, "without a deadline a wait ends with the lock");
        }
    }

    /// Takes the upgradable read lock if there is neither a writer nor another one; says whether it did.
    #[inline]
    pub fn try_lock_upgradable(&self) -> bool {
        self.attempt(Want::Upgradable, 0)
    }

    /// As [`lock_upgradable`](Self::lock_upgradable), but gives up at the deadline; says whether it has it.
    #[inline]
    pub fn try_lock_upgradable_until(&self, deadline: Timestamp) -> bool {
        self.try_lock_upgradable() || self.wait(Want::Upgradable, Some(deadline))
    }

    /// Gives the upgradable read lock up.
    ///
    /// # Safety
    ///
    /// The calling thread has the upgradable read lock.
    #[inline]
    pub unsafe fn unlock_upgradable(&self) {
        self.give_back(|state| state & !UPGRADABLE, false);
    }

    /// Gives the upgradable read lock up, and hands the lock to the thread that has been parked longest, if
    /// there is one.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn unlock_upgradable_fair(&self) {
        self.give_back(|state| state & !UPGRADABLE, true);
    }

    /// Lets the thread that has been parked longest have the lock for a turn, if there is one, and gets the
    /// upgradable read lock back.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn bump_upgradable(&self) {
        if self.state.load(Ordering::Relaxed) & PARKED != 0 {
            // Without the lock there is nothing to be held.
            let abort = AbortOnDrop;
            // SAFETY: as the caller promises.
            unsafe { self.unlock_upgradable_fair() };
            self.lock_upgradable();
            core::mem::forget(abort);
        }
    }

    /// Makes the upgradable read lock a read lock.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn downgrade_upgradable(&self) -> Shared<P> {
        self.give_back(|state| (state & !UPGRADABLE) + ONE, false);
        Shared::counted()
    }

    /// Makes the upgradable read lock the write lock, after all readers have left. No other writer comes
    /// in between.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn upgrade(&self) {
        let owner = self.upgrade_until(None);
        debug_assert!(owner, "without a deadline a wait ends with the lock");
    }

    /// As [`upgrade`](Self::upgrade), but only if there are no readers; says whether the caller owns the
    /// lock. If not, it still has the upgradable read lock.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn try_upgrade(&self) -> bool {
        let alone = |state| (state & READERS == 0).then_some(upgraded(state));
        if self.state.load(Ordering::Relaxed) & BIASED == 0 {
            return self.try_change(|state| alone(state).filter(|next| next & DRAINING == 0));
        }
        !self.has_visible() && self.try_change(alone) && self.revoke_at_once(UPGRADABLE)
    }

    /// As [`upgrade`](Self::upgrade), but gives up at the deadline; says whether the caller owns the lock.
    /// If not, it still has the upgradable read lock.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn try_upgrade_until(&self, deadline: Timestamp) -> bool {
        self.upgrade_until(Some(deadline))
    }

    fn upgrade_until(&self, deadline: Option<Timestamp>) -> bool {
        let changed = self.try_change(|state| Some(upgraded(state)));
        debug_assert!(changed);
        self.drain_or_leave(deadline, UPGRADABLE)
    }
}

/// The word after the upgradable reader has become a writer, which drains if there are readers.
fn upgraded(state: u32) -> u32 {
    super::with_writer(state & !UPGRADABLE)
}
