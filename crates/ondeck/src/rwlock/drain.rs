//! The writer that has set its bit, and waits for the readers of that moment to leave.

use core::ptr;

use super::bias::Visible;
use super::{ASLEEP, BIASED, DRAINING, READERS, RawRwLock};
use crate::mutex::Slice;
use crate::parking::{Kind, Node, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::Waits;

impl<P: Host> RawRwLock<P> {
    /// `WRITER` is set on the caller's behalf. Waits until no reader is left, and clears `DRAINING`: then
    /// the caller is the owner. False if the deadline passed before; then `WRITER` is still set.
    pub(super) fn drain(&self, deadline: Option<Timestamp>) -> bool {
        let state = self.state.load(Ordering::Acquire);
        if state & DRAINING == 0 {
            return true;
        }
        // spec: RwLock!Drain
        // It stays as it is while `WRITER` is set.
        let mut visible = if state & BIASED == 0 { Visible::none() } else { self.revoke() };
        let mut waits = Waits::now::<P>();
        loop {
            if self.own_soon(&mut visible, &waits) {
                return true;
            }
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                return false;
            }
            self.sleep_beside_readers(&mut visible, deadline);
            waits = Waits::now::<P>();
        }
    }

    /// Looks for as long as a wake takes whether the readers have left. Says whether the caller is the
    /// owner.
    fn own_soon(&self, visible: &mut Visible<P>, waits: &Waits) -> bool {
        let begin = P::ticks() as usize;
        let mut pause = waits.short;
        loop {
            if visible.have_left() && self.own() {
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

    /// Sleeps until the last reader has left, or until the deadline. Returns earlier, too.
    fn sleep_beside_readers(&self, visible: &mut Visible<P>, deadline: Option<Timestamp>) {
        let bias = P::bias(self.address()).filter(|_| !visible.have_left());
        if let Some(bias) = bias {
            // spec: RwLock!BeginSleep
            bias.begin_sleep();
            // spec: RwLock!FenceBeforeSleep
            // A visible reader that leaves sees that this thread sleeps, or is seen to have left below.
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
        let bucket = P::bucket(address);
        let node = Node::<P>::new(Kind::Readers, address, ptr::null(), 0);
        let guard = bucket.lock();
        // spec: RwLock!DrainerLooks
        let have_left = visible.have_left();
        // spec: RwLock!DrainerParks
        // The last counted reader's decrement comes after this, and sees the bit: then it finds the node,
        // because it has to wait for the bucket's lock. Or it came before: then the change fails.
        let sleeps = |state| (state & READERS != 0 || !have_left).then_some(state | ASLEEP);
        if !self.try_change(sleeps) {
            return;
        }
        // SAFETY: it is new, and is unlinked before this function returns: by the thread that wakes this
        // one, or below.
        unsafe { guard.link(Kind::Readers, &node) };
        drop(guard);
        let slice = Slice::begin::<P>().end;
        let until = deadline.map_or(slice, |deadline| deadline.min(slice));
        loop {
            // spec: RwLock!DrainerSleeps
            let status = node.status();
            if status == status::DONE {
                return;
            }
            if P::futex_wait(node.word(), status, Some(until)) != FutexWait::TimedOut {
                continue;
            }
            // The deadline has passed. Or a slice is over: then it looks again, because the store of a
            // visible reader may have been late, if heavy fences are refused.
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
