//! Which parked threads continue next.
//!
//! ```text
//! beside           the oldest parked thread is woken to compete, in flight, and
//! no other thread    if it is overdue, or by a fair unlock: its turn is reserved
//!                    if it is a reader: also readers that parked next, beside it; when it has the lock,
//!                    the next are woken
//! an upgradable    the oldest parked reader, in the same way; its turn is not reserved
//! reader
//! a writer         none
//! ```
//!
//! The readers that parked next are woken in the same step, if none is passed over: each wake that
//! waits for the thread of the wake before it leaves CPUs idle.
//!
//! The writer that waits for readers to leave is in a separate queue, and the last reader wakes it.
//! In another one are the threads with a reserved turn.
//!
//! The word is changed once, under the bucket's lock, and a few threads are woken, whatever the
//! number of parked ones. After that change the lock may be gone (4).

use super::{IN_FLIGHT, MARKS, PARKED, RESERVED, RawRwLock, UPGRADABLE, WRITER, Want};
use crate::parking::{Chosen, Guard, Kind, Node, has_come, is_near, status};
use crate::platform::{AtomicInt, Host, Ordering};

/// A thread that has been parked for this time is overdue: its turn is reserved, at most one in
/// each such period for each lock. As for the mutex, it is many times a wake on any machine, and
/// less than a few time slices of any scheduler.
const OVERDUE_NANOS: u32 = 1_000_000;

/// The length of a reserved turn: a thread that was woken has run by then, unless it is stopped, or
/// others have its CPU for more than a time slice.
const TURN_NANOS: u32 = 4_000_000;

/// The maximum number of readers that are woken together: each costs a system call.
const BESIDE: usize = 8;

/// The number of oldest threads among which a reader is searched for beside an upgradable one. If
/// there is none, the parked readers continue after the unlock of the upgradable reader, or at the
/// end of a slice.
const SEARCHED: usize = 32;

impl<P: Host> RawRwLock<P> {
    /// Changes the word by `give`, and lets the parked threads continue that may. If `is_fair`, the
    /// next turn is that of the oldest.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&self, give: &dyn Fn(u32) -> u32, is_fair: bool) {
        self.settle_locked(P::bucket(self.address()).lock(), give, is_fair);
    }

    /// As [`settle`](Self::settle), under the lock of the bucket.
    pub(super) fn settle_locked(
        &self,
        guard: Guard<'_, P>,
        give: &dyn Fn(u32) -> u32,
        is_fair: bool,
    ) {
        let address = self.address();
        let now = P::ticks() as usize;
        let is_due = is_fair || is_time(&guard, address, now);
        let queue = || guard.oldest_first(Kind::RwLock, address);
        let mut state = self.state.load(Ordering::Relaxed);
        let (one, beside, is_reserved) = loop {
            let mut next = give(state);
            // step: may go
            let others = if is_fair { WRITER | RESERVED } else { WRITER | MARKS };
            let is_upgradable = next & UPGRADABLE != 0;
            let searched = if is_upgradable { SEARCHED } else { 1 };
            let searched = if next & others == 0 { searched } else { 0 };
            let one = queue().take(searched).find(|node| !is_upgradable || is_reader(node));
            let is_reserved = one.is_some() && is_due && !is_upgradable;
            let mut beside = 0;
            if one.is_some() {
                next |= if is_reserved { MARKS } else { IN_FLIGHT };
                // None if the one that goes is a writer.
                beside = queue().take(BESIDE).take_while(|node| is_reader(node)).count().max(1) - 1;
            }
            let others_stay = queue().nth(beside + usize::from(one.is_some())).is_some();
            next = if others_stay { next | PARKED } else { next & !PARKED };
            // step: settle
            // Release: see `unlock_exclusive`. The last access (4).
            match self.state.compare_exchange(state, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break (one, beside, is_reserved),
                Err(found) => state = found,
            }
        };
        let woken = one.map(|node| {
            node.set_woken(now);
            // SAFETY: it is linked, and is linked again as one with a turn: its thread unlinks it.
            unsafe {
                guard.unlink(Kind::RwLock, node);
                if is_reserved {
                    node.set_kind(Kind::Turn);
                    guard.link(Kind::Turn, node);
                }
            }
            node.tell(status::IN_FLIGHT)
        });
        let beside = Chosen::take(&guard, Kind::RwLock, address, beside, status::COMPETE);
        if is_reserved && let Some(newest) = guard.newest(Kind::RwLock, address) {
            // A reserved lock rests for a wake, so there is one such turn in a while.
            newest.set_due(now.wrapping_add(P::ticks_in(OVERDUE_NANOS)));
        }
        drop(guard);
        if let Some(word) = woken {
            P::futex_wake(word, 1);
        }
        beside.wake();
    }

    /// Returns the marks of a thread whose reserved turn is over although it has not acquired the
    /// lock: a thread that wants the lock clears them as it acquires it. Returns 0 if there is no
    /// such thread. In the child of a fork, a turn that is reserved for no thread is over.
    pub(super) fn marks_of_an_ended_turn(&self, guard: &Guard<'_, P>) -> u32 {
        if self.state.load(Ordering::Relaxed) & RESERVED == 0 {
            return 0;
        }
        // step: turn ends
        // If the tick counter has begun again, the turn ends as well: it could last for hours
        // otherwise.
        let is_over = |node: &Node<P>| {
            let woken = node.woken.load(Ordering::Relaxed);
            !is_near(P::ticks() as usize, woken, P::ticks_in(TURN_NANOS))
        };
        if guard.newest(Kind::Turn, self.address()).is_none_or(is_over) { MARKS } else { 0 }
    }

    /// As [`marks_of_an_ended_turn`](Self::marks_of_an_ended_turn), for an attempt that does not
    /// wait.
    #[cold]
    pub(super) fn marks_in_the_way(&self) -> u32 {
        let is_reserved = self.state.load(Ordering::Relaxed) & (RESERVED | WRITER) == RESERVED;
        if is_reserved { self.marks_of_an_ended_turn(&P::bucket(self.address()).lock()) } else { 0 }
    }
}

/// Returns whether the oldest parked thread is overdue, and no overdue thread was served within
/// that time.
fn is_time<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> bool {
    let overdue = P::ticks_in(OVERDUE_NANOS);
    // A rest longer than the maximum ended long ago: on 32 bits ticks repeat.
    let rests = |newest: &Node<P>| (1..=overdue).contains(&newest.due().wrapping_sub(now));
    let is_overdue = |oldest: &Node<P>| {
        has_come(now, oldest.since.load(Ordering::Relaxed).wrapping_add(overdue))
    };
    guard.newest(Kind::RwLock, address).is_some_and(|newest| !rests(newest))
        && guard.oldest(Kind::RwLock, address).is_some_and(is_overdue)
}

fn is_reader<P: Host>(node: &Node<P>) -> bool {
    node.wants() <= Want::Recursive as usize
}

/// Wakes the writer that waits for the readers to drain, after the last reader has left the lock at
/// `address`.
///
/// The lock may be gone (4). If there is another one at its address, its writer makes one
/// unnecessary check.
#[cold]
#[inline(never)]
pub(super) fn wake_drainer<P: Host>(address: usize) {
    // spec: RwLock!WakeDrainer
    let guard = P::bucket(address).lock();
    let writer = Chosen::take(&guard, Kind::Readers, address, 1, status::DONE);
    drop(guard);
    writer.wake();
}
