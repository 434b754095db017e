//! A thread that the lock is not biased to: it revokes the bias, and waits for the owner to leave.

use core::ptr;

use super::{NOBODY, REVOKED, RawBiasedMutex};
use crate::parking::{Row, Slice, Slot};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};
use crate::spin::Waits;

impl<P: Host> RawBiasedMutex<P> {
    /// The calling thread has `inner`, and `owner` was this. Waits until no thread is inside, and clears it; false
    /// if the deadline passed before.
    #[cold]
    #[inline(never)]
    pub(super) fn revoke(&self, owner: usize, deadline: Option<Timestamp>) -> bool {
        let slot = self.place_of(owner);
        if self.is_own_and_elsewhere(owner, slot) {
            self.history.restarts();
        } else {
            self.shut(owner);
            if !self.wait_outside(slot, deadline) {
                return false;
            }
        }
        // spec: Biased!Clear
        self.owner.store(NOBODY, Ordering::Relaxed);
        true
    }

    /// The same for an attempt, which waits for no thread.
    #[cold]
    #[inline(never)]
    pub(super) fn revoke_at_once(&self, owner: usize) -> bool {
        let slot = self.place_of(owner);
        if self.is_own_and_elsewhere(owner, slot) {
            self.history.restarts();
        } else {
            // An owner that is seen inside is left alone.
            if self.is_inside(slot) {
                return false;
            }
            self.shut(owner);
            if self.is_inside(slot) {
                return false;
            }
        }
        self.owner.store(NOBODY, Ordering::Relaxed);
        true
    }

    /// Whether the lock is biased to the calling thread, which is not inside: its slot is another lock's. Then no
    /// other thread can come in, and no fence is needed.
    fn is_own_and_elsewhere(&self, owner: usize, slot: &Slot<P>) -> bool {
        P::row().map(Row::address) == Some(owner) && !self.is_inside(slot)
    }

    /// From now on the thread of the row does not come in by its slot.
    fn shut(&self, owner: usize) {
        // Another thread has done so, and has given up.
        if owner & REVOKED != 0 {
            return;
        }
        let begin = P::ticks() as usize;
        // spec: Biased!Revoke
        self.owner.store(owner | REVOKED, Ordering::Relaxed);
        // spec: Biased!HeavyFence
        P::heavy_fence();
        if P::heavy_fences_are_refused() {
            crate::rwlock::settle_stores::<P>();
        }
        self.history.ends(begin);
    }

    /// Whether the thread of the slot's row is inside by the slot.
    pub(super) fn is_inside(&self, slot: &Slot<P>) -> bool {
        // spec: Biased!LookAtSlot
        // Acquire: pairs with the store of the owner that left, or with a later one of its thread.
        slot.lock.load(Ordering::Acquire) == self.address()
    }

    /// Waits until the owner has left; false if the deadline passed before.
    fn wait_outside(&self, slot: &Slot<P>, deadline: Option<Timestamp>) -> bool {
        let mut slice = Slice::begin::<P>();
        loop {
            if self.watch(slot) {
                return true;
            }
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                return false;
            }
            // spec: Biased!Mark
            slot.awaited.store(1, Ordering::Relaxed);
            // spec: Biased!FenceBeforeSleep
            // The unlock sees the mark, or is seen below.
            P::heavy_fence();
            if !self.is_inside(slot) {
                return true;
            }
            // Where the fence was none the unlock may miss the mark.
            let mut until = deadline;
            if P::heavy_fences_are_refused() {
                until = Some(deadline.map_or(slice.end, |deadline| deadline.min(slice.end)));
            }
            // spec: Biased!Sleep
            let _ = P::futex_wait(&slot.awaited, 1, until);
            slice.next::<P>();
        }
    }

    /// Looks for as long as a wake takes whether the owner has left.
    fn watch(&self, slot: &Slot<P>) -> bool {
        let most = Waits::now::<P>().polling;
        let begin = P::ticks() as usize;
        loop {
            if !self.is_inside(slot) {
                return true;
            }
            if (P::ticks() as usize).wrapping_sub(begin) >= most {
                return false;
            }
            P::pause();
        }
    }

    /// The slot of the thread that this lock is or was biased to. The calling thread has `inner`.
    fn place_of(&self, owner: usize) -> &'static Slot<P> {
        // The owner's row was claimed before the owner gave `inner` up, and rows stay.
        self.place_in(owner & !REVOKED).expect("the row of a lock that is biased")
    }

    /// This lock's slot of the row with this name, if that is known.
    pub(super) fn place_in(&self, row: usize) -> Option<&'static Slot<P>> {
        let row = P::rows().iter().find(|other| other.address() == row)?;
        Some(row.place(self.address()))
    }
}

/// The calling thread has emptied the slot, and another thread sleeps until then.
#[cold]
#[inline(never)]
pub(super) fn wake<P: Host>(slot: &Slot<P>) {
    // spec: Biased!Wake
    // The threads that sleep look at the slot themselves.
    slot.awaited.store(0, Ordering::Relaxed);
    P::futex_wake(ptr::from_ref(&slot.awaited), u32::MAX);
}
