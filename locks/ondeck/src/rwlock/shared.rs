//! Readers: the count goes up if there is no writer, and down again. If the lock is biased, a slot
//! of the thread has the lock's address for that time instead.

use super::bias::retract;
use super::settle::wake_drainer;
use super::{
    ASLEEP, BIASED, MOST_READERS, NOT_AT_ONCE, ONE, READERS, RawRwLock, Shared, WRITER, Want,
};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};

impl<P: Host> RawRwLock<P> {
    /// Waits until the calling thread has a read lock.
    ///
    /// A thread that already holds a read lock may wait for ever, because a waiting writer keeps
    /// readers out: see [`lock_shared_recursive_counted`](Self::lock_shared_recursive_counted).
    #[inline]
    pub fn lock_shared(&self) -> Shared<P> {
        // spec: RwLock!Begin
        let state = self.state.load(Ordering::Relaxed);
        if self.count_at_once(state) {
            Shared::counted()
        } else {
            self.lock_shared_otherwise(state)
        }
    }

    /// Counts the caller, if `state` is still the word and permits that. A biased lock has visible
    /// readers instead.
    #[inline(always)]
    fn count_at_once(&self, state: u32) -> bool {
        let count = |state: u32| {
            let next = state + ONE;
            // spec: RwLock!Attempt
            self.state.compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        // A constant, because an exchange for it does not wait for the load.
        if state == 0 { count(0) } else { state & NOT_AT_ONCE == 0 && count(state) }
    }

    /// Acquires a read lock for a caller that cannot be counted at once. Not cold, because readers
    /// of biased locks come here.
    #[inline(never)]
    fn lock_shared_otherwise(&self, state: u32) -> Shared<P> {
        if let Some(held) = self.try_visible_at(state) {
            return held;
        }
        // The thread's slot is taken by another read. That is no reason to wait.
        if state & BIASED != 0 && self.attempt(Want::Read, 0) {
            return Shared::counted();
        }
        has(self.wait(Want::Read, None));
        self.make_biased();
        Shared::counted()
    }

    /// As [`lock_shared`](Self::lock_shared), after an attempt of the header for C and C++ has
    /// failed.
    #[doc(hidden)]
    pub fn lock_shared_after_attempt(&self) -> Shared<P> {
        self.lock_shared_otherwise(self.state.load(Ordering::Relaxed))
    }

    /// Acquires a read lock by a slot, if `state` is the word of a biased lock.
    #[inline(always)]
    fn try_visible_at(&self, state: u32) -> Option<Shared<P>> {
        let is_biased = state & (BIASED | WRITER) == BIASED;
        if is_biased { self.try_visible().map(Shared::visible) } else { None }
    }

    /// Acquires a read lock if there is no writer.
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

    /// Unlocks a read lock.
    ///
    /// # Safety
    ///
    /// `held` is the value that the acquisition of this lock returned.
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "what it stands for ends here")]
    pub unsafe fn unlock_shared(&self, held: Shared<P>) {
        let address = self.address();
        if let Some(slot) = held.slot {
            return retract::<P>(slot, address);
        }
        // spec: RwLock!ReaderLeaves
        // Release: a writer sees the sections of the readers before it. The last access (4).
        let before = self.state.fetch_sub(ONE, Ordering::Release);
        if before & (READERS | ASLEEP) == ONE | ASLEEP {
            wake_drainer::<P>(address);
        }
    }

    /// Unlocks a read lock for a moment if a writer waits, and then acquires one again.
    ///
    /// # Safety
    ///
    /// As for [`unlock_shared`](Self::unlock_shared).
    pub unsafe fn bump_shared(&self, held: &mut Shared<P>) {
        if self.state.load(Ordering::Relaxed) & WRITER == 0 {
            return;
        }
        let held_before = core::mem::replace(held, Shared::counted());
        // A panic below would leave a guard without its lock.
        let abort = AbortOnDrop;
        // SAFETY: as the caller promises.
        unsafe { self.unlock_shared(held_before) };
        *held = self.lock_shared();
        core::mem::forget(abort);
    }
}

/// Reads that the word always counts: for the shim, which must have no destructor of a thread, and
/// for guards that another thread may drop. Any thread may unlock a counted read.
impl<P: Host> RawRwLock<P> {
    /// As [`lock_shared`](Self::lock_shared), counted.
    #[inline]
    pub fn lock_shared_counted(&self) {
        if !self.try_lock_shared_counted() {
            has(self.wait(Want::Read, None));
        }
    }

    /// As [`try_lock_shared`](Self::try_lock_shared), counted. Returns whether the caller has the
    /// lock.
    #[inline]
    pub fn try_lock_shared_counted(&self) -> bool {
        self.attempt(Want::Read, 0)
    }

    /// As [`try_lock_shared_until`](Self::try_lock_shared_until), counted. Returns whether the
    /// caller has the lock.
    #[inline]
    pub fn try_lock_shared_counted_until(&self, deadline: Timestamp) -> bool {
        self.try_lock_shared_counted() || self.wait(Want::Read, Some(deadline))
    }

    /// As [`lock_shared_counted`](Self::lock_shared_counted), but never waits for a writer that is
    /// itself waiting: for a thread that may already have a read lock.
    #[inline]
    pub fn lock_shared_recursive_counted(&self) {
        if !self.try_lock_shared_recursive_counted() {
            has(self.wait(Want::Recursive, None));
        }
    }

    /// Acquires a read lock if no writer owns the lock. Returns whether it did.
    #[inline]
    pub fn try_lock_shared_recursive_counted(&self) -> bool {
        self.attempt(Want::Recursive, 0)
    }

    /// As [`lock_shared_recursive_counted`](Self::lock_shared_recursive_counted), but gives up at
    /// the deadline. Returns whether the caller has the lock.
    #[inline]
    pub fn try_lock_shared_recursive_counted_until(&self, deadline: Timestamp) -> bool {
        self.try_lock_shared_recursive_counted() || self.wait(Want::Recursive, Some(deadline))
    }

    /// Returns whether the count of readers is at its maximum, 2^23. Then the reads of this file
    /// fail, or panic instead of waiting.
    #[inline]
    pub fn has_most_readers(&self) -> bool {
        self.state.load(Ordering::Relaxed) & MOST_READERS != 0
    }

    /// Unlocks a counted read lock, on any thread.
    ///
    /// The counted read locks are those acquired by these functions, recursive reads, and the
    /// results of downgrades.
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

/// Wakes the writer that sleeps until the readers have left, after the caller has uncounted the
/// last one in a word with `ASLEEP`: the rest of an unlock that the header for C and C++ inlines.
/// The lock may be gone (4).
#[doc(hidden)]
pub fn last_reader_left<P: Host>(address: usize) {
    wake_drainer::<P>(address);
}

/// Checks the result of a wait without a deadline.
pub(super) fn has(lock: bool) {
    debug_assert!(lock, "without a deadline a wait ends with the lock");
}

/// Aborts the process when it is dropped, which happens while a panic unwinds.
pub(super) struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        panic!("ondeck: a read lock that was given up for a moment cannot be had again");
    }
}
