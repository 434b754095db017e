//! The ticket spinlock: a thread draws a number and waits until the number is served.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is"
//! (2020), `ticket_spinlock`.
//!
//! Teaches: two counters are enough for the order of arrival, which bounds the longest wait. An
//! unlock needs no read-modify-write, because only the owner writes `serving`.
//!
//! ```text
//!             owner            waiters
//!               │        ┌────────┴────────┐
//!    serving = 17       18       19       20       next = 21
//!
//! next (u32)      the number that the next thread draws
//! serving (u32)   the number of the owner; equal to `next` if the lock is free
//!
//! change                 made by               operation
//! next → next + 1        a thread that locks   fetch-add: it draws the old value
//! next → next + 1        an attempt            compare-exchange from the value of `serving`
//! serving → serving + 1  the owner             load, store
//!
//! A waiter repeats: 16 × (pause, poll `serving`), then yield, poll.
//! ```
//!
//! Both counters wrap around. With fewer than 2³² threads no number is in use twice.
//!
//! # Memory ordering
//!
//! Drawing a number is `Relaxed`: it publishes nothing. The poll that finds the thread's number is
//! `Acquire` and pairs with the `Release` store of the unlock that served it. The owner's load of
//! `serving` is `Relaxed`: it reads the owner's own number.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::spinlock::spin_until;
use crate::{Fairness, LockInfo, Origin, RawLock, Waiting};

/// Tickets and polling: see the [source file](self) for its counters.
#[derive(Debug)]
pub struct TicketSpinlock<P: Platform> {
    next: P::AtomicU32,
    serving: P::AtomicU32,
}

// SAFETY, as a lock: numbers are drawn by an atomic read-modify-write, so they are unique; a thread
// returns from `lock` when its own is served, and only the owner moves on to the next.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for TicketSpinlock<P> {
        INFO: LockInfo {
            name: "ticket_spinlock",
            origin: Origin::Sources,
            waiting: Waiting::Yields,
            fairness: Fairness::Fifo,
            source: "Malte Skarupke, Measuring Mutexes, ticket_spinlock",
            teaches: "Order of arrival bounds the longest wait and costs throughput once threads outnumber cores",
            ..LockInfo::USUAL
        },
        new: Self { next: AtomicInt::new(0), serving: AtomicInt::new(0) },
        lock: |this, ()| {
            let mine = this.next.fetch_add(1, Ordering::Relaxed);
            let is_served = || this.serving.load(Ordering::Acquire) == mine;
            if !is_served() {
                spin_until::<P>(is_served);
            }
        },
        try_lock: |this, ()| {
            // An unlock serves the next number whether or not it has been drawn. If the number
            // served now is not drawn before the exchange, the lock is still free, and this thread
            // draws it.
            let serving = this.serving.load(Ordering::Acquire);
            this.next
                .compare_exchange(
                    serving,
                    serving.wrapping_add(1),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok()
        },
        unlock: |this, ()| {
            let mine = this.serving.load(Ordering::Relaxed);
            this.serving.store(mine.wrapping_add(1), Ordering::Release);
        },
        is_idle: |this| this.next.load(Ordering::Relaxed) == this.serving.load(Ordering::Relaxed),
    }
}
