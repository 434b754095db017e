//! The facts that a bucket remembers about a contended mutex while no thread waits for it.
//!
//! ```text
//!   address      the mutex; 0: none
//!   taken        when a thread last acquired it after its first attempt had failed, in ticks
//!   owner        that thread
//!   displaced    the thread that had done so before: the one that `owner` has displaced
//!   returned     the thread that last came back at once after it had been displaced
//!   left         when an owner last left to wait for a condition, in ticks
//!   returns      0 to 4: up by one when a displaced owner comes back at once, down by one when another thread comes
//! ```
//!
//! A mutex is *captured* if its owners lock it over and over, so that a change of owner costs more than it gains. The
//! evidence is exact: the thread that was displaced finds the mutex locked within a transfer of a cache line after its
//! displacement, and its attempt alone takes that long. One return is not enough: the time outside of a section is
//! occasionally short. Two returns of one thread are not enough either: the other thread may have left, as a worker does that
//! waits for its next job. So a return counts if another thread returned before, and each arrival of a thread that is neither
//! the owner nor comes back at once takes one return away.
//!
//! An acquisition that succeeds at its first attempt leaves no trace here, because that is the fast path. The evidence then
//! is of the acquisition before it, and says less than it could, never more.
//!
//! All accesses are relaxed and without a lock, because they are hints: they only decide whether an arriving thread tries
//! again, and whether an heir leaves the lock to its owner for a turn.

use super::Host;
use crate::machine::{AtomicInt, Ordering};

/// How long an owner keeps a captured mutex before the oldest waiting thread has it: the price of fairness is a change of
/// owner, of 0.1 to 25 µs, in this time. It is a fraction of a scheduler's time slice, so that a mutex goes round among
/// several threads in the time for which a thread has a CPU.
pub(crate) const TURN_NANOS: u32 = 250_000;

/// A mutex that was not contended for this number of turns begins anew.
const RECENT_TURNS: u32 = 8;

/// The number of returns that are evidence, and the limit of the count. Each other arrival lowers the count by one.
const RETURNS_OF_A_CAPTURED: usize = 2;
const MOST_RETURNS: usize = 4;

/// A thread that has found the mutex locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The mutex is not captured.
    Usual,
    /// The mutex is captured, and another thread was its owner last.
    AtCaptured,
    /// The mutex is captured, and the thread was its owner until a moment ago.
    Displaced,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct History<P: Host> {
    address: P::AtomicUsize,
    taken: P::AtomicUsize,
    owner: P::AtomicUsize,
    displaced: P::AtomicUsize,
    returned: P::AtomicUsize,
    returns: P::AtomicUsize,
    left: P::AtomicUsize,
}

impl<P: Host> History<P> {
    pub(super) fn new() -> Self {
        Self {
            address: AtomicInt::new(0),
            taken: AtomicInt::new(0),
            owner: AtomicInt::new(0),
            displaced: AtomicInt::new(0),
            returned: AtomicInt::new(0),
            returns: AtomicInt::new(0),
            left: AtomicInt::new(0),
        }
    }

    pub(super) fn is_of(&self, address: usize) -> bool {
        self.address.load(Ordering::Relaxed) == address
    }

    /// Gives this history to another mutex, without any evidence.
    pub(super) fn give_to(&self, address: usize, now: usize) {
        let long_ago = now.wrapping_sub(2 * P::ticks_in(RECENT_TURNS * TURN_NANOS));
        for word in [&self.taken, &self.left] {
            word.store(long_ago, Ordering::Relaxed);
        }
        for word in [&self.owner, &self.displaced, &self.returned, &self.returns] {
            word.store(0, Ordering::Relaxed);
        }
        self.address.store(address, Ordering::Relaxed);
    }

    /// Records that the caller has acquired the mutex after its first attempt had failed.
    pub(crate) fn note_taken(&self, now: usize) {
        let (me, before) = (P::thread(), self.owner.load(Ordering::Relaxed));
        if before != me {
            self.displaced.store(before, Ordering::Relaxed);
            self.owner.store(me, Ordering::Relaxed);
        }
        self.taken.store(now, Ordering::Relaxed);
    }

    /// Records that the caller, which has unlocked the mutex, has woken a thread for it. Only from now on can it come back.
    pub(crate) fn note_woken(&self, now: usize) {
        self.displaced.store(P::thread(), Ordering::Relaxed);
        self.taken.store(now, Ordering::Relaxed);
    }

    /// Records that the caller has found the mutex locked at `now`. A displaced owner comes back *at once* if it does so
    /// within `at_once` ticks.
    pub(crate) fn note_arrival(&self, now: usize, at_once: usize) -> Arrival {
        let me = P::thread();
        let is_displaced = self.displaced.load(Ordering::Relaxed) == me
            && is_within(self.taken.load(Ordering::Relaxed), now, at_once);
        let before = if self.is_recent(now) { self.returns.load(Ordering::Relaxed) } else { 0 };
        let returns = if is_displaced {
            let is_other = self.returned.load(Ordering::Relaxed) != me;
            self.returned.store(me, Ordering::Relaxed);
            if is_other { (before + 1).min(MOST_RETURNS) } else { before }
        } else if self.owner.load(Ordering::Relaxed) == me {
            // Another thread has acquired it at its first attempt, in the caller's turn.
            return Arrival::Usual;
        } else {
            before.saturating_sub(1)
        };
        if returns != before {
            self.returns.store(returns, Ordering::Relaxed);
        }
        match (returns >= RETURNS_OF_A_CAPTURED, is_displaced && !self.is_left(now)) {
            (false, _) => Arrival::Usual,
            (true, false) => Arrival::AtCaptured,
            (true, true) => Arrival::Displaced,
        }
    }

    /// Records that the owner begins to wait for a condition: it will not lock the mutex again at once.
    pub(crate) fn note_left(&self, now: usize) {
        self.left.store(now, Ordering::Relaxed);
    }

    /// Returns whether an owner has recently left to wait for a condition. The next one may do the same, and then no thread would use
    /// the mutex for the rest of its turn.
    pub(crate) fn is_left(&self, now: usize) -> bool {
        is_within(self.left.load(Ordering::Relaxed), now, P::ticks_in(RECENT_TURNS * TURN_NANOS))
    }

    /// Returns when the turn of the present owner ends, if the mutex is captured.
    pub(crate) fn end_of_turn(&self) -> usize {
        self.taken.load(Ordering::Relaxed).wrapping_add(P::ticks_in(TURN_NANOS))
    }

    /// Returns how long ago a thread that had waited acquired the mutex, in ticks.
    pub(super) fn age(&self, now: usize) -> usize {
        now.wrapping_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Returns whether the mutex was contended a short time ago.
    fn is_recent(&self, now: usize) -> bool {
        is_within(self.taken.load(Ordering::Relaxed), now, P::ticks_in(RECENT_TURNS * TURN_NANOS))
    }

    /// Returns whether the owner locks the mutex over and over.
    pub(crate) fn is_captured(&self, now: usize) -> bool {
        self.returns.load(Ordering::Relaxed) >= RETURNS_OF_A_CAPTURED && self.is_recent(now)
    }
}

/// Returns whether the moment `then` is less than `ticks` before `now`, or after it: the caller may have read the clock before
/// another thread recorded `then`.
fn is_within(then: usize, now: usize, ticks: usize) -> bool {
    now.wrapping_sub(then).wrapping_add(ticks) < 2 * ticks
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn a_moment_that_was_recorded_after_the_clock_was_read_is_recent() {
        let (now, ticks) = (1_000, 100);
        let recent = [1_050, 1_000, 901, 900, 800].map(|then| is_within(then, now, ticks));
        assert_eq!(recent, [true, true, true, false, false]);
    }
}
