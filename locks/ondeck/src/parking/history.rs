//! The facts that a bucket remembers about a contended mutex while no thread waits for it.
//!
//! ```text
//!   address      the mutex; 0: none
//!   taken        when a thread last acquired it after its first attempt had failed, in ticks
//!   owner        that thread
//!   displaced    the thread that had done so before: the one that `owner` has displaced
//!   offered      the thread that has offered the mutex at `taken`, until the next one acquires it; 0: none
//!   left         when an owner last left to wait for a condition, in ticks
//!   resigned     when the mutex last turned out not to be captured, in ticks
//!   evidence     0 to 32: how far what speaks for a captured mutex outweighs what speaks against it
//! ```
//!
//! A mutex is *captured* if its owner locks it over and over, with hardly a gap, so that a change
//! of owner costs more than it gains. Before that is known, a displaced owner that comes back at
//! once speaks for it: it finds the mutex locked within three transfers of a cache line after its
//! displacement, one of which its attempt takes. Each arrival of a thread that is neither the owner
//! nor comes back at once speaks against it.
//!
//! That is a suspicion, because an owner is displaced at any moment of the time between two
//! sections. A captured mutex gives better evidence, on any machine, whatever a transfer costs.
//! Each look of the heir is a sample of the share of the time for which its owner has it locked.
//! And an owner that offers the mutex at the end of its turn is outside from then on: if it does
//! not come back at once, that speaks strongly against it. The looks cannot say that alone: a long
//! section may hide a long time outside.
//!
//! A mutex that turns out not to be captured is not suspected again for some time.
//!
//! An acquisition that succeeds at its first attempt leaves no trace here, because that is the fast
//! path. The evidence then is of the acquisition before it, and says less than it could, never
//! more.
//!
//! All accesses are relaxed and without a lock, because they are hints: they only decide whether an
//! arriving thread tries again, and whether an heir leaves the lock to its owner for a turn.

use super::Host;
use crate::machine::{AtomicInt, Ordering};

/// How long an owner keeps a captured mutex before the oldest waiting thread has it: the price of
/// fairness is a change of owner, of 0.1 to 25 µs, in this time. It is a fraction of a scheduler's
/// time slice, so that a mutex goes round among several threads in the time for which a thread has
/// a CPU.
pub(crate) const TURN_NANOS: u32 = 250_000;

/// A mutex that was not contended for this number of turns begins anew.
const RECENT_TURNS: u32 = 8;

/// A mutex that turned out not to be captured is not suspected again for this number of turns.
/// Meanwhile the time for which it was wrongly taken for captured, some turns, becomes one or two
/// percent.
const RESIGNED_TURNS: u32 = 128;

/// How much evidence makes a mutex captured, and the most that is counted.
const CAPTURED: usize = 8;
const MOST: usize = 32;

/// The evidence with which a mutex becomes captured, so that one exception does not make it resign.
const START: usize = 16;

/// How much evidence it is that the heir finds a captured mutex locked: the first if two threads
/// want the mutex or only two can run, the second if more do. That the heir finds the mutex free is
/// evidence of 1 against it. So looks speak for a captured mutex if its owner has it locked for a
/// quarter of the time, or for a ninth. Two threads that circulate seldom meet at a mutex that each
/// has locked for less, and use two CPUs; many threads would wait for each other's transfers.
/// Measured: half of the time with empty sections, 0.8 and more with a hash map, a tenth with
/// 30/150 and 100/500 ns (Xeon, 2 virtual CPUs).
const LOCKED: usize = 3;
const LOCKED_AMONG_MANY: usize = 8;

/// How much evidence against a captured mutex it is that an owner which has offered it does not
/// come back at once: more than the looks of most turns are for it.
const LATE: usize = 8;

/// A thread that has found the mutex locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The mutex is not captured.
    Usual,
    /// The mutex is captured, and another thread was its owner last.
    AtCaptured,
    /// The mutex is captured, and the thread was its last owner.
    Displaced,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct History<P: Host> {
    address: P::AtomicUsize,
    taken: P::AtomicUsize,
    owner: P::AtomicUsize,
    displaced: P::AtomicUsize,
    offered: P::AtomicUsize,
    evidence: P::AtomicUsize,
    left: P::AtomicUsize,
    resigned: P::AtomicUsize,
}

impl<P: Host> History<P> {
    pub(super) fn new() -> Self {
        Self {
            address: AtomicInt::new(0),
            taken: AtomicInt::new(0),
            owner: AtomicInt::new(0),
            displaced: AtomicInt::new(0),
            offered: AtomicInt::new(0),
            evidence: AtomicInt::new(0),
            left: AtomicInt::new(0),
            resigned: AtomicInt::new(0),
        }
    }

    pub(super) fn is_of(&self, address: usize) -> bool {
        self.address.load(Ordering::Relaxed) == address
    }

    /// Gives this history to another mutex, without any evidence.
    pub(super) fn give_to(&self, address: usize, now: usize) {
        let long_ago = now.wrapping_sub(2 * P::ticks_in(RESIGNED_TURNS * TURN_NANOS));
        for word in [&self.taken, &self.left, &self.resigned] {
            word.store(long_ago, Ordering::Relaxed);
        }
        let threads = [&self.owner, &self.displaced, &self.offered];
        for word in threads.into_iter().chain([&self.evidence]) {
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
        self.offered.store(0, Ordering::Relaxed);
        self.taken.store(now, Ordering::Relaxed);
    }

    /// Records that the caller has offered the mutex and woken the thread that has the offer. Only
    /// from now on can the caller come back.
    pub(crate) fn note_offered(&self, now: usize) {
        let me = P::thread();
        self.displaced.store(me, Ordering::Relaxed);
        self.offered.store(me, Ordering::Relaxed);
        self.taken.store(now, Ordering::Relaxed);
    }

    /// Records that the caller has found the mutex locked at `now`. A displaced owner comes back
    /// *at once* if it does so within `at_once` ticks.
    pub(crate) fn note_arrival(&self, now: usize, at_once: usize) -> Arrival {
        if !self.is_recent(now) {
            self.evidence.store(0, Ordering::Relaxed);
        }
        let me = P::thread();
        let is_displaced = self.displaced.load(Ordering::Relaxed) == me;
        let is_at_once =
            is_displaced && is_within(self.taken.load(Ordering::Relaxed), now, at_once);
        if self.is_captured(now) {
            if self.offered.load(Ordering::Relaxed) == me {
                if is_at_once { self.note_for(1) } else { self.note_against(LATE, now) }
            }
        } else if is_at_once && !self.is_resigned(now) {
            self.note_for(1);
        } else if self.owner.load(Ordering::Relaxed) != me {
            self.note_against(1, now);
        }
        match (self.is_captured(now), is_displaced) {
            (false, _) => Arrival::Usual,
            (true, false) => Arrival::AtCaptured,
            (true, true) => Arrival::Displaced,
        }
    }

    /// Records whether the heir of a captured mutex has found it locked. `has_many` says whether
    /// more than two threads want it and can run.
    pub(crate) fn note_look(&self, is_locked: bool, has_many: bool, now: usize) {
        match (is_locked, has_many) {
            (false, _) => self.note_against(1, now),
            (true, false) => self.note_for(LOCKED),
            (true, true) => self.note_for(LOCKED_AMONG_MANY),
        }
    }

    /// Records that much evidence for a captured mutex.
    fn note_for(&self, evidence: usize) {
        let before = self.evidence.load(Ordering::Relaxed);
        let becomes = before < CAPTURED && before + evidence >= CAPTURED;
        let after = if becomes { START } else { (before + evidence).min(MOST) };
        self.evidence.store(after, Ordering::Relaxed);
    }

    /// Records that much evidence against it.
    fn note_against(&self, evidence: usize, now: usize) {
        let before = self.evidence.load(Ordering::Relaxed);
        let mut after = before.saturating_sub(evidence);
        if before >= CAPTURED && after < CAPTURED {
            self.resigned.store(now, Ordering::Relaxed);
            after = 0;
        }
        self.evidence.store(after, Ordering::Relaxed);
    }

    /// Records that the owner begins to wait for a condition: it will not lock the mutex again at
    /// once.
    pub(crate) fn note_left(&self, now: usize) {
        self.left.store(now, Ordering::Relaxed);
    }

    /// Returns whether an owner has recently left to wait for a condition. The next one may do the
    /// same, and then no thread would use the mutex for the rest of its turn.
    fn is_left(&self, now: usize) -> bool {
        is_within(self.left.load(Ordering::Relaxed), now, P::ticks_in(RECENT_TURNS * TURN_NANOS))
    }

    fn is_resigned(&self, now: usize) -> bool {
        let turns = P::ticks_in(RESIGNED_TURNS * TURN_NANOS);
        is_within(self.resigned.load(Ordering::Relaxed), now, turns)
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

    /// Returns whether the mutex is captured, and its owners do not leave to wait for conditions.
    pub(crate) fn is_captured(&self, now: usize) -> bool {
        self.evidence.load(Ordering::Relaxed) >= CAPTURED
            && self.is_recent(now)
            && !self.is_left(now)
    }
}

/// Returns whether the moment `then` is less than `ticks` before `now`, or after it: the caller may
/// have read the clock before another thread recorded `then`.
fn is_within(then: usize, now: usize, ticks: usize) -> bool {
    now.wrapping_sub(then).wrapping_add(ticks) < 2 * ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Platform, Threads};
    use crate::platform::Native;

    const AT_ONCE: usize = 100;

    /// A time that does not pass, however long the thread is without a CPU.
    fn now() -> usize {
        usize::MAX / 2
    }

    /// The caller is displaced and comes back at once. Returns what that means.
    fn returns(history: &History<Native>) -> Arrival {
        history.displaced.store(Native::thread(), Ordering::Relaxed);
        history.taken.store(now(), Ordering::Relaxed);
        history.note_arrival(history.taken.load(Ordering::Relaxed), AT_ONCE)
    }

    fn captured() -> History<Native> {
        let history = History::new();
        history.give_to(1, now());
        let found: [_; CAPTURED] = core::array::from_fn(|_| returns(&history));
        assert_eq!(found[CAPTURED - 2..], [Arrival::Usual, Arrival::Displaced]);
        history
    }

    #[test]
    fn a_captured_mutex_whose_owners_stay_outside_after_their_offers_resigns_for_some_time() {
        let history = captured();
        let stays_outside = || {
            // Each heir has found it locked twice before.
            (0..2).for_each(|_| history.note_look(true, false, now()));
            history.note_offered(now());
            let taken = history.taken.load(Ordering::Relaxed);
            history.note_arrival(taken.wrapping_add(2 * AT_ONCE), AT_ONCE)
        };
        assert_eq!(stays_outside(), Arrival::Displaced, "one exception");
        assert!((0..MOST).any(|_| stays_outside() == Arrival::Usual));
        assert!((0..MOST).all(|_| returns(&history) == Arrival::Usual));
    }

    #[test]
    fn a_thread_that_was_not_displaced_is_no_evidence_for_a_captured_mutex() {
        let history = History::<Native>::new();
        history.give_to(1, now());
        history.displaced.store(Native::thread() + 1, Ordering::Relaxed);
        history.taken.store(now(), Ordering::Relaxed);
        assert!((0..MOST).all(|_| history.note_arrival(now(), AT_ONCE) == Arrival::Usual));
    }

    /// Returns whether a captured mutex resigns if its owners come back at once, and one in this
    /// number of its heirs' looks finds it locked.
    fn resigns(found_locked_once_in: usize, has_many: bool) -> bool {
        let history = captured();
        (0..10 * MOST).any(|turn| {
            for look in 4 * turn..4 * (turn + 1) {
                history.note_look(look % found_locked_once_in == 0, has_many, now());
            }
            history.note_offered(now());
            let taken = history.taken.load(Ordering::Relaxed);
            history.note_arrival(taken, AT_ONCE) == Arrival::Usual
        })
    }

    #[test]
    fn a_captured_mutex_that_its_heirs_find_free_resigns() {
        assert_eq!([2, 3, 8, 24].map(|count| resigns(count, false)), [false, false, true, true]);
        assert_eq!([2, 3, 8, 24].map(|count| resigns(count, true)), [false, false, false, true]);
    }

    #[test]
    fn evidence_of_a_captured_mutex_is_forgotten_when_it_has_not_been_contended() {
        let history = captured();
        let long_ago = now().wrapping_sub(2 * Native::ticks_in(RECENT_TURNS * TURN_NANOS));
        history.taken.store(long_ago, Ordering::Relaxed);
        assert_eq!(history.note_arrival(now(), AT_ONCE), Arrival::Usual);
        assert_eq!(returns(&history), Arrival::Usual);
    }

    #[test]
    fn a_moment_that_was_recorded_after_the_clock_was_read_is_recent() {
        let (now, ticks) = (1_000, 100);
        let recent = [1_050, 1_000, 901, 900, 800].map(|then| is_within(then, now, ticks));
        assert_eq!(recent, [true, true, true, false, false]);
    }
}
