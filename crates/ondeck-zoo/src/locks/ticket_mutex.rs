//! The ticket mutex: the ticket lock on a futex, which must wake everybody.
//!
//! Source: Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really
//! is" (2020), which describes it, and his benchmark's `ticket_mutex`. Lockless Inc. names the
//! same flaw in "Mutexes and Condition Variables using Futexes".
//!
//! Teaches: why sleeping queues have nodes. All waiters sleep on one word, the kernel cannot be
//! told which to wake, so every release wakes all, and all but one go back to sleep.
//!
//! ```text
//!    serving = 17       18       19       20       next = 21
//!      owner            └────────┬────────┘
//!                   all asleep on `serving`
//!
//! lock:   mine = next++; until serving == mine: sleep while `serving` stays what it was
//! unlock: serving = mine + 1; if next shows further numbers: wake all that sleep on `serving`
//! free:   next == serving
//! ```
//!
//! As in the benchmark, an unlock that finds no further number drawn makes no system call. It has
//! to look *after* the release: a thread that draws its number between a look and a release that
//! follows it would sleep for ever. So the release is not the last access to the lock.
//!
//! # Memory ordering
//!
//! `serving` is stored with `Release` and read with `Acquire`: that is the handoff. The look at
//! `next` is a read-modify-write that adds nothing, `AcqRel` like the drawing of a number. One of
//! the two comes first in the order of `next`: if the drawing, the owner sees it and wakes; if the
//! look, the drawer synchronizes with it and sees `serving` moved, so that it cannot sleep on the
//! old value. The benchmark has the read-modify-write on `serving` and a sequentially consistent
//! load of `next`: the same cost on x86-64, where the locked instruction empties the store buffer
//! in both, but this form needs no sequential consistency.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

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
            // Every outcome means the same: look who is served now.
            let _ = P::futex_wait(&self.serving, serving, None);
            serving = self.serving.load(Ordering::Acquire);
        }
    }
}

// SAFETY: numbers are drawn by an atomic read-modify-write, so they are unique; a thread returns
// from `lock` when its own is served, and only the owner moves on to the next.
unsafe impl<P: Platform> RawLock<P> for TicketMutex<P> {
    const INFO: LockInfo = LockInfo {
        name: "ticket_mutex",
        origin: Origin::Sources,
        waiting: Waiting::Sleeps,
        fairness: Fairness::Fifo,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Generic,
        source: "Malte Skarupke, Measuring Mutexes, ticket_mutex",
        teaches: "One futex word cannot wake the right sleeper: each release wakes all of them",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { next: AtomicInt::new(0), serving: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        let mine = self.next.fetch_add(1, Ordering::AcqRel);
        let serving = self.serving.load(Ordering::Acquire);
        if serving != mine {
            self.wait(mine, serving);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // As in the ticket spinlock: an undrawn number that is served stays so until it is drawn.
        let serving = self.serving.load(Ordering::Acquire);
        self.next
            .compare_exchange(serving, serving.wrapping_add(1), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        let successor = self.serving.load(Ordering::Relaxed).wrapping_add(1);
        self.serving.store(successor, Ordering::Release);
        if self.next.fetch_add(0, Ordering::AcqRel) != successor {
            P::futex_wake(&raw const self.serving, u32::MAX);
        }
    }

    fn is_idle(&mut self) -> bool {
        self.next.load(Ordering::Relaxed) == self.serving.load(Ordering::Relaxed)
    }
}
