//! Readers: the count goes up if there is no writer, and down again; or, if the lock is biased, a slot of the
//! thread has the lock's address for that time.

use super::bias::retract;
use super::settle::wake_drainer;
use super::{ASLEEP, BIASED, MOST_READERS, ONE, READERS, RawRwLock, Shared, WRITER, Want};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

impl<P: Host> RawRwLock<P> {
    /// Waits until the calling thread has a read lock.
    ///
    /// A thread that holds one already may wait for ever, because a writer that waits keeps readers out:
    /// see [`lock_shared_recursive`](Self::lock_shared_recursive).
    #[inline]
    pub fn lock_shared(&self) -> Shared<P> {
        let state = self.state.load(Ordering::Relaxed);
        if self.count_at_once(state) {
            Shared::counted()
        } else {
            self.lock_shared_otherwise(state)
        }
    }

    /// Counts the caller, if `state` is still the word, and says that the caller may be counted. A lock that
    /// is biased has visible readers instead.
    #[inline(always)]
    fn count_at_once(&self, state: u32) -> bool {
        const NOT_AT_ONCE: u32 = WRITER | BIASED | MOST_READERS;
        let count = |state: u32| {
            let next = state + ONE;
            // spec: RwLock!Attempt
            self.state.compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        // A constant, because an exchange for it does not wait for the load.
        if state == 0 { count(0) } else { state & NOT_AT_ONCE == 0 && count(state) }
    }

    /// The caller cannot be counted at once. Not cold, because readers of biased locks come here.
    #[inline(never)]
    fn lock_shared_otherwise(&self, state: u32) -> Shared<P> {
        if let Some(held) = self.try_visible_at(state) {
            return held;
        }
        // The thread's slot has another read. That is no reason to wait.
        if state & BIASED != 0 && self.attempt(Want::Read, 0) {
            return Shared::counted();
        }
        let holds = self.wait(Want::Read, None);
        debug_assert!(holds, "without a deadline a wait ends with the lock");
        self.make_biased();
        Shared::counted()
    }

    /// A read lock by a slot, if `state` is that of a biased lock.
    #[inline(always)]
    fn try_visible_at(&self, state: u32) -> Option<Shared<P>> {
        let is_biased = state & (BIASED | WRITER) == BIASED;
        if is_biased { self.try_visible().map(Shared::visible) } else { None }
    }

    /// Takes a read lock if there is no writer.
    #[inline]
    pub fn try_lock_shared(&self) -> Option<Shared<P>> {
        self.try_visible_at(self.state.load(Ordering::Relaxed))
            .or_else(|| self.attempt(Want::Read, 0).then(Shared::counted))
    }

    /// As [`lock_shared`](Self::lock_shared), but gives up at the deadline.
    #[inline]
    pub fn try_lock_shared_until(&self, deadline: Timestamp) -> Option<Shared<P>> {
        self.try_lock_shared()
            .or_else(|| self.wait(Want::Read, Some(deadline)).then(Shared::counted))
    }

    /// As [`lock_shared`](Self::lock_shared), but never waits for a writer that waits itself: for a thread
    /// that may have a read lock already.
    #[inline]
    pub fn lock_shared_recursive(&self) -> Shared<P> {
        self.lock_shared_recursive_counted();
        Shared::counted()
    }

    /// Takes a read lock if no writer owns the lock.
    #[inline]
    pub fn try_lock_shared_recursive(&self) -> Option<Shared<P>> {
        self.try_lock_shared_recursive_counted().then(Shared::counted)
    }

    /// As [`lock_shared_recursive`](Self::lock_shared_recursive), but gives up at the deadline.
    #[inline]
    pub fn try_lock_shared_recursive_until(&self, deadline: Timestamp) -> Option<Shared<P>> {
        self.try_lock_shared_recursive_counted_until(deadline).then(Shared::counted)
    }

    /// Gives a read lock up.
    ///
    /// # Safety
    ///
    /// `held` is what the acquisition of this lock returned.
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "what it stands for ends here")]
    pub unsafe fn unlock_shared(&self, held: Shared<P>) {
        let address = self.address();
        if let Some(slot) = held.slot {
            return retract::<P>(slot, address);
        }
        // spec: RwLock!ReaderLeaves
        // Release: a writer sees what readers did before it. The last access (4).
        let before = self.state.fetch_sub(ONE, Ordering::Release);
        if before & (READERS | ASLEEP) == ONE | ASLEEP {
            wake_drainer::<P>(address);
        }
    }

    /// Gives a read lock up for a moment if a writer waits, and gets one back.
    ///
    /// # Safety
    ///
    /// As for [`unlock_shared`](Self::unlock_shared).
    pub unsafe fn bump_shared(&self, held: &mut Shared<P>) {
        if self.state.load(Ordering::Relaxed) & WRITER == 0 {
            return;
        }
        let held_before = core::mem::replace(held, Shared::counted());
        // Without the lock there is nothing to be held.
        let abort = AbortOnDrop;
        // SAFETY: as the caller promises.
        unsafe { self.unlock_shared(held_before) };
        *held = self.lock_shared();
        core::mem::forget(abort);
    }
}

/// Reads that the word counts, whatever the lock would prefer: for faces that have no place to keep a [`Shared`], as the
/// functions of C, and guards that another thread may drop. A counted read may be unlocked by any thread.
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

    /// Whether the count of readers is at its maximum, 2^24: the reads of this file would then
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

/// Ends the process when it is dropped: while a panic unwinds.
pub(super) struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        panic!("ondeck: a read lock that was given up for a moment cannot be had again");
    }
}
