//! The marks of a record: which running threads its lock's unlocks rely on.
//!
//! `awake` changes by compare-exchange:
//!
//! ```text
//!  turn       n → n + 1  with the poller's mark: a running thread, which found the lock taken, becomes the
//!                        poller; or, under the bucket's lock, an unlock makes a near thread the poller. There
//!                        was no poller, or it has not polled for a while: it lost its CPU
//!  poller     1 → 0      the poller itself: it is linked and about to park, or goes without the lock
//!  in flight  0 → 1      under the bucket's lock, before a parked thread is woken
//!             1 → 0      the woken thread, which becomes the poller unless there is one
//!  tenancy    n → n + 1  under the bucket's lock, if there is neither: the record goes to another lock
//! ```
//!
//! The tenancy is in the same word, so that a thread which found this record before it went to
//! another lock cannot mark that one.
//!
//! A poller that becomes the owner has no time for a compare-exchange: all others wait for it. It stores its turn
//! in `left`, if the turn is still its own. So there is a poller if `awake` says so, and its turn is not the one in
//! `left`:
//!
//! * Two owners of one lock do not store to `left` at once, and the later one sees what the earlier one did. A
//!   thread whose place was taken stores nothing: it would bring back the mark of the thread that took its
//!   place, and has left since.
//! * A thread whose place was taken after it had looked, and before it stored, stores an old turn beside a
//!   poller that has not left. If it lost its CPU between the two, the record may be another lock's by then,
//!   and that lock's pollers may have left: so `left` has the tenancy, and while it is not the one in `awake`,
//!   no poller counts. A poller that does not count costs a wake too many, and no more: like one whose place
//!   was taken, it looks when it goes without the lock.
//!
//! Numbers repeat after a billion turns of a record (on 32 bits, 16,384). If a thread without a CPU sleeps through
//! exactly so many, or none of so many pollers becomes the owner, then one thread takes another's mark away, or a
//! poller does not count.

use super::Record;
use crate::platform::{AtomicInt, Host, Ordering};

const IN_FLIGHT: usize = 1;
pub(super) const POLLER: usize = 2;
const ONE_TURN: usize = 4;
const HALF: u32 = usize::BITS / 2;
const TURN: usize = (1 << HALF) - ONE_TURN;
const FLAGS: usize = POLLER | IN_FLIGHT;
pub(super) const ONE_TENANCY: usize = 1 << HALF;

/// The marks of a record: one reading of `awake` and `left`.
#[derive(Clone, Copy)]
pub(crate) struct Awake {
    pub(super) marks: usize,
    left: usize,
}

impl Awake {
    /// Whether a thread polls the lock, or is on its way to.
    #[inline]
    pub(crate) fn any(self) -> bool {
        self.in_flight() || self.has_poller()
    }

    /// Whether there is a poller.
    #[inline]
    pub(crate) fn has_poller(self) -> bool {
        let differs = (self.marks ^ self.left) & !FLAGS;
        self.marks & POLLER != 0 && differs != 0 && differs < ONE_TENANCY
    }

    /// Whether a woken thread is in flight.
    #[inline]
    pub(crate) fn in_flight(self) -> bool {
        self.marks & IN_FLIGHT != 0
    }

    /// Whether the poller has this turn.
    #[inline]
    pub(crate) fn is_poller(self, turn: Turn) -> bool {
        self.marks & !IN_FLIGHT == turn.0 | POLLER
    }

    /// The marks with a new poller, and its turn.
    fn polled(self) -> (usize, Turn) {
        let number = self.marks.wrapping_add(ONE_TURN) & TURN;
        let turn = Turn(self.marks & !(TURN | FLAGS) | number);
        (turn.0 | POLLER | self.marks & IN_FLIGHT, turn)
    }
}

/// A turn of polling: the tenancy of the record, and the number of the turn, which pollers count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn(usize);

impl Turn {
    /// Of a thread that is no poller: no turn has it.
    pub(crate) const NONE: Self = Self(usize::MAX);

    /// As it is kept in a node.
    pub(crate) fn from_word(word: usize) -> Self {
        Self(word)
    }

    /// For a node.
    pub(crate) fn word(self) -> usize {
        self.0
    }
}

impl<P: Host> Record<P> {
    /// The marks.
    ///
    /// Acquire, with the release of [`leave`](Self::leave): a thread that sees a mark gone sees its
    /// thread counted as parked, if that is where it went. For `left` see
    /// [`leave_as_owner`](Self::leave_as_owner).
    #[inline]
    pub(crate) fn awake(&self) -> Awake {
        let marks = self.awake.load(Ordering::Acquire);
        // Behind the marks: if another poller has become the owner in between, its unlock comes after what the
        // caller does.
        // spec: Mutex!LookLeft
        Awake { marks, left: self.left.load(Ordering::Relaxed) }
    }

    pub(super) fn change_awake(&self, from: Awake, to: usize) -> bool {
        // AcqRel: see `awake`; and the thread that becomes the poller sees when the last one took the
        // lock.
        self.awake.compare_exchange(from.marks, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The caller becomes the poller in place of the one in `seen`, if there is one. `seen` was read
    /// before the record's address; it polls from `now` on.
    pub(crate) fn take_poll(&self, seen: Awake, now: usize) -> Option<Turn> {
        // Before, so that no thread takes the new poller for one that lost its CPU.
        self.set_polled_at(now);
        // spec: Mutex!ArriveTake
        let (polled, turn) = seen.polled();
        self.change_awake(seen, polled).then_some(turn)
    }

    /// Marks a thread as woken and in flight, unless one is already; with `beside` also if there is a
    /// poller.
    pub(crate) fn set_in_flight(&self, beside: bool, now: usize) -> bool {
        loop {
            let seen = self.awake();
            if seen.in_flight() || seen.has_poller() && !beside {
                return false;
            }
            self.waiting.flown.store(now, Ordering::Relaxed);
            if self.change_awake(seen, seen.marks | IN_FLIGHT) {
                return true;
            }
        }
    }

    /// When a thread was last marked as in flight.
    pub(crate) fn flown_at(&self) -> usize {
        self.waiting.flown.load(Ordering::Relaxed)
    }

    /// A thread that was woken for the lock at `address` runs: it is not in flight any more, and becomes the
    /// poller unless there is one. Says whether it became the poller.
    ///
    /// Another thread may have taken its mark away: one of a real-time class that was in flight beside it, or
    /// one that took its place. Then the record may be another lock's by now.
    pub(crate) fn land(&self, address: usize, polls: bool) -> Option<Turn> {
        loop {
            let seen = self.awake();
            // The marks first: if they are of an older tenancy than the address, the change fails.
            if !self.is_of(address) {
                return None;
            }
            let (next, turn) = if polls && !seen.has_poller() {
                let (polled, turn) = seen.polled();
                (polled, Some(turn))
            } else {
                (seen.marks, None)
            };
            if self.change_awake(seen, next & !IN_FLIGHT) {
                return turn;
            }
        }
    }

    /// Takes the caller's mark as poller away, if no other thread has taken it over.
    ///
    /// Release: see [`awake`](Self::awake).
    pub(crate) fn leave(&self, turn: Turn) {
        loop {
            let seen = self.awake();
            if !seen.is_poller(turn) || self.change_awake(seen, seen.marks & !POLLER) {
                return;
            }
        }
    }

    /// The caller, whose turn it was, owns the lock: it polls no more.
    ///
    /// A store, which the owner need not wait for, and a load of the same line, which it has read a moment ago.
    ///
    /// Both relaxed. The load sees a thread that has taken the caller's place and has owned the lock before it. Of
    /// the unlocks that rely on marks the caller's own and those of later owners see the store. An unlock of
    /// an earlier owner need not: the caller's looks after it does. Other threads rely on a mark after a fence
    /// that has made their count visible to unlocks, and find the lock free: they see what the unlock's
    /// thread stored before its look.
    pub(crate) fn leave_as_owner(&self, turn: Turn) {
        let marks = self.awake.load(Ordering::Relaxed);
        if (Awake { marks, left: 0 }).is_poller(turn) {
            self.store_left(turn);
        }
    }

    /// The second half of [`leave_as_owner`](Self::leave_as_owner): what has happened since the first does not
    /// count.
    pub(in crate::parking) fn store_left(&self, turn: Turn) {
        // spec: Mutex!StoreTurn
        self.left.store(turn.0, Ordering::Relaxed);
    }

    /// The next turn's number comes after `number`, for tests.
    #[cfg(test)]
    pub(in crate::parking) fn start_turns_at(&self, number: usize) {
        self.awake.store(number, Ordering::Relaxed);
        self.left.store(number, Ordering::Relaxed);
    }
}
