//! The writer that has set its bit, and waits for the readers of that moment to leave.

use core::ptr;

use super::bias::Visible;
use super::{ASLEEP, BIASED, DRAINING, READERS, RawRwLock};
use crate::parking::{Kind, Node, Slice, end_of_sleep};
use crate::platform::{AtomicInt, Host, Ordering, Timestamp};
use crate::spin::{Waits, poll};

impl<P: Host> RawRwLock<P> {
    /// Waits until no reader is left, and clears `DRAINING`: then the caller is the owner. `WRITER`
    /// is set on the caller's behalf. Returns false if the deadline passes first; then `WRITER` is
    /// still set.
    pub(super) fn drain(&self, deadline: Option<Timestamp>) -> bool {
        let state = self.state.load(Ordering::Acquire);
        if state & DRAINING == 0 {
            return true;
        }
        // spec: RwLock!Drain
        // `BIASED` does not change while `WRITER` is set.
        let mut visible = if state & BIASED == 0 { Visible::none() } else { self.revoke() };
        loop {
            if visible.have_left() && self.own() {
                return true;
            }
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                return false;
            }
            let waits = Waits::now::<P>();
            if poll::<P>(&waits, waits.short, || visible.have_left() && self.own()) {
                return true;
            }
            self.sleep_beside_readers(&mut visible, deadline);
        }
    }

    /// Clears `DRAINING`, and with it the bias, if no reader is counted. Returns whether it did.
    fn own(&self) -> bool {
        // spec: RwLock!Own
        // Acquire: pairs with the unlocks of all counted readers.
        self.try_change(|state| {
            (state & READERS == 0).then_some(state & !(DRAINING | ASLEEP | BIASED))
        })
    }

    /// Sleeps until the last reader has left, or until the deadline. May return earlier.
    fn sleep_beside_readers(&self, visible: &mut Visible<P>, deadline: Option<Timestamp>) {
        let bias = P::bias(self.address()).filter(|_| !visible.have_left());
        if let Some(bias) = bias {
            // spec: RwLock!BeginSleep
            bias.begin_sleep();
            // spec: RwLock!FenceBeforeSleep
            // Either a visible reader that leaves sees that this thread sleeps, or this thread sees
            // below that it has left.
            P::heavy_fence();
        }
        self.park_beside_readers(visible, deadline);
        // spec: RwLock!EndSleep
        if let Some(bias) = bias {
            bias.end_sleep();
        }
    }

    fn park_beside_readers(&self, visible: &mut Visible<P>, deadline: Option<Timestamp>) {
        let address = self.address();
        let node = Node::<P>::new(Kind::Readers, address, ptr::null(), 0);
        let guard = P::bucket(address).lock();
        // spec: RwLock!DrainerLooks
        let have_left = visible.have_left();
        // spec: RwLock!DrainerParks
        // If the last counted reader's decrement comes after this, it sees the bit, and it finds
        // the node, because it must wait for the bucket's lock. If the decrement came before, the
        // change fails.
        let sleeps = |state| (state & READERS != 0 || !have_left).then_some(state | ASLEEP);
        if !self.try_change(sleeps) {
            return;
        }
        // SAFETY: it is new, and is unlinked before this function returns, by the thread that wakes
        // this one or by `sleep`.
        unsafe { guard.link(Kind::Readers, &node) };
        drop(guard);
        // If heavy fences are refused, the store of a visible reader may have been late. Then the
        // caller checks again.
        let may_be_late = !have_left && P::heavy_fences_are_refused();
        let end = end_of_sleep(deadline, may_be_late.then(Slice::begin::<P>));
        // spec: RwLock!DrainerSleeps
        // spec: RwLock!DrainerLeaves
        // The caller checks again, whatever the result.
        let _ = node.sleep(Kind::Readers, end, None, |_, _| true);
    }
}
