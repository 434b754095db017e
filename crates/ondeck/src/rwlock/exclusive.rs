//! Writers: lock, unlock, downgrade; and the upgradable reader: one at a time, beside other readers, and the only one that may
//! become the writer without unlocking.

use super::settle::Mode;
use super::shared::AbortOnDrop;
use super::{
    ASLEEP, BIASED, DRAINING, IN_FLIGHT, ONE, PARKED, READERS, RawRwLock, Shared, UPGRADABLE,
    WRITER, Want, with_writer,
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
        self.lock_exclusive_at_once() || self.own_at_once(|state| Want::Write.acquire(state), 0)
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

    /// Acquires the lock as a writer, by what `writer` makes of the word, unless there are readers; says whether it did. If a
    /// visible reader was overlooked at first, gives `WRITER` up, and sets `instead`.
    #[cold]
    fn own_at_once(&self, writer: impl Fn(u32) -> Option<u32>, instead: u32) -> bool {
        /// A deadline that has passed.
        const NOW: Option<Timestamp> = Some(Timestamp::from_nanos(0));
        // A heavy fence is made only if it seems that no reader is in the way.
        let has_readers = |state| state & READERS != 0 || state & BIASED != 0 && self.has_visible();
        self.try_change(|state| writer(state).filter(|_| !has_readers(state)))
            && self.drain_or_leave(NOW, instead)
    }

    /// Waits for readers to leave, if there are any. At the deadline it gives `WRITER` up, sets `instead`,
    /// and returns false.
    fn drain_or_leave(&self, deadline: Option<Timestamp>, instead: u32) -> bool {
        let owner = self.drain(deadline);
        if !owner {
            self.give_back(|state| without_writer(state) | instead, Mode::Unlock);
        }
        owner
    }

    /// Changes the word if `next` says to what; says whether it did. Acquire: for acquisitions.
    #[inline(always)]
    pub(super) fn try_change(&self, mut next: impl FnMut(u32) -> Option<u32>) -> bool {
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
            self.unlock_exclusive_slow();
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
        self.give_back(without_writer, Mode::Fair);
    }

    #[cold]
    #[inline(never)]
    fn unlock_exclusive_slow(&self) {
        self.give_back(without_writer, Mode::Unlock);
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
        self.give_back(|state| without_writer(state) + ONE, Mode::Unlock);
        Shared::counted()
    }

    /// Makes the write lock an upgradable read lock; no writer comes in between.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn downgrade_to_upgradable(&self) {
        self.give_back(|state| without_writer(state) | UPGRADABLE, Mode::Unlock);
    }

    /// Takes off the word what `give` takes off it. If threads are parked and none is in flight, sees to it
    /// that some go on; fairly, those that have waited longest are handed the lock.
    #[inline]
    fn give_back(&self, give: impl Fn(u32) -> u32, mode: Mode) {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let settled = if mode == Mode::Fair { 0 } else { IN_FLIGHT };
            if state & PARKED != 0 && state & settled == 0 {
                return self.settle(&give, mode);
            }
            // spec: RwLock!GiveBack
            // Release: see `unlock_exclusive`. The last access (4).
            let next = give(state);
            match self.state.compare_exchange(state, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => state = found,
            }
        }
    }
}

/// The upgradable reader.
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
        self.give_back(|state| state & !UPGRADABLE, Mode::Unlock);
    }

    /// Gives the upgradable read lock up, and hands the lock to the thread that has been parked longest, if
    /// there is one.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn unlock_upgradable_fair(&self) {
        self.give_back(|state| state & !UPGRADABLE, Mode::Fair);
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
        self.give_back(|state| (state & !UPGRADABLE) + ONE, Mode::Unlock);
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
        self.own_at_once(|state| Some(upgraded(state)), UPGRADABLE)
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

/// The word without its writer, whether that drained or not.
fn without_writer(state: u32) -> u32 {
    state & !(WRITER | DRAINING | ASLEEP)
}

/// The word after the upgradable reader has become a writer, which drains if there are readers.
fn upgraded(state: u32) -> u32 {
    with_writer(state & !UPGRADABLE)
}
