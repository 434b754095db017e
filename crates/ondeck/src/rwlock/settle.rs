//! Which parked threads continue next, and whether they receive the lock or compete for it.
//!
//! ```text
//! the oldest that may continue  overdue, or a fair unlock         otherwise
//! ─────────────────────────────────────────────────────────────────────────────────────────────────
//! a writer                      receives the lock                 is woken to compete, in flight
//! a reader                      all parked readers receive it,    is woken to compete, in flight, and the
//!                               and the oldest of the others also readers that parked next beside it; when
//!                               (a writer drains them)            it has the lock, the next are woken
//! an upgradable reader          receives it with all readers      is woken to compete, in flight
//! ```
//!
//! The readers that parked next are woken in the same step, if none is passed over: each wake that waits for the thread of the
//! wake before it leaves CPUs idle.
//!
//! Beside a writer no thread may continue; beside an upgradable reader only readers may. The writer that waits for readers
//! to leave is in a separate queue, and the last reader wakes it.
//!
//! The word is changed once, under the bucket's lock. After that change the lock may be gone (4).

use core::ptr;

use super::{IN_FLIGHT, ONE, PARKED, RawRwLock, UPGRADABLE, WRITER, Want, with_writer};
use crate::parking::{Chosen, Guard, Kind, Node, has_come, status};
use crate::platform::{AtomicInt, Host, Ordering};

/// A thread that has been parked for this time is overdue: it receives the lock by a handoff, at most one in each such
/// period for each lock. As for the mutex, it is many times a wake on any machine, and less than a few time slices of any
/// scheduler.
const OVERDUE_NANOS: u32 = 1_000_000;

/// The reason to let parked threads continue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A thread unlocks, or clears its mark.
    Unlock,
    /// A thread unlocks by a handoff.
    Fair,
}

/// The maximum number of readers that are woken together: each costs a system call.
const BESIDE: usize = 8;

/// The choice among the threads of the queue.
struct Plan<'a, P: Host> {
    /// The next value of the word.
    next: u32,
    /// Whether all parked readers receive the lock.
    readers: bool,
    /// Another thread that receives the lock; or the one that is woken to compete, in flight.
    one: Option<&'a Node<P>>,
    /// The number of readers, which parked right after `one`, that are woken to compete beside it.
    beside: usize,
    /// Whether the thread that has waited longest continues. Readers that continue beside an upgradable one do not use up
    /// the turn of a thread that may not continue.
    oldest_goes: bool,
}

impl<P: Host> RawRwLock<P> {
    /// Changes the word by `give`, and lets the parked threads continue that may.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&self, give: &dyn Fn(u32) -> u32, mode: Mode) {
        self.settle_locked(P::bucket(self.address()).lock(), give, mode);
    }

    /// As [`settle`](Self::settle), under the lock of the bucket.
    pub(super) fn settle_locked(&self, guard: Guard<'_, P>, give: &dyn Fn(u32) -> u32, mode: Mode) {
        let address = self.address();
        let now = P::ticks() as usize;
        let hands_over = mode == Mode::Fair || is_time(&guard, address, now);
        let mut state = self.state.load(Ordering::Relaxed);
        let plan = loop {
            let plan = plan(&guard, address, give(state), hands_over);
            // step: settle
            // Release: see `unlock_exclusive`. Acquire: a thread that only clears its mark, and never had the lock, may hand
            // it to a reader here. The reader acquires only its own status; by this Acquire it also sees the last owner's
            // section. The last access (4).
            match self.state.compare_exchange(state, plan.next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => break plan,
                Err(found) => state = found,
            }
        };
        let told = if hands_over { status::DONE } else { status::IN_FLIGHT };
        let mut chosen = Chosen::<P>::told(told);
        let mut take = |node: &Node<P>| {
            node.set_woken(now);
            // SAFETY: it is linked, and its thread is not near, and waits until it is notified below.
            unsafe {
                guard.unlink(Kind::RwLock, node);
                chosen.push(node);
            }
        };
        if let Some(node) = plan.one {
            take(node);
        }
        if plan.readers {
            // One pass over the queue, whatever the number of others that stay: the iterator has already read the next node.
            guard.oldest_first(Kind::RwLock, address).filter(|node| is_reader(node)).for_each(take);
        }
        let beside = Chosen::take(&guard, Kind::RwLock, address, plan.beside, status::COMPETE);
        if hands_over
            && plan.oldest_goes
            && let Some(newest) = guard.newest(Kind::RwLock, address)
        {
            // A handoff makes the lock rest for a wake, so it is limited to one in a while.
            newest.set_due(now.wrapping_add(P::ticks_in(OVERDUE_NANOS)));
        }
        drop(guard);
        chosen.wake();
        beside.wake();
    }
}

/// Returns whether the oldest parked thread is overdue, and no overdue thread was served within that time.
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

/// Returns the plan for the case that the word becomes `free`.
fn plan<'a, P: Host>(
    guard: &'a Guard<'_, P>,
    address: usize,
    free: u32,
    hands_over: bool,
) -> Plan<'a, P> {
    let queue = || guard.oldest_first(Kind::RwLock, address);
    let upgradable = free & UPGRADABLE != 0;
    let none_goes = free & WRITER != 0 || !hands_over && free & IN_FLIGHT != 0;
    let may_go = |node: &&Node<P>| !none_goes && (!upgradable || is_reader(node));
    let first = queue().find(may_go);
    // step: oldest goes
    let oldest_goes =
        first.is_some_and(|first| queue().next().is_some_and(|oldest| ptr::eq(oldest, first)));
    let readers = hands_over && first.is_some_and(|first| first.wants() != Want::Write as usize);
    let (mut next, mut gone, mut beside) = (free, 0, 0);
    if readers {
        gone = queue().filter(|node| is_reader(node)).count();
        next += gone as u32 * ONE;
    }
    let one = if hands_over {
        first.and_then(|_| queue().find(|node| !is_reader(node))).filter(|_| !upgradable)
    } else {
        if first.is_some() {
            beside = queue().take_while(|node| is_reader(node)).take(BESIDE).count().max(1) - 1;
            gone = beside;
        }
        first
    };
    if let Some(one) = one {
        gone += 1;
        next = match one.wants() {
            _ if !hands_over => next | IN_FLIGHT,
            wants if wants == Want::Upgradable as usize => next | UPGRADABLE,
            _ => with_writer(next),
        };
    }
    let others_stay = queue().nth(gone).is_some();
    next = if others_stay { next | PARKED } else { next & !PARKED };
    Plan { next, readers, one, beside, oldest_goes }
}

/// Wakes the writer that waits for the readers to drain, after the last reader has left the lock at `address`.
///
/// The lock may be gone (4). If there is another one at its address, its writer makes one unnecessary check.
#[cold]
#[inline(never)]
pub(super) fn wake_drainer<P: Host>(address: usize) {
    // spec: RwLock!WakeDrainer
    let guard = P::bucket(address).lock();
    let writer = Chosen::take(&guard, Kind::Readers, address, 1, status::DONE);
    drop(guard);
    writer.wake();
}
