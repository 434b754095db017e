//! The path of a thread that the lock is not biased to: it revokes the bias, and waits for the owner to leave.

use core::ptr;

use super::{NOBODY, REVOKED, RawBiasedMutex};
use crate::parking::{Row, Slice, Slot};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};
use crate::spin::{Waits, pause_until};

impl<P: Host> RawBiasedMutex<P> {
    /// Revokes the bias that `owner` records: waits until no thread is inside, and clears `owner`. The calling thread has
    /// `inner`. Returns false if the deadline passes first.
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

    /// As [`revoke`](Self::revoke), for an attempt, which waits for no thread.
    #[cold]
    #[inline(never)]
    pub(super) fn revoke_at_once(&self, owner: usize) -> bool {
        let slot = self.place_of(owner);
        if self.is_own_and_elsewhere(owner, slot) {
            self.history.restarts();
        } else {
            // An owner that is seen inside is not disturbed.
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

    /// Returns whether the lock is biased to the calling thread, which is not inside because its slot is another lock's.
    /// Then no other thread can enter, and no fence is needed.
    fn is_own_and_elsewhere(&self, owner: usize, slot: &Slot<P>) -> bool {
        P::row().map(Row::address) == Some(owner) && !self.is_inside(slot)
    }

    /// Bars the thread of the row from entering by its slot.
    fn shut(&self, owner: usize) {
        // Another thread has set the flag, and has given up.
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

    /// Returns whether the thread of the slot's row is inside by the slot.
    pub(super) fn is_inside(&self, slot: &Slot<P>) -> bool {
        // spec: Biased!LookAtSlot
        // Acquire: pairs with the store of the owner that left, or with a later one of its thread.
        slot.lock.load(Ordering::Acquire) == self.address()
    }

    /// Waits until the owner has left. Returns false if the deadline passes first.
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
            // Either the unlock sees the mark, or this thread sees below that the owner has left.
            P::heavy_fence();
            if !self.is_inside(slot) {
                return true;
            }
            // If heavy fences are refused, the unlock may miss the mark.
            let mut until = deadline;
            if P::heavy_fences_are_refused() {
                until = Some(deadline.map_or(slice.end, |deadline| deadline.min(slice.end)));
            }
            // spec: Biased!Sleep
            let _ = P::futex_wait(&slot.awaited, 1, until);
            slice.next::<P>();
        }
    }

    /// Checks, for the time of a wake, whether the owner has left.
    fn watch(&self, slot: &Slot<P>) -> bool {
        pause_until::<P>(Waits::now::<P>().polling, || !self.is_inside(slot))
    }

    /// Returns the slot of the thread that this lock is or was biased to. The calling thread has `inner`.
    fn place_of(&self, owner: usize) -> &'static Slot<P> {
        // The owner claimed its row before it unlocked `inner`, and rows stay.
        self.place_in(owner & !REVOKED).expect("the row of a lock that is biased")
    }

    /// Returns this lock's slot of the row at this address, if the row is known.
    pub(super) fn place_in(&self, row: usize) -> Option<&'static Slot<P>> {
        let row = P::rows().iter().find(|other| other.address() == row)?;
        Some(row.place(self.address()))
    }
}

/// Wakes the threads that sleep until the slot is empty. The calling thread has emptied it.
#[cold]
#[inline(never)]
pub(super) fn wake<P: Host>(slot: &Slot<P>) {
    // spec: Biased!Wake
    // The woken threads check the slot themselves.
    slot.awaited.store(0, Ordering::Relaxed);
    P::futex_wake(ptr::from_ref(&slot.awaited), u32::MAX);
}
