//! Which parked threads go next, and whether they are handed the lock or compete for it.
//!
//! ```text
//! the oldest that may go on     overdue, or a fair unlock         otherwise
//! ─────────────────────────────────────────────────────────────────────────────────────────────────
//! a writer                      is handed the lock                 is woken to compete, in flight
//! a reader                      all parked readers are handed it,  is woken to compete, in flight; when
//!                               and the oldest of the others too   it has the lock, it wakes the readers
//!                               (a writer drains them)             that parked next, one of them in flight
//! an upgradable reader          is handed it with all readers      is woken to compete, in flight
//! ```
//!
//! Beside a writer none may go on, beside an upgradable reader only readers.
//!
//! The word is changed once, under the bucket's lock; from then on the lock may be gone (4).

use core::ptr;

use super::{IN_FLIGHT, ONE, PARKED, RawRwLock, UPGRADABLE, WRITER, Want, with_writer};
use crate::parking::{Chosen, Guard, Kind, Node, has_come, status};
use crate::platform::{AtomicInt, Host, Ordering};

/// A thread that has been parked for so long is overdue: it is handed the lock, at most one in such a time
/// for each lock. As for the mutex: many wakes of every machine, a few time slices of no scheduler.
pub(super) const OVERDUE_NANOS: u32 = 1_000_000;

/// What parked threads are looked after for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A thread gives the lock up, or its mark.
    Unlock,
    /// A thread gives the lock up, and hands it over.
    Fair,
    /// A thread that was in flight has become a reader: others may read beside it.
    Beside,
}

/// How many readers one reader wakes at most: each is a system call.
const BESIDE: usize = 8;

/// What a look at the queue has chosen.
struct Plan<'a, P: Host> {
    /// The word to come.
    next: u32,
    /// Whether all parked readers are handed the lock.
    readers: bool,
    /// Another thread that is handed the lock.
    other: Option<&'a Node<P>>,
    /// The thread that is woken to compete, in flight.
    competes: Option<&'a Node<P>>,
    /// How many readers, the oldest threads in the queue, are woken to compete, the first in flight.
    beside: usize,
    /// Whether the thread that has waited longest goes on. Readers that go on beside an upgradable one do not take the
    /// turn of one that may not.
    oldest_goes: bool,
}

impl<P: Host> RawRwLock<P> {
    /// Takes off the word what `give` takes off it, and has parked threads go on that may.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&self, give: &dyn Fn(u32) -> u32, mode: Mode) {
        self.settle_locked(P::bucket(self.address()).lock(), give, mode);
    }

    /// The same, under the lock of the bucket.
    pub(super) fn settle_locked(&self, guard: Guard<'_, P>, give: &dyn Fn(u32) -> u32, mode: Mode) {
        let address = self.address();
        let now = P::ticks() as usize;
        let hands_over = mode == Mode::Fair || is_time(&guard, address, now);
        let mut state = self.state.load(Ordering::Relaxed);
        let plan = loop {
            let plan = plan(&guard, address, give(state), hands_over, mode);
            // step: settle
            // Release: see `unlock_exclusive`. Acquire: a thread that only gives its mark up, and never had
            // the lock, may hand it to a reader here. The reader's Acquire is of the status that it is told;
            // what the last owner did it sees by this one. The last access (4).
            match self.state.compare_exchange(state, plan.next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => break plan,
                Err(found) => state = found,
            }
        };
        if plan.oldest_goes
            && let Some(bias) = P::bias(address)
        {
            bias.looks_after(address, now);
        }
        let [has, competes, beside] = choose(&guard, &plan, address, now);
        drop(guard);
        has.wake();
        competes.wake();
        beside.wake();
    }
}

/// Whether the oldest parked thread is overdue, and it is time for one such.
fn is_time<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> bool {
    let due = guard.newest(Kind::RwLock, address).is_some_and(|newest| newest.may_be_due(now));
    due && guard.oldest(Kind::RwLock, address).is_some_and(|oldest| is_overdue(oldest, now))
}

/// Whether a thread that parked with this node is overdue.
fn is_overdue<P: Host>(node: &Node<P>, now: usize) -> bool {
    let since = node.since.load(Ordering::Relaxed);
    has_come(now, since.wrapping_add(P::ticks_in(OVERDUE_NANOS)))
}

fn is_reader<P: Host>(node: &Node<P>) -> bool {
    node.wants() <= Want::Recursive as usize
}

/// What is to be done if the word becomes `free`.
fn plan<'a, P: Host>(
    guard: &'a Guard<'_, P>,
    address: usize,
    free: u32,
    hands_over: bool,
    mode: Mode,
) -> Plan<'a, P> {
    let mut plan = Plan {
        next: free,
        readers: false,
        other: None,
        competes: None,
        beside: 0,
        oldest_goes: false,
    };
    let queue = || guard.oldest_first(Kind::RwLock, address);
    let upgradable = free & UPGRADABLE != 0;
    let may_go = |node: &&Node<P>| free & WRITER == 0 && (!upgradable || is_reader(node));
    let Some(first) = queue().find(may_go) else {
        return plan.with_parked(queue().next().is_some());
    };
    if !hands_over && free & IN_FLIGHT != 0 {
        return plan.with_parked(true);
    }
    // step: oldest goes
    plan.oldest_goes = queue().next().is_some_and(|oldest| ptr::eq(oldest, first));
    if !hands_over {
        plan.next |= IN_FLIGHT;
        plan.competes = Some(first);
        if mode == Mode::Beside {
            plan.beside = queue().take_while(|node| is_reader(node)).take(BESIDE).count();
        }
        let others_stay = queue().nth(plan.beside.max(1)).is_some();
        return plan.with_parked(others_stay);
    }
    let readers = queue().filter(|node| is_reader(node)).count();
    let others = queue().count() - readers;
    plan.readers = first.wants() != Want::Write as usize;
    if plan.readers {
        plan.next += readers as u32 * ONE;
    }
    plan.other = queue().find(|node| !is_reader(node)).filter(|_| !upgradable);
    match plan.other {
        Some(other) if other.wants() == Want::Upgradable as usize => plan.next |= UPGRADABLE,
        Some(_) => plan.next = with_writer(plan.next),
        None => {}
    }
    let left = others - usize::from(plan.other.is_some());
    let stay = if plan.readers { left } else { left + readers };
    plan.with_parked(stay != 0)
}

impl<P: Host> Plan<'_, P> {
    fn with_parked(mut self, parked: bool) -> Self {
        self.next = if parked { self.next | PARKED } else { self.next & !PARKED };
        self
    }
}

/// Unlinks the threads of the plan: those that are handed the lock, the one in flight, and those that compete
/// beside it. They are to be told without the bucket's lock.
fn choose<P: Host>(
    guard: &Guard<'_, P>,
    plan: &Plan<'_, P>,
    address: usize,
    now: usize,
) -> [Chosen<P>; 3] {
    let mut has = Chosen::<P>::new();
    let mut competes = Chosen::<P>::told(status::IN_FLIGHT);
    let mut beside = Chosen::<P>::told(status::COMPETE);
    let take = |node: &Node<P>, chosen: &mut Chosen<P>| {
        node.woken.store(now, Ordering::Relaxed);
        node.place.store(P::cpu(), Ordering::Relaxed);
        // SAFETY: it is linked, its thread is not near, and waits for what it is told below.
        unsafe {
            guard.unlink(Kind::RwLock, node);
            chosen.push(node);
        }
    };
    if let Some(node) = plan.other {
        take(node, &mut has);
    }
    if plan.readers {
        // Once through the queue, however many others stay: it has read which one comes next.
        for node in guard.oldest_first(Kind::RwLock, address).filter(|node| is_reader(node)) {
            take(node, &mut has);
        }
    }
    if let Some(node) = plan.competes {
        take(node, &mut competes);
        for _ in 1..plan.beside {
            if let Some(node) = guard.oldest(Kind::RwLock, address) {
                take(node, &mut beside);
            }
        }
    } else if plan.oldest_goes
        && let Some(newest) = guard.newest(Kind::RwLock, address)
    {
        // A handoff rests the lock for a wake: one in a while.
        newest.rest(now.wrapping_add(P::ticks_in(OVERDUE_NANOS)));
    }
    [has, competes, beside]
}
