//! Alternating phases of readers and of one writer, by tickets.
//!
//! Source: Björn Brandenburg and James Anderson, "Spin-Based Reader-Writer Synchronization for
//! Multiprocessor Real-Time Systems" (2010), the lock PF-T.
//!
//! Teaches: bounded waits for both. A reader waits for at most one writer, whatever the number of writers;
//! a writer waits for the writers before it, and for one phase of readers between each two.
//!
//! ```text
//! rin  (u32)   bits 8..   readers that have arrived
//!              bit 1      a writer is present (PRESENT)
//!              bit 0      that writer's phase: its ticket is odd (PHASE)
//! rout (u32)   bits 8..   readers that have left
//! win  (u32)   the ticket that the next writer draws
//! wout (u32)   the ticket of the writer whose turn it is
//!
//! change                  made by                        operation
//! rin  + READER           a reader that arrives          fetch-add; an attempt: compare-exchange
//! rout + READER           a reader that leaves           fetch-add
//! win  + 1                a writer that arrives          fetch-add; an attempt: compare-exchange
//! rin  + PRESENT (|PHASE) the writer whose turn it is    fetch-add
//! rin  without both bits  that writer, when it leaves    fetch-and
//! wout + 1                the same, next                 store
//! ```
//!
//! A reader that finds a writer's bits in `rin` waits until they change. Then that writer has left, and
//! the next one, of the other phase, may already be present. In that case the reader enters before the
//! next writer, which has counted it. A writer that has set its bits waits until as many readers have left
//! as had arrived. All counters wrap around.
//!
//! Differences from the source: a waiter yields its CPU now and then, and there are attempts.
//!
//! # Memory ordering
//!
//! All readers and writers change `rin` by read-modify-writes, so that either a writer counts a reader or
//! the reader sees the writer's bits. A reader's fetch-add and its polls are `Acquire`. They pair with the
//! `Release` fetch-and of the writer that left, directly or through the changes by other readers, which
//! belong to its release sequence. The writer's polls of `rout` are `Acquire` and pair with the `Release`
//! fetch-adds of readers that leave. Its polls of `wout` are `Acquire` and pair with the `Release` store of
//! the writer before. Drawing a writer's ticket is `Relaxed`: it publishes nothing.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::locks::spinlock::PAUSES_PER_YIELD;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

const READER: u32 = 0x100;
const PRESENT: u32 = 2;
const PHASE: u32 = 1;
const WRITER_BITS: u32 = PRESENT | PHASE;

/// Phases and tickets: see the [source file](self).
#[derive(Debug)]
pub struct PhaseFairRwLock<P: Platform> {
    rin: P::AtomicU32,
    rout: P::AtomicU32,
    win: P::AtomicU32,
    wout: P::AtomicU32,
}

impl<P: Platform> PhaseFairRwLock<P> {
    fn wait_until(over: impl Fn() -> bool) {
        loop {
            for _ in 0..P::spins(PAUSES_PER_YIELD) {
                if over() {
                    return;
                }
                P::pause();
            }
            if over() {
                return;
            }
            P::yield_now();
        }
    }

    #[cold]
    fn wait_for_writer(&self, bits: u32) {
        Self::wait_until(|| self.rin.load(Ordering::Acquire) & WRITER_BITS != bits);
    }

    /// Publishes to readers that the writer with this ticket is present; returns the number of readers
    /// that arrived before.
    #[inline]
    fn show(&self, ticket: u32) -> u32 {
        self.rin.fetch_add(PRESENT | (ticket & PHASE), Ordering::Relaxed)
    }

    #[inline]
    fn leave(&self) {
        self.rin.fetch_and(!WRITER_BITS, Ordering::Release);
        // Only the writer changes it, so it reads its own ticket.
        let ticket = self.wout.load(Ordering::Relaxed);
        self.wout.store(ticket.wrapping_add(1), Ordering::Release);
    }
}

// SAFETY: tickets are unique, so one writer at a time is past the wait for its turn. It continues when all
// readers that arrived before its bits have left; readers that arrive later wait until it has left.
unsafe impl<P: Platform> RawRwLock<P> for PhaseFairRwLock<P> {
    const INFO: LockInfo = LockInfo {
        name: "phase_fair_rwlock",
        origin: Origin::Literature,
        waiting: Waiting::Yields,
        fairness: Fairness::Fifo,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Without,
        source: "Brandenburg and Anderson, Spin-Based Reader-Writer Synchronization (2010), PF-T",
        teaches: "A reader waits for one writer at most, and a writer for one phase of readers for each writer before it",
    };

    type Read = ();
    type Write = ();

    fn new() -> Self {
        Self {
            rin: AtomicInt::new(0),
            rout: AtomicInt::new(0),
            win: AtomicInt::new(0),
            wout: AtomicInt::new(0),
        }
    }

    #[inline]
    unsafe fn read(&self, (): &()) {
        let bits = self.rin.fetch_add(READER, Ordering::Acquire) & WRITER_BITS;
        if bits != 0 {
            self.wait_for_writer(bits);
        }
    }

    #[inline]
    unsafe fn try_read(&self, (): &()) -> bool {
        let rin = self.rin.load(Ordering::Relaxed);
        let next = rin.wrapping_add(READER);
        rin & WRITER_BITS == 0
            && self.rin.compare_exchange(rin, next, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock_read(&self, (): &()) {
        self.rout.fetch_add(READER, Ordering::Release);
    }

    #[inline]
    unsafe fn write(&self, (): &()) {
        let ticket = self.win.fetch_add(1, Ordering::Relaxed);
        Self::wait_until(|| self.wout.load(Ordering::Acquire) == ticket);
        let arrived = self.show(ticket);
        Self::wait_until(|| self.rout.load(Ordering::Acquire) == arrived);
    }

    #[inline]
    unsafe fn try_write(&self, (): &()) -> bool {
        let turn = self.wout.load(Ordering::Acquire);
        let next = turn.wrapping_add(1);
        // With readers inside the attempt fails, so it does not begin.
        if self.rin.load(Ordering::Relaxed) != self.rout.load(Ordering::Relaxed)
            || self.win.compare_exchange(turn, next, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return false;
        }
        let arrived = self.show(turn);
        let alone = self.rout.load(Ordering::Acquire) == arrived;
        if !alone {
            // A reader came first. Leaving lets the readers that wait for this writer, and the next
            // writer, continue.
            self.leave();
        }
        alone
    }

    #[inline]
    unsafe fn unlock_write(&self, (): &()) {
        self.leave();
    }

    fn is_idle(&mut self) -> bool {
        self.rin.load(Ordering::Relaxed) == self.rout.load(Ordering::Relaxed)
            && self.win.load(Ordering::Relaxed) == self.wout.load(Ordering::Relaxed)
    }
}
