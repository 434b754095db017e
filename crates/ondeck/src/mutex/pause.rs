//! The time between two attempts of a poller.
//!
//! A poll takes the lock's cache line from the owner, 25 to 300 ns on the machines measured. Where the
//! owner holds the lock for 100 ns and stays away for 500, a poll every 100 ns is right; where it takes
//! the lock again every 10 ns, that would cost more than the lock does. What tells the two apart is
//! which thread arrives: one that fails right after a poller took the lock has been taking it again and
//! again itself, so it polls rarely. Both pauses are multiples of what a transfer of a cache line takes
//! on this machine, which each poll measures.

use crate::parking::{Record, has_come};
use crate::platform::Host;
use crate::spin::Waits;

/// The time between two attempts of a poller.
#[derive(Clone, Copy)]
pub(super) struct Pause {
    pub(super) start: usize,
    pub(super) ticks: usize,
    /// How often the poller had been called at the attempt before.
    pub(super) calls: u32,
}

impl Pause {
    /// No pause, from `now`.
    pub(super) fn none(now: usize) -> Self {
        Self { start: now, ticks: 0, calls: 0 }
    }

    /// Waits until its end, or until the poller is called; says when that was.
    pub(super) fn end<P: Host>(self, record: &Record<P>) -> usize {
        loop {
            let now = P::ticks() as usize;
            if now.wrapping_sub(self.start) >= self.ticks || record.calls() != self.calls {
                return now;
            }
            P::pause();
        }
    }
}

/// Whether a thread that finds the lock taken at the moment `at` had it before, and lost it to a poller.
pub(super) fn has_lost<P: Host>(record: &Record<P>, at: usize, waits: &Waits) -> bool {
    !has_come(at, record.taken_at().wrapping_add(waits.lost))
}
