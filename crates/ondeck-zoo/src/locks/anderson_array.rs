//! Anderson's array lock: a ring of slots, each waiter polls its own.
//!
//! Source: Thomas E. Anderson, "The Performance of Spin Lock Alternatives for Shared-Memory
//! Multiprocessors" (1990). A commenter under Skarupke's text describes it as a ring of atomic
//! integers where each thread waits on a slot.
//!
//! Teaches: the first queue lock. A handoff touches one waiter's cache line and no other, paid for
//! with a line for every thread in every lock (here 4 KiB).
//!
//! ```text
//! next = 70                              slot = ticket % 64
//!
//! slot     0    1    2    3    4    5    6 ... 63
//! called  64   65   66    3    4    5    6     63
//!                    ▲    ▲
//!             owner: 66   waiters: 67, 68, 69 poll slots 3, 4, 5 for their tickets
//!
//! lock:   mine = next++, poll slots[mine % 64] until it holds `mine`
//! unlock: slots[(mine + 1) % 64] = mine + 1
//! free:   slots[next % 64] == next
//! ```
//!
//! Anderson's slots hold a flag, so the lock breaks when there are more waiters than slots: two
//! threads poll one slot and a flag lets both in. Here a slot holds the *ticket* that may enter.
//! Threads with tickets 3 and 67 poll the same slot, but only one of them finds its number: 67 is
//! written there by the owner of 66, long after 3 has come and gone. More than 64 waiters share
//! lines, and lose the point of the lock, but not its correctness. Tickets wrap around at 2³², a
//! multiple of the number of slots.
//!
//! # Memory ordering
//!
//! Drawing a ticket orders nothing and is `Relaxed`. The store that calls a ticket is `Release`,
//! the poll that finds it `Acquire`: that is the handoff.

use std::array;
use std::cell::Cell;

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// A power of two, so that the ring goes on where the tickets wrap around. As many as there are
/// CPUs in a larger machine; more threads than that do not poll at once.
const SLOTS: u32 = 64;

/// A ring of polled slots: see the [source file](self).
#[derive(Debug)]
pub struct AndersonArray<P: Platform> {
    slots: [Slot<P>; SLOTS as usize],
    next: P::AtomicU32,
}

/// The ticket that may enter through this slot, on a cache line of its own.
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

/// The ticket of the acquisition under way.
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
        // Ticket 0 is called; the other slots hold the tickets that went through a round ago.
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
        // A ticket that is called stays so until it is drawn: if the exchange draws it, the lock
        // is this thread's without waiting.
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
