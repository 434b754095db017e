//! The ticket spinlock: draw a number, wait until it is called.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really
//! is" (2020), `ticket_spinlock`.
//!
//! Teaches: that order of arrival costs two counters and nothing more, and bounds the longest
//! wait; and that a release needs no read-modify-write, since only the owner moves `serving`.
//!
//! ```text
//!             owner            waiters
//!               │        ┌────────┴────────┐
//!    serving = 17       18       19       20       next = 21
//!
//! lock:   mine = next++, then poll until serving == mine (16 × pause, yield, ...)
//! unlock: serving = serving + 1, a load and a store
//! free:   next == serving
//! ```
//!
//! Both counters wrap around; with fewer than 2³² threads no number is in use twice.
//!
//! # Memory ordering
//!
//! Drawing a number orders nothing and is `Relaxed`. The poll that finds its number is `Acquire`
//! and pairs with the `Release` store of the unlock that called it. The load in unlock is
//! `Relaxed`: the value is the owner's own number.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::spinlock::PAUSES_PER_YIELD;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// Tickets and polling: see the [source file](self) for its counters.
#[derive(Debug)]
pub struct TicketSpinlock<P: Platform> {
    next: P::AtomicU32,
    serving: P::AtomicU32,
}

impl<P: Platform> TicketSpinlock<P> {
    #[cold]
    fn wait(&self, mine: u32) {
        loop {
            for _ in 0..P::spins(PAUSES_PER_YIELD) {
                P::pause();
                if self.serving.load(Ordering::Acquire) == mine {
                    return;
                }
            }
            P::yield_now();
            if self.serving.load(Ordering::Acquire) == mine {
                return;
            }
        }
    }
}

// SAFETY: numbers are drawn by an atomic read-modify-write, so they are unique; a thread returns
// from `lock` when its own is served, and only the owner moves on to the next.
unsafe impl<P: Platform> RawLock<P> for TicketSpinlock<P> {
    const INFO: LockInfo = LockInfo {
        name: "ticket_spinlock",
        origin: Origin::Sources,
        waiting: Waiting::Yields,
        fairness: Fairness::Fifo,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "Malte Skarupke, Measuring Mutexes, ticket_spinlock",
        teaches: "Order of arrival bounds the longest wait and costs throughput once threads outnumber cores",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { next: AtomicInt::new(0), serving: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        if self.serving.load(Ordering::Acquire) != mine {
            self.wait(mine);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // Numbers are drawn before they are served: if the number served now has not been drawn
        // when the exchange happens, the lock is free then too, and the number is this thread's.
        let serving = self.serving.load(Ordering::Acquire);
        self.next
            .compare_exchange(
                serving,
                serving.wrapping_add(1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        let mine = self.serving.load(Ordering::Relaxed);
        self.serving.store(mine.wrapping_add(1), Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        self.next.load(Ordering::Relaxed) == self.serving.load(Ordering::Relaxed)
    }
}
