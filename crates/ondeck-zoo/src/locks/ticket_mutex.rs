//! The ticket mutex: the ticket lock on a futex, which has to wake all waiters.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is"
//! (2020), which describes it, and his benchmark's `ticket_mutex`. Lockless Inc. names the same
//! flaw in "Mutexes and Condition Variables using Futexes".
//!
//! Teaches: why queues of sleeping threads have nodes. All waiters sleep on one word, and the
//! kernel cannot know which of them to wake. So each unlock wakes all, and all but one sleep again.
//!
//! ```text
//!    serving = 17       18       19       20       next = 21
//!      owner            └────────┬────────┘
//!                   all asleep on `serving`
//!
//! next (u32)      the number that the next thread draws
//! serving (u32)   the number of the owner, and the futex; equal to `next` if the lock is free
//!
//! change                 made by               operation
//! next → next + 1        a thread that locks   fetch-add: it draws the old value
//! next → next + 1        an attempt            compare-exchange from the value of `serving`
//! serving → serving + 1  the owner             load, store; then it wakes all threads that sleep
//!                                              on `serving`, if `next` shows further numbers
//! ```
//!
//! As in the benchmark, an unlock that finds no further number makes no system call. It reads
//! `next` *after* its store: if it read `next` before, a thread could draw its number between the
//! two and sleep for ever. So the store that unlocks is not the last access to the lock.
//!
//! # Memory ordering
//!
//! `serving` is stored with `Release` and read with `Acquire`: this pair is the handoff.
//!
//! The unlock reads `next` by a read-modify-write that adds 0. It is `AcqRel`, and so is the
//! drawing of a number. One of the two comes first in the order of `next`. If the drawing is first,
//! the owner sees it and wakes. If the read is first, the drawing thread synchronizes with it and
//! sees the new `serving`, so that it cannot sleep on the old one. The benchmark has its
//! read-modify-write on `serving` and a sequentially consistent load of `next`. On x86-64 both
//! forms cost the same, because the locked instruction drains the store buffer; this form needs no
//! sequential consistency.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{Fairness, LockInfo, Origin, RawLock, Waiting};

/// Tickets and sleeping: see the [source file](self) for its counters.
#[derive(Debug)]
pub struct TicketMutex<P: Platform> {
    next: P::AtomicU32,
    serving: P::AtomicU32,
}

impl<P: Platform> TicketMutex<P> {
    #[cold]
    fn wait(&self, mine: u32, mut serving: u32) {
        while serving != mine {
            // Every result means the same: read which number is served now.
            let _ = P::futex_wait(&self.serving, serving, None);
            serving = self.serving.load(Ordering::Acquire);
        }
    }
}

// SAFETY, as a lock: numbers are drawn by an atomic read-modify-write, so they are unique; a thread returns
// from `lock` when its own is served, and only the owner moves on to the next.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for TicketMutex<P> {
        INFO: LockInfo {
            name: "ticket_mutex",
            origin: Origin::Sources,
            waiting: Waiting::Sleeps,
            fairness: Fairness::Fifo,
            touches_after_release: true,
            source: "Malte Skarupke, Measuring Mutexes, ticket_mutex",
            teaches: "One futex word cannot wake the right thread: each unlock wakes all of them",
            ..LockInfo::USUAL
        },
        new: Self { next: AtomicInt::new(0), serving: AtomicInt::new(0) },
        lock: |this, ()| {
            let mine = this.next.fetch_add(1, Ordering::AcqRel);
            let serving = this.serving.load(Ordering::Acquire);
            if serving != mine {
                this.wait(mine, serving);
            }
        },
        try_lock: |this, ()| {
            // As in the ticket spinlock: if the number served is not drawn yet, the lock stays free
            // until it is.
            let serving = this.serving.load(Ordering::Acquire);
            this.next
                .compare_exchange(serving, serving.wrapping_add(1), Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        },
        unlock: |this, ()| {
            let successor = this.serving.load(Ordering::Relaxed).wrapping_add(1);
            this.serving.store(successor, Ordering::Release);
            if this.next.fetch_add(0, Ordering::AcqRel) != successor {
                P::futex_wake(&raw const this.serving, u32::MAX);
            }
        },
        is_idle: |this| this.next.load(Ordering::Relaxed) == this.serving.load(Ordering::Relaxed),
    }
}
