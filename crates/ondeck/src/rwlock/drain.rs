//! The writer that has set its bit, and waits for the readers of that moment to leave.

use core::ptr;

use super::{ASLEEP, DRAINING, READERS, RawRwLock};
use crate::mutex::Slice;
use crate::parking::{Kind, Node, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::Waits;

impl<P: Host> RawRwLock<P> {
    /// `WRITER` is set on the caller's behalf. Waits until no reader is left, and clears `DRAINING`: then
    /// the caller is the owner. False if the deadline passed before; then `WRITER` is still set.
    pub(super) fn drain(&self, deadline: Option<Timestamp>) -> bool {
        if self.state.load(Ordering::Acquire) & DRAINING == 0 {
            return true;
        }
        let mut waits = Waits::now::<P>();
        loop {
            if self.own_soon(&waits) {
                return true;
            }
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                return false;
            }
            self.sleep_beside_readers(deadline);
            waits = Waits::now::<P>();
        }
    }

    /// Looks for as long as a wake takes whether the readers have left. Says whether the caller is the
    /// owner.
    fn own_soon(&self, waits: &Waits) -> bool {
        let begin = P::ticks() as usize;
        let mut pause = waits.short;
        loop {
            if self.own() {
                return true;
            }
            let now = P::ticks() as usize;
            if now.wrapping_sub(begin) >= waits.polling {
                return false;
            }
            super::wait::pause_for::<P>(now, pause);
            pause = (pause * 2).min(waits.long);
        }
    }

    /// Clears `DRAINING` if there are no readers; says whether it did.
    fn own(&self) -> bool {
        // spec: RwLock!Own
        // Acquire: pairs with the unlocks of all readers.
        self.try_change(|state| (state & READERS == 0).then_some(state & !(DRAINING | ASLEEP)))
    }

    /// Sleeps until the last reader has left, or until the deadline. Returns earlier, too.
    fn sleep_beside_readers(&self, deadline: Option<Timestamp>) {
        let address = self.address();
        let bucket = P::bucket(address);
        let node = Node::<P>::new(Kind::Readers, address, ptr::null(), 0);
        let guard = bucket.lock();
        // spec: RwLock!DrainerParks
        // The last reader's decrement comes after this, and sees the bit: then it finds the node, because
        // it has to wait for the bucket's lock. Or it came before: then the change fails.
        if !self.try_change(|state| (state & READERS != 0).then_some(state | ASLEEP)) {
            return;
        }
        // SAFETY: it is new, and is unlinked before this function returns: by the thread that wakes this
        // one, or below.
        unsafe { guard.link(Kind::Readers, &node) };
        drop(guard);
        let mut slice = Slice::begin::<P>();
        while node.status() == status::PARKED {
            let until = deadline.map_or(slice.end, |deadline| deadline.min(slice.end));
            // spec: RwLock!DrainerSleeps
            if P::futex_wait(node.word(), status::PARKED, Some(until)) != FutexWait::TimedOut {
                continue;
            }
            slice.next::<P>();
            let is_over = deadline.is_some_and(|deadline| P::now() >= deadline);
            if is_over {
                let guard = bucket.lock();
                // Only under the lock is it certain that no reader is about to choose this node.
                if node.status() == status::PARKED {
                    // SAFETY: a node that was not told otherwise is linked.
                    unsafe { guard.unlink(Kind::Readers, &node) };
                    return;
                }
            }
        }
    }
}
