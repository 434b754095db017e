//! Writers: lock, unlock, downgrade. Also the upgradable reader: one at a time, beside other
//! readers, and the only one that may become the writer without unlocking.

use super::shared::{AbortOnDrop, has};
use super::{
    ASLEEP, BIASED, DRAINING, IN_FLIGHT, ONE, PARKED, READERS, RawRwLock, Shared, UPGRADABLE,
    WRITER, Want, with_writer,
};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

impl<P: Host> RawRwLock<P> {
    /// Waits until the calling thread owns the lock.
    #[inline]
    pub fn lock_exclusive(&self) {
        if !self.lock_exclusive_soon() {
            has(self.lock_exclusive_slow(None));
        }
    }

    /// Acquires the lock if no thread holds it in any way. Returns whether it did.
    #[inline]
    pub fn try_lock_exclusive(&self) -> bool {
        self.lock_exclusive_soon() || {
            let marks = self.marks_in_the_way();
            self.own_at_once(|state| Want::Write.acquire(state & !marks), 0)
        }
    }

    /// As [`lock_exclusive`](Self::lock_exclusive), but gives up at the deadline. Returns whether
    /// the caller owns the lock.
    #[inline]
    pub fn try_lock_exclusive_until(&self, deadline: Timestamp) -> bool {
        self.lock_exclusive_soon() || self.lock_exclusive_slow(Some(deadline))
    }

    #[inline(always)]
    fn lock_exclusive_soon(&self) -> bool {
        // The word is not read first: that would fetch the line twice.
        match self.lock_exclusive_at_once(0) {
            Ok(_) => true,
            Err(found) => {
                core::hint::cold_path();
                self.lock_exclusive_beside_parked(found)
            }
        }
    }

    /// Acquires the lock in one step if `state` is its word, without readers or a writer.
    #[inline(always)]
    fn lock_exclusive_at_once(&self, state: u32) -> Result<u32, u32> {
        let next = state | WRITER;
        // spec: RwLock!Attempt
        self.state.compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed)
    }

    /// Acquires the lock if the word, which is `found`, shows parked threads only: they do not keep
    /// a writer out.
    #[inline(always)]
    fn lock_exclusive_beside_parked(&self, found: u32) -> bool {
        found & !(PARKED | IN_FLIGHT) == 0 && self.lock_exclusive_at_once(found).is_ok()
    }

    /// As [`lock_exclusive`](Self::lock_exclusive), after the header for C and C++ has found the
    /// word `found` instead of 0.
    #[doc(hidden)]
    pub fn lock_exclusive_after_attempt(&self, found: u32) {
        if !self.lock_exclusive_beside_parked(found) {
            has(self.lock_exclusive_slow(None));
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

    /// Acquires the lock as a writer, by the change that `writer` makes to the word, unless there
    /// are readers. Returns whether it did. If a visible reader was overlooked at first, clears
    /// `WRITER`, and sets `instead`.
    #[cold]
    fn own_at_once(&self, writer: impl Fn(u32) -> Option<u32>, instead: u32) -> bool {
        /// A deadline that has passed.
        const NOW: Option<Timestamp> = Some(Timestamp::from_nanos(0));
        // A heavy fence is made only if no reader appears to be in the way.
        let has_readers = |state| state & READERS != 0 || state & BIASED != 0 && self.has_visible();
        self.try_change(|state| writer(state).filter(|_| !has_readers(state)))
            && self.drain_or_leave(NOW, instead)
    }

    /// Waits for readers to leave, if there are any. At the deadline it clears `WRITER`, sets
    /// `instead`, and returns false.
    fn drain_or_leave(&self, deadline: Option<Timestamp>, instead: u32) -> bool {
        let owner = self.drain(deadline);
        // spec: RwLock!DrainerGivesUp
        if !owner {
            self.give_back(|state| without_writer(state) | instead, false);
        }
        owner
    }

    /// Changes the word to the value that `next` returns, if it returns one. Returns whether it
    /// did. Acquire: for acquisitions.
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
            // Release: later owners and readers see this owner's section. The last access (4).
            self.state.compare_exchange(state, next, Ordering::Release, Ordering::Relaxed)
        };
        // The word is not read first: the exchange would wait for that load.
        let gives = match give(WRITER) {
            Ok(_) => true,
            Err(found) => {
                core::hint::cold_path();
                found & (PARKED | IN_FLIGHT) != PARKED && give(found).is_ok()
            }
        };
        if !gives {
            self.unlock_exclusive_slow();
        }
    }

    /// As [`unlock_exclusive`](Self::unlock_exclusive), after an attempt of the header for C and
    /// C++ has failed.
    ///
    /// # Safety
    ///
    /// As for [`unlock_exclusive`](Self::unlock_exclusive).
    #[doc(hidden)]
    pub unsafe fn unlock_exclusive_after_attempt(&self) {
        self.unlock_exclusive_slow();
    }

    /// Unlocks, and reserves the next turn for the thread that has been parked longest, if there is
    /// one.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock_exclusive_fair(&self) {
        self.give_back(without_writer, true);
    }

    #[cold]
    #[inline(never)]
    fn unlock_exclusive_slow(&self) {
        self.give_back(without_writer, false);
    }

    /// Gives the thread that has been parked longest, if there is one, a turn with the lock, and
    /// then locks again.
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

    /// Turns the write lock into a read lock; no writer comes in between.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn downgrade(&self) -> Shared<P> {
        self.give_back(|state| without_writer(state) + ONE, false);
        Shared::counted()
    }

    /// Turns the write lock into an upgradable read lock; no writer comes in between.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn downgrade_to_upgradable(&self) {
        self.give_back(|state| without_writer(state) | UPGRADABLE, false);
    }

    /// Changes the word by `give`. If threads are parked and none is in flight, lets some continue.
    /// If `is_fair`, reserves the next turn for the one that has waited longest.
    #[inline]
    fn give_back(&self, give: impl Fn(u32) -> u32, is_fair: bool) {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let settled = if is_fair { 0 } else { IN_FLIGHT };
            if state & PARKED != 0 && state & settled == 0 {
                return self.settle(&give, is_fair);
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
            has(self.wait(Want::Upgradable, None));
        }
    }

    /// Acquires the upgradable read lock if there is neither a writer nor another upgradable
    /// reader. Returns whether it did.
    #[inline]
    pub fn try_lock_upgradable(&self) -> bool {
        // The word is not read first, as in `lock_exclusive_soon`.
        self.state.compare_exchange(0, UPGRADABLE, Ordering::Acquire, Ordering::Relaxed).is_ok()
            || self.attempt(Want::Upgradable, 0)
            || self.try_lock_reserved_upgradable()
    }

    /// Acquires the upgradable read lock in place of a thread whose reserved turn is over.
    fn try_lock_reserved_upgradable(&self) -> bool {
        let marks = self.marks_in_the_way();
        let has = marks != 0 && self.attempt(Want::Upgradable, marks);
        if has {
            self.pass_on(Want::Upgradable, marks);
        }
        has
    }

    /// As [`lock_upgradable`](Self::lock_upgradable), but gives up at the deadline. Returns whether
    /// the caller has the lock.
    #[inline]
    pub fn try_lock_upgradable_until(&self, deadline: Timestamp) -> bool {
        self.try_lock_upgradable() || self.wait(Want::Upgradable, Some(deadline))
    }

    /// Unlocks the upgradable read lock.
    ///
    /// # Safety
    ///
    /// The calling thread has the upgradable read lock.
    #[inline]
    pub unsafe fn unlock_upgradable(&self) {
        self.give_back(|state| state & !UPGRADABLE, false);
    }

    /// Unlocks the upgradable read lock, and reserves the next turn for the thread that has been
    /// parked longest, if there is one.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn unlock_upgradable_fair(&self) {
        self.give_back(|state| state & !UPGRADABLE, true);
    }

    /// Gives the thread that has been parked longest, if there is one, a turn with the lock, and
    /// then acquires the upgradable read lock again.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn bump_upgradable(&self) {
        if self.state.load(Ordering::Relaxed) & PARKED != 0 {
            // A panic below would leave a guard without its lock.
            let abort = AbortOnDrop;
            // SAFETY: as the caller promises.
            unsafe { self.unlock_upgradable_fair() };
            self.lock_upgradable();
            core::mem::forget(abort);
        }
    }

    /// Turns the upgradable read lock into a read lock.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn downgrade_upgradable(&self) -> Shared<P> {
        self.give_back(|state| (state & !UPGRADABLE) + ONE, false);
        Shared::counted()
    }

    /// Turns the upgradable read lock into the write lock, after all readers have left. No other
    /// writer comes in between.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn upgrade(&self) {
        if !self.upgrade_at_once() {
            has(self.upgrade_until(None));
        }
    }

    /// As [`upgrade`](Self::upgrade), but only if there are no readers. Returns whether the caller
    /// owns the lock. If not, it still has the upgradable read lock.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn try_upgrade(&self) -> bool {
        self.upgrade_at_once() || self.own_at_once(|state| Some(upgraded(state)), UPGRADABLE)
    }

    /// As [`upgrade`](Self::upgrade), but gives up at the deadline. Returns whether the caller owns
    /// the lock. If not, it still has the upgradable read lock.
    ///
    /// # Safety
    ///
    /// As for [`unlock_upgradable`](Self::unlock_upgradable).
    #[inline]
    pub unsafe fn try_upgrade_until(&self, deadline: Timestamp) -> bool {
        self.upgrade_until(Some(deadline))
    }

    /// Upgrades if no other thread reads or is parked: the writer then has no reader to wait for.
    #[inline(always)]
    fn upgrade_at_once(&self) -> bool {
        // The word is not read first: the exchange would wait for that load. Acquire: pairs with
        // the unlocks of readers.
        self.state
            .compare_exchange(UPGRADABLE, WRITER, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    #[inline(never)]
    fn upgrade_until(&self, deadline: Option<Timestamp>) -> bool {
        let changed = self.try_change(|state| Some(upgraded(state)));
        debug_assert!(changed);
        self.drain_or_leave(deadline, UPGRADABLE)
    }
}

/// Returns the word without its writer, whether that drained or not.
fn without_writer(state: u32) -> u32 {
    state & !(WRITER | DRAINING | ASLEEP)
}

/// Returns the word after the upgradable reader has become a writer, which drains if there are
/// readers.
fn upgraded(state: u32) -> u32 {
    with_writer(state & !UPGRADABLE)
}
