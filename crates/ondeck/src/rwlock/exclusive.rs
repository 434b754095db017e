//! Writers: lock, unlock, downgrade.

use super::settle::Mode;
use super::{
    BIASED, DRAINING, IN_FLIGHT, ONE, PARKED, READERS, RawRwLock, Shared, UPGRADABLE, WRITER, Want,
};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

impl<P: Host> RawRwLock<P> {
    /// Waits until the calling thread owns the lock.
    #[inline]
    pub fn lock_exclusive(&self) {
        if !self.lock_exclusive_at_once() {
            let owner = self.lock_exclusive_slow(None);
            debug_assert!(owner, "without a deadline a wait ends with the lock");
        }
    }

    /// Acquires the lock if no thread holds it in any way; says whether it did.
    #[inline]
    pub fn try_lock_exclusive(&self) -> bool {
        self.lock_exclusive_at_once() || self.try_lock_exclusive_slow()
    }

    /// As [`lock_exclusive`](Self::lock_exclusive), but gives up at the deadline; says whether it owns the
    /// lock.
    #[inline]
    pub fn try_lock_exclusive_until(&self, deadline: Timestamp) -> bool {
        self.lock_exclusive_at_once() || self.lock_exclusive_slow(Some(deadline))
    }

    #[inline(always)]
    fn lock_exclusive_at_once(&self) -> bool {
        const FOR_OTHERS: u32 = PARKED | IN_FLIGHT;
        let take = |state| {
            let next = state | WRITER;
            // spec: RwLock!Attempt
            self.state.compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed)
        };
        // Not read before: that would fetch the line twice.
        match take(0) {
            Ok(_) => true,
            // Parked threads keep no writer out.
            Err(found) => found & !FOR_OTHERS == 0 && take(found).is_ok(),
        }
    }

    #[cold]
    #[inline(never)]
    fn lock_exclusive_slow(&self, deadline: Option<Timestamp>) -> bool {
        // A bias is no reason to pause.
        let biased = self.state.load(Ordering::Relaxed) & BIASED != 0;
        let first = biased && self.attempt(Want::Write, 0) || self.wait(Want::Write, deadline);
        first && self.drain_or_leave(deadline, 0)
    }

    /// Some bits are set, but maybe none that says that a thread holds the lock.
    #[cold]
    fn try_lock_exclusive_slow(&self) -> bool {
        let not_held = |state| Want::Write.acquire(state).filter(|_| state & READERS == 0);
        if self.state.load(Ordering::Relaxed) & BIASED == 0 {
            return self.try_change(|state| not_held(state).filter(|next| next & DRAINING == 0));
        }
        // A heavy fence is made only if it seems that no reader is in the way.
        !self.has_visible() && self.try_change(not_held) && self.revoke_at_once(0)
    }

    /// Waits for readers to leave, if there are any. At the deadline it gives `WRITER` up, sets `instead`,
    /// and returns false.
    pub(super) fn drain_or_leave(&self, deadline: Option<Timestamp>, instead: u32) -> bool {
        let owner = self.drain(deadline);
        if !owner {
            self.give_back(|state| without_writer(state) | instead, false);
        }
        owner
    }

    /// Changes the word if `next` says to what; says whether it did. Acquire: for acquisitions.
    #[inline(always)]
    pub(super) fn try_change(&self, next: impl Fn(u32) -> Option<u32>) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while let Some(next) = next(state) {
            match self.state.compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => state = found,
            }
        }
        false
    }

    /// Unlocks.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock_exclusive(&self) {
        let give = |state: u32| {
            let next = state & !WRITER;
            // spec: RwLock!GiveBack
            // Release: later owners and readers see what this one did. The last access (4).
            self.state.compare_exchange(state, next, Ordering::Release, Ordering::Relaxed)
        };
        // Not read before: the exchange would wait for that.
        let gives = match give(WRITER) {
            Ok(_) => true,
            Err(found) => found & (PARKED | IN_FLIGHT) != PARKED && give(found).is_ok(),
        };
        if !gives {
            self.unlock_exclusive_slow(false);
        }
    }

    /// Unlocks by handing the lock to the thread that has been parked longest, if there is one; to all
    /// parked readers if it is a reader.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock_exclusive_fair(&self) {
        if self.state.compare_exchange(WRITER, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.unlock_exclusive_slow(true);
        }
    }

    #[cold]
    #[inline(never)]
    fn unlock_exclusive_slow(&self, fair: bool) {
        self.give_back(without_writer, fair);
    }

    /// Lets the thread that has been parked longest have the lock for a turn, if there is one, and gets it
    /// back.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn bump_exclusive(&self) {
        if self.state.load(Ordering::Relaxed) & PARKED != 0 {
            // SAFETY: as the caller promises.
            unsafe { self.unlock_exclusive_fair() };
            self.lock_exclusive();
        }
    }

    /// Makes the write lock a read lock; no writer comes in between.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn downgrade(&self) -> Shared<P> {
        self.give_back(|state| without_writer(state) + ONE, false);
        Shared::counted()
    }

    /// Makes the write lock an upgradable read lock; no writer comes in between.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn downgrade_to_upgradable(&self) {
        self.give_back(|state| without_writer(state) | UPGRADABLE, false);
    }

    /// Takes off the word what `give` takes off it. If threads are parked and none is in flight, sees to it
    /// that some go on; with `fair`, those that have waited longest are handed the lock.
    #[inline]
    pub(super) fn give_back(&self, give: impl Fn(u32) -> u32, fair: bool) {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let settled = if fair { 0 } else { IN_FLIGHT };
            if state & PARKED != 0 && state & settled == 0 {
                return self.settle(&give, if fair { Mode::Fair } else { Mode::Unlock });
            }
            // spec: RwLock!GiveBack
            // Release: see `unlock_exclusive`. The last access (4).
            match self.state.compare_exchange(
                state,
                give(state),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(found) => state = found,
            }
        }
    }
}

/// The word without its writer, whether that drained or not.
pub(super) fn without_writer(state: u32) -> u32 {
    state & !(WRITER | DRAINING | super::ASLEEP)
}
