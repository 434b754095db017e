//! Which parked threads go next, and whether they are handed the lock or compete for it.
//!
//! ```text
//! the oldest that may go on     overdue, or a fair unlock         otherwise
//! ─────────────────────────────────────────────────────────────────────────────────────────────────
//! a writer                      is handed the lock                 is woken to compete, in flight
//! a reader                      all parked readers are handed it,  is woken to compete, in flight; when
//!                               and the oldest of the others too   it has the lock, it settles again, and
//!                               (a writer drains them)             so wakes the next
//! an upgradable reader          is handed it with all readers      is woken to compete, in flight
//! ```
//!
//! Beside a writer none may go on, beside an upgradable reader only readers.
//!
//! The word is changed once, under the bucket's lock; from then on the lock may be gone (4).

use super::wait::{OVERDUE_NANOS, is_overdue};
use super::{DRAINING, IN_FLIGHT, ONE, PARKED, READERS, RawRwLock, UPGRADABLE, WRITER, Want};
use crate::parking::{Chosen, Guard, Kind, Node, status};
use crate::platform::{AtomicInt, Host, Ordering};

/// What a look at the queue has chosen.
struct Plan<'a, P: Host> {
    /// The word to come.
    next: u32,
    /// Whether all parked readers are handed the lock.
    readers: bool,
    /// Another thread that is handed the lock.
    other: Option<&'a Node<P>>,
    /// The thread that is woken to compete.
    competes: Option<&'a Node<P>>,
}

impl<P: Host> RawRwLock<P> {
    /// Takes off the word what `give` takes off it, and has parked threads go on that may.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&self, give: &dyn Fn(u32) -> u32, fair: bool) {
        self.settle_locked(P::bucket(self.address()).lock(), give, fair);
    }

    /// The same, under the lock of the bucket.
    pub(super) fn settle_locked(&self, guard: Guard<'_, P>, give: &dyn Fn(u32) -> u32, fair: bool) {
        let address = self.address();
        let now = P::ticks() as usize;
        let hands_over = fair || is_time(&guard, address, now);
        let mut state = self.state.load(Ordering::Relaxed);
        let plan = loop {
            let plan = plan(&guard, address, give(state), hands_over);
            // spec: RwLock!Settle
            // Release: see `unlock_exclusive`. The last access (4).
            match self.state.compare_exchange(
                state,
                plan.next,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => break plan,
                Err(found) => state = found,
            }
        };
        let (has, competes) = choose(&guard, &plan, address, now);
        drop(guard);
        has.wake();
        competes.tell(status::IN_FLIGHT);
    }
}

/// Whether the oldest parked thread is overdue, and it is time for one such.
fn is_time<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> bool {
    let due = guard.newest(Kind::RwLock, address).is_some_and(|newest| newest.may_be_due(now));
    due && guard.oldest(Kind::RwLock, address).is_some_and(|oldest| is_overdue(oldest, now))
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
) -> Plan<'a, P> {
    let mut plan = Plan { next: free, readers: false, other: None, competes: None };
    let queue = || guard.oldest_first(Kind::RwLock, address);
    let upgradable = free & UPGRADABLE != 0;
    let may_go = |node: &&Node<P>| free & WRITER == 0 && (!upgradable || is_reader(node));
    let Some(first) = queue().find(may_go) else {
        return plan.with_parked(queue().next().is_some());
    };
    if !hands_over {
        if free & IN_FLIGHT != 0 {
            return plan.with_parked(true);
        }
        plan.next |= IN_FLIGHT;
        plan.competes = Some(first);
        return plan.with_parked(queue().nth(1).is_some());
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
        Some(_) => {
            let drains = if plan.next & READERS == 0 { 0 } else { DRAINING };
            plan.next |= WRITER | drains;
        }
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

/// Unlinks the threads of the plan: those that are handed the lock, and the one that competes. They are to be
/// told without the bucket's lock.
fn choose<P: Host>(
    guard: &Guard<'_, P>,
    plan: &Plan<'_, P>,
    address: usize,
    now: usize,
) -> (Chosen<P>, Chosen<P>) {
    let (mut has, mut competes) = (Chosen::<P>::new(), Chosen::<P>::new());
    let take = |node: &Node<P>, chosen: &mut Chosen<P>| {
        node.woken.store(now, Ordering::Relaxed);
        node.cpu.store(P::cpu(), Ordering::Relaxed);
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
        while let Some(node) =
            guard.oldest_first(Kind::RwLock, address).find(|node| is_reader(node))
        {
            take(node, &mut has);
        }
    }
    if let Some(node) = plan.competes {
        take(node, &mut competes);
    } else if (plan.readers || plan.other.is_some())
        && let Some(newest) = guard.newest(Kind::RwLock, address)
    {
        // A handoff rests the lock for a wake: one in a while.
        newest.set_due(now.wrapping_add(P::ticks_in(OVERDUE_NANOS)));
    }
    (has, competes)
}
