//! Anderson's array lock: a ring of slots, of which each waiter polls another.
//!
//! Source: Thomas E. Anderson, "The Performance of Spin Lock Alternatives for Shared-Memory
//! Multiprocessors" (1990). A commenter under Skarupke's text describes it as a ring of atomic
//! integers where each thread waits on a slot.
//!
//! Teaches: the first queue lock. A handoff touches the cache line of one waiter only. The price is
//! a line for each thread in each lock, here 4 KiB.
//!
//! ```text
//! next = 70                              slot = ticket % 64
//!
//! slot     0    1    2    3    4    5    6 ... 63
//! called  64   65   66    3    4    5    6     63
//!                    ▲    ▲
//!             owner: 66   waiters: 67, 68, 69 poll slots 3, 4, 5 for their tickets
//!
//! next (u32)          + 1        a thread that locks   fetch-add: the old value is its ticket
//! next                + 1        an attempt            compare-exchange, if the ticket is called
//! called (64 × u32)   → ticket   the owner             store of its ticket + 1 in the next slot
//!
//! The lock is free if the slot of `next` holds `next`.
//! ```
//!
//! Anderson's slots hold a flag. If there are more waiters than slots, two of them poll one slot,
//! the flag lets both in, and the lock is broken. Here a slot holds the *ticket* that may enter.
//! Threads with tickets 3 and 67 poll the same slot, but the owner of 66 writes 67 there long after
//! 3 has left. More than 64 waiters share lines, which costs the lock its advantage but not its
//! correctness. Tickets wrap around at 2³², a multiple of the number of slots.
//!
//! # Memory ordering
//!
//! Drawing a ticket is `Relaxed`: it publishes nothing. The store that calls a ticket is `Release`
//! and the poll that finds it `Acquire`: this pair is the handoff.

use std::array;
use std::cell::Cell;

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// A power of two, so that the ring continues where the tickets wrap around. It is about the number
/// of CPUs in a larger machine; more threads than CPUs do not poll at once.
const SLOTS: u32 = 64;

/// A ring of polled slots: see the [source file](self).
#[derive(Debug)]
pub struct AndersonArray<P: Platform> {
    slots: [Slot<P>; SLOTS as usize],
    next: P::AtomicU32,
}

/// The ticket that may enter through this slot; each slot has a cache line to itself.
#[derive(Debug)]
#[repr(align(64))]
struct Slot<P: Platform> {
    called: P::AtomicU32,
}

impl<P: Platform> AndersonArray<P> {
    #[inline(always)]
    fn slot(&self, ticket: u32) -> &P::AtomicU32 {
        &self.slots[(ticket % SLOTS) as usize].called
    }
}

/// The ticket of the acquisition in progress.
#[derive(Debug, Default)]
pub struct Ticket(Cell<u32>);

// SAFETY: tickets are drawn by an atomic read-modify-write, so they are unique; a thread returns
// from `lock` when its own is called, and only the owner calls the next.
unsafe impl<P: Platform> RawLock<P> for AndersonArray<P> {
    const INFO: LockInfo = LockInfo {
        name: "anderson_array",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Fifo,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "Anderson, The Performance of Spin Lock Alternatives (1990)",
        teaches: "Own slots make a handoff touch one waiter, for a cache line per thread and lock",
    };

    type Context = Ticket;
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        // Ticket 0 may enter; the other slots hold the tickets that passed one round ago.
        let called = |slot: u32| if slot == 0 { 0 } else { slot.wrapping_sub(SLOTS) };
        Self {
            slots: array::from_fn(|slot| Slot { called: AtomicInt::new(called(slot as u32)) }),
            next: AtomicInt::new(0),
        }
    }

    #[inline]
    unsafe fn lock(&self, ticket: &Ticket) {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        ticket.0.set(mine);
        while self.slot(mine).load(Ordering::Acquire) != mine {
            P::pause();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, ticket: &Ticket) -> bool {
        // A called ticket stays called until it is drawn: if the exchange draws it, this thread
        // acquires the lock without waiting.
        let next = self.next.load(Ordering::Relaxed);
        ticket.0.set(next);
        self.slot(next).load(Ordering::Acquire) == next
            && self
                .next
                .compare_exchange(next, next.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, ticket: &Ticket) {
        let successor = ticket.0.get().wrapping_add(1);
        self.slot(successor).store(successor, Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        self.slot(next).load(Ordering::Relaxed) == next
    }
}
