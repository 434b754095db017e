//! The facts that a bucket remembers about a contended mutex while no thread waits for it.
//!
//! ```text
//!   address      the mutex; 0: none
//!   taken        when an heir that had waited for it last became its owner, in ticks
//!   lost         when a displaced owner last came back at once, in ticks
//!   returns      0 to 4: up by one when a displaced owner comes back at once, down by one when another thread comes
//!   left         when an owner last left to wait for a condition, in ticks
//! ```
//!
//! A mutex is *captured* if displaced owners come back at once, and hardly any other thread comes: its owner locks it over
//! and over, and each change of owner costs more than the section. One return is not enough evidence: a thread whose time
//! outside is occasionally short comes back as soon without having captured the lock. Where many threads circulate, one of
//! them often comes just after a change of owner and is mistaken for the displaced owner; but most of them come at other
//! times.
//!
//! All accesses are relaxed and without a lock, because they are hints: they only decide whether an arriving thread tries
//! again, and how long an heir rests before it polls.

use super::Host;
use crate::machine::{AtomicInt, Ordering};

/// Returns of displaced owners that are further apart are no evidence. It is a few tenures of an owner, and less than a time
/// slice of a scheduler.
const RECENT_NANOS: u32 = 2_000_000;

/// The number of returns that are evidence, and the limit of the count. Each other arrival lowers the count by one.
const RETURNS_OF_A_CAPTURED: usize = 2;
const MOST_RETURNS: usize = 4;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct History<P: Host> {
    address: P::AtomicUsize,
    taken: P::AtomicUsize,
    lost: P::AtomicUsize,
    returns: P::AtomicUsize,
    left: P::AtomicUsize,
}

impl<P: Host> History<P> {
    pub(super) fn new() -> Self {
        Self {
            address: AtomicInt::new(0),
            taken: AtomicInt::new(0),
            lost: AtomicInt::new(0),
            returns: AtomicInt::new(0),
            left: AtomicInt::new(0),
        }
    }

    pub(super) fn is_of(&self, address: usize) -> bool {
        self.address.load(Ordering::Relaxed) == address
    }

    /// Gives this history to another mutex, with all its times long ago.
    pub(super) fn give_to(&self, address: usize, now: usize) {
        let long_ago = now.wrapping_sub(2 * P::ticks_in(RECENT_NANOS));
        for word in [&self.taken, &self.lost, &self.left] {
            word.store(long_ago, Ordering::Relaxed);
        }
        self.returns.store(0, Ordering::Relaxed);
        self.address.store(address, Ordering::Relaxed);
    }

    /// Records that an heir that had waited has become the owner.
    pub(crate) fn note_taken(&self, now: usize) {
        self.taken.store(now, Ordering::Relaxed);
    }

    /// Returns whether an heir became the owner less than `ticks` before `now`, or after it, if the caller read the clock
    /// first.
    pub(crate) fn was_taken_within(&self, now: usize, ticks: usize) -> bool {
        let since = now.wrapping_sub(self.taken.load(Ordering::Relaxed));
        since.wrapping_add(ticks) < 2 * ticks
    }

    /// Returns how long ago an heir became the owner, in ticks.
    pub(super) fn age(&self, now: usize) -> usize {
        now.wrapping_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Records that the caller, a displaced owner, has come back at once. Returns whether the mutex is captured.
    pub(crate) fn note_return(&self, now: usize) -> bool {
        let before = if self.is_recent(now) { self.returns.load(Ordering::Relaxed) } else { 0 };
        self.returns.store((before + 1).min(MOST_RETURNS), Ordering::Relaxed);
        self.lost.store(now, Ordering::Relaxed);
        self.is_captured(now)
    }

    /// Records the arrival of a thread that is not a displaced owner.
    pub(crate) fn note_arrival(&self) {
        let returns = self.returns.load(Ordering::Relaxed);
        if returns != 0 {
            self.returns.store(returns - 1, Ordering::Relaxed);
        }
    }

    /// Returns whether a displaced owner came back at once a short time ago.
    fn is_recent(&self, now: usize) -> bool {
        now.wrapping_sub(self.lost.load(Ordering::Relaxed)) < P::ticks_in(RECENT_NANOS)
    }

    /// Records that the owner begins to wait for a condition: it will not lock the mutex again at once.
    pub(crate) fn note_left(&self, now: usize) {
        self.left.store(now, Ordering::Relaxed);
    }

    /// Returns whether owners have recently left to wait for conditions.
    pub(crate) fn is_left(&self, now: usize) -> bool {
        now.wrapping_sub(self.left.load(Ordering::Relaxed)) < P::ticks_in(RECENT_NANOS)
    }

    /// Returns whether the owner locks the mutex over and over.
    pub(crate) fn is_captured(&self, now: usize) -> bool {
        self.returns.load(Ordering::Relaxed) >= RETURNS_OF_A_CAPTURED && self.is_recent(now)
    }
}
