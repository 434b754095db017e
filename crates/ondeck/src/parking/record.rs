//! What the table keeps of one contended lock, for as long as it is contended and a while after.
//!
//! ```text
//!  first line: read by every thread that unlocks the lock
//!   address    the lock that has this record; 0: none has it; SHARED: it is of all others
//!   awake      ─── tenancy (upper half) ─── | ─── number of the turn ─── 2 | 1 poller | 0 in flight
//!   left       the tenancy and the number of the last turn that has ended with the lock
//!   parked     how many threads are linked for the lock: parked, or near and about to park
//!   armed      not 0: unlocks look here, because a thread has parked
//!   real_time  how many of them are of a real-time scheduling class
//!   pins       how many waiters of condition variables will want the lock, and may be asleep
//!   unlocking  31 ─── generation ─── 4 | 3 urgent | 2 request | 1 ─ NOT_YET, FENCED, LIGHT ─ 0
//!                how an unlock and a thread that parks pair their fences, see `publish.rs`
//!                request: the next owner that unlocks hands the lock to the oldest parked thread
//!                urgent: a thread of a real-time scheduling class is parked
//!   releases   how many unlocks have looked here since a thread parked, while no thread polled
//!              (counted by a sample)
//!   due        when the oldest parked thread may be overdue, in ticks; a lower bound
//!
//!  second line: written by threads that wait
//!   flown      when a thread was last marked as in flight, in ticks
//!   last       when a thread last parked, in ticks
//!   polled     when the poller last polled, in ticks
//!   taken      when a poller last became the owner, in ticks
//!   rests      until when no overdue thread is served after one was, in ticks
//!   calls      how often an owner that goes away for long has called the poller
//!   staying    how many threads stay for a moment because there is a poller
//!   vain       how many pollers have parked, one after the other, since one became the owner or the lock
//!              was seen to be unlocked; no more than a few are counted
//! ```
//!
//! `address`, `parked`, `armed`, `real_time`, `pins` and `due` are written under the bucket's lock; so is `unlocking`,
//! but for the step from `NOT_YET` to `FENCED`; `releases` by a sample of the unlocks. `awake` changes by compare-exchange:
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

use core::fmt;

use super::has_come;
use super::node::Node;
use crate::platform::{AtomicInt, Host, Ordering};

/// The address of the record of all locks that have none of their own.
pub(super) const SHARED: usize = 1;

const IN_FLIGHT: usize = 1;
const POLLER: usize = 2;
const ONE_TURN: usize = 4;
const HALF: u32 = usize::BITS / 2;
const TURN: usize = (1 << HALF) - ONE_TURN;
const FLAGS: usize = POLLER | IN_FLIGHT;
const ONE_TENANCY: usize = 1 << HALF;

/// Beyond this the wait is a sixteenth, and does not become shorter: a poll or two, which tell that the lock
/// is used again.
const MOST_VAIN: u32 = 5;

/// The longest time between two overdue threads of a lock that are served.
pub(crate) const LONGEST_REST_NANOS: u32 = 1_000_000;

/// `due`, or the end of a rest that lasts beyond that.
///
/// A rest that would last for longer than any does is one of long ago: on 32 bits ticks repeat.
pub(crate) fn not_before(rests: usize, due: usize, now: usize, longest: usize) -> usize {
    if rests.wrapping_sub(now) <= longest && has_come(rests, due) { rests } else { due }
}

/// How an unlock and a thread that parks make sure that one of them sees the other: see
/// [`Guard::publish`](super::Guard::publish).
pub(super) mod fence {
    /// An unlock has a full fence. Some may be on their way that did not look here at all.
    pub(crate) const NOT_YET: u32 = 0;
    /// An unlock has a full fence, and so has a thread that parks.
    pub(crate) const FENCED: u32 = 1;
    /// An unlock has none, a thread that parks has a heavy one.
    pub(crate) const LIGHT: u32 = 2;
    pub(in crate::parking) const KIND: u32 = 3;
    pub(super) const REQUEST: u32 = 4;
    pub(super) const URGENT: u32 = 8;
    pub(super) const ONE_GENERATION: u32 = 16;
}

/// The record of a lock.
#[repr(C, align(128))]
pub(crate) struct Record<P: Host> {
    pub(super) address: P::AtomicUsize,
    awake: P::AtomicUsize,
    left: P::AtomicUsize,
    due: P::AtomicUsize,
    parked: P::AtomicU32,
    armed: P::AtomicU32,
    real_time: P::AtomicU32,
    pins: P::AtomicU32,
    unlocking: P::AtomicU32,
    releases: P::AtomicU32,
    waiting: Waiting<P>,
}

/// The second line.
#[repr(C, align(64))]
struct Waiting<P: Host> {
    flown: P::AtomicUsize,
    last: P::AtomicUsize,
    polled: P::AtomicUsize,
    taken: P::AtomicUsize,
    rests: P::AtomicUsize,
    calls: P::AtomicU32,
    staying: P::AtomicU32,
    vain: P::AtomicU32,
}

/// The marks of a record: one reading of `awake` and `left`.
#[derive(Clone, Copy)]
pub(crate) struct Awake {
    marks: usize,
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
    pub(super) fn new() -> Self {
        Self {
            address: AtomicInt::new(0),
            awake: AtomicInt::new(0),
            left: AtomicInt::new(0),
            due: AtomicInt::new(0),
            parked: AtomicInt::new(0),
            armed: AtomicInt::new(0),
            real_time: AtomicInt::new(0),
            pins: AtomicInt::new(0),
            unlocking: AtomicInt::new(0),
            releases: AtomicInt::new(0),
            waiting: Waiting {
                flown: AtomicInt::new(0),
                last: AtomicInt::new(0),
                polled: AtomicInt::new(0),
                taken: AtomicInt::new(0),
                rests: AtomicInt::new(0),
                calls: AtomicInt::new(0),
                staying: AtomicInt::new(0),
                vain: AtomicInt::new(0),
            },
        }
    }

    /// Whether this is the record of the lock at `address` itself.
    #[inline]
    pub(crate) fn is_of(&self, address: usize) -> bool {
        // Acquire: what was written for this lock before the address is seen by the reader.
        self.address.load(Ordering::Acquire) == address
    }

    /// Whether several locks share this record: there are no marks in it.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.is_of(SHARED)
    }

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

    fn change_awake(&self, from: Awake, to: usize) -> bool {
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
    pub(super) fn store_left(&self, turn: Turn) {
        // spec: Mutex!StoreTurn
        self.left.store(turn.0, Ordering::Relaxed);
    }

    /// How long a thread waits for the lock awake, which would be `ticks` long if none had waited in vain.
    ///
    /// The first poller that goes without the lock may have been unlucky. If a second one does, then most
    /// likely the owner has lost its CPU: each further thread waits half as long, so that many threads that
    /// arrive one after the other do not burn a CPU for as long as the owner is away.
    pub(crate) fn wait_after_vain(&self, ticks: usize) -> usize {
        ticks >> self.vain().saturating_sub(1)
    }

    /// How many pollers have waited in vain.
    pub(crate) fn vain(&self) -> u32 {
        self.waiting.vain.load(Ordering::Relaxed)
    }

    /// A poller parks: it has polled in vain.
    pub(crate) fn note_vain(&self) {
        let vain = self.waiting.vain.load(Ordering::Relaxed);
        if vain < MOST_VAIN {
            // Not a read-modify-write: there is one poller most of the time, and a lost count costs a wait.
            self.waiting.vain.store(vain + 1, Ordering::Relaxed);
        }
    }

    /// The lock was unlocked.
    pub(crate) fn forget_vain(&self) {
        if self.waiting.vain.load(Ordering::Relaxed) != 0 {
            self.waiting.vain.store(0, Ordering::Relaxed);
        }
    }

    /// Whether a thread is linked for the lock.
    #[inline]
    pub(crate) fn has_parked(&self) -> bool {
        self.parked.load(Ordering::Relaxed) != 0
    }

    /// How many threads are linked for the lock.
    #[inline]
    pub(crate) fn parked(&self) -> u32 {
        self.parked.load(Ordering::Relaxed)
    }

    /// Whether an owner is asked to hand the lock over.
    #[inline]
    pub(crate) fn is_requested(&self) -> bool {
        self.unlocking.load(Ordering::Relaxed) & fence::REQUEST != 0
    }

    /// Asks the next owner that unlocks to hand the lock over, or takes that back. Under the bucket's
    /// lock, and followed by [`set_mode`](super::Guard::set_mode): unlocks look here only if the unlock mode
    /// says so. An owner that does not see it yet passes the oldest by once more.
    pub(crate) fn request(&self, wanted: bool) {
        self.set_flag(fence::REQUEST, wanted);
    }

    /// Whether a thread of a real-time scheduling class is parked. A hint without the bucket's lock.
    #[inline]
    pub(crate) fn is_urgent(&self) -> bool {
        self.unlocking.load(Ordering::Relaxed) & fence::URGENT != 0
    }

    fn set_flag(&self, flag: u32, set: bool) {
        let before = self.fence();
        let after = if set { before | flag } else { before & !flag };
        if after != before {
            // A heavy fence that was made in between is forgotten: another is made in its place.
            self.set_fence(after);
        }
    }

    /// Whether an unlock needs no fence of its own before it looks at this record.
    #[inline]
    pub(crate) fn is_light(&self) -> bool {
        // Acquire: an unlock that leaves out its fence because of this sees all that parked before.
        self.unlocking.load(Ordering::Acquire) & fence::KIND == fence::LIGHT
    }

    /// Whether an unlock needs no fence, and no parked thread is urgent.
    #[inline]
    pub(crate) fn is_light_and_calm(&self) -> bool {
        const FLAGS: u32 = fence::KIND | fence::URGENT;
        // Acquire: see `is_light`.
        self.unlocking.load(Ordering::Acquire) & FLAGS == fence::LIGHT
    }

    /// Whether the oldest parked thread may be overdue.
    #[inline]
    pub(crate) fn may_be_due(&self, now: usize) -> bool {
        has_come(now, self.due.load(Ordering::Relaxed))
    }

    /// Sets when to look for an overdue thread again.
    pub(crate) fn set_due(&self, due: usize) {
        self.due.store(due, Ordering::Relaxed);
    }

    /// An overdue thread is served: the next is not before `until`, also if it comes back as the oldest.
    pub(crate) fn rest(&self, until: usize) {
        self.waiting.rests.store(until, Ordering::Relaxed);
        self.set_due(until);
    }

    /// Counts unlocks that looked here; says how many there were since a thread parked.
    pub(crate) fn count_releases(&self, count: u32) -> u32 {
        // Not a read-modify-write: a count lost now and then only delays what is counted for.
        let releases = self.releases.load(Ordering::Relaxed).wrapping_add(count);
        self.releases.store(releases, Ordering::Relaxed);
        releases
    }

    /// The number of unlocks that looked here since a thread parked; counts anew from 0.
    pub(super) fn take_releases(&self) -> u32 {
        let releases = self.releases.load(Ordering::Relaxed);
        self.releases.store(0, Ordering::Relaxed);
        releases
    }

    /// Counts a linked thread, which will be overdue at `due`.
    pub(super) fn count_parked(&self, node: &Node<P>, due: usize, now: usize) {
        // Plain stores of what only the holder of the bucket's lock writes. The counts are read without
        // that lock; what orders the first is a fence, see `Guard::publish`.
        let parked = self.parked();
        // A thread that comes back may have waited for longer than all that have parked while it was awake: theirs
        // would put its turn off, each time.
        let due = not_before(
            self.waiting.rests.load(Ordering::Relaxed),
            due,
            now,
            P::ticks_in(LONGEST_REST_NANOS),
        );
        if parked == 0 || !has_come(due, self.due.load(Ordering::Relaxed)) {
            self.set_due(due);
        }
        self.parked.store(parked + 1, Ordering::Relaxed);
        if node.priority.load(Ordering::Relaxed) != 0 {
            self.real_time.store(self.real_time.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            self.set_flag(fence::URGENT, true);
        }
    }

    /// Takes back what [`count_parked`](Self::count_parked) did. Says whether a request went with that.
    pub(super) fn uncount_parked(&self, node: &Node<P>) -> bool {
        let parked = self.parked() - 1;
        self.parked.store(parked, Ordering::Relaxed);
        let withdrawn = parked == 0 && self.is_requested();
        if withdrawn {
            self.request(false);
        }
        if node.priority.load(Ordering::Relaxed) != 0 {
            let real_time = self.real_time.load(Ordering::Relaxed) - 1;
            self.real_time.store(real_time, Ordering::Relaxed);
            self.set_flag(fence::URGENT, real_time != 0);
        }
        withdrawn
    }

    /// How many waiters of condition variables rely on this record being fenced.
    pub(super) fn pins(&self) -> u32 {
        self.pins.load(Ordering::Relaxed)
    }

    pub(super) fn set_pins(&self, pins: u32) {
        self.pins.store(pins, Ordering::Relaxed);
    }

    /// How fences are paired now, with the generation of that.
    pub(super) fn fence(&self) -> u32 {
        self.unlocking.load(Ordering::Relaxed)
    }

    /// Pairs fences so from now on. Under the bucket's lock.
    ///
    /// Release: pairs with [`is_light`](Self::is_light).
    pub(super) fn set_fence(&self, fence: u32) {
        self.unlocking.store(fence, Ordering::Release);
    }

    /// The heavy fence of a thread that has seen `NOT_YET` in `seen` has been made: from now on a
    /// full one is enough, unless a thread has stepped back since.
    pub(crate) fn heavy_fence_made(&self, seen: u32) {
        const FLAGS: u32 = fence::REQUEST | fence::URGENT;
        // Relaxed: the heavy fence is behind us.
        let now = self.unlocking.load(Ordering::Relaxed);
        if now & !FLAGS == seen & !FLAGS {
            let fenced = now & !fence::KIND | fence::FENCED;
            // If it fails, the next thread that parks makes another heavy fence.
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.unlocking.compare_exchange(now, fenced, order, failed);
        }
    }

    /// Whether unlocks look here. They have nothing to do for a poller, which finds the lock by itself:
    /// so not before a thread has parked, or is to be found by a notification.
    pub(super) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed) != 0
    }

    pub(super) fn arm(&self) {
        self.armed.store(1, Ordering::Relaxed);
    }

    /// Whether it may go to another lock: no thread waits for the one that has it, or will after a
    /// notification.
    pub(super) fn is_quiet(&self) -> bool {
        self.is_idle() && self.pins() == 0
    }

    /// Whether no thread waits for the lock that has it.
    pub(super) fn is_idle(&self) -> bool {
        !self.has_parked() && !self.awake().any()
    }

    /// Takes it from its lock, under the bucket's lock. False if a thread has begun to poll.
    pub(super) fn take_away(&self) -> bool {
        let before = self.address.load(Ordering::Relaxed);
        // spec: Mutex!TakeAway
        // First the address, then the tenancy: a thread that has read the new tenancy and then the
        // address does not find the old one.
        self.address.store(0, Ordering::Relaxed);
        let seen = self.awake();
        let next = (seen.marks & !POLLER).wrapping_add(ONE_TENANCY);
        if !seen.any() && self.change_awake(seen, next) {
            // The pollers of the next lock count from now on.
            self.left.store(next, Ordering::Relaxed);
            self.armed.store(0, Ordering::Relaxed);
            self.set_pins(0);
            return true;
        }
        // An unlock that found no record in between has not looked here, and had no fence.
        if !self.is_light() {
            self.step_back();
        }
        self.address.store(before, Ordering::Relaxed);
        false
    }

    /// Gives it to the lock at `address`, under the bucket's lock. It is no lock's. `light` where unlocks
    /// need no fence of their own.
    pub(super) fn give_to(&self, address: usize, light: bool) {
        self.request(false);
        self.take_releases();
        self.forget_vain();
        // Some unlocks are on their way that do not look here at all, and some will look without a
        // fence. The first thread that parks steps back from that.
        self.step_back();
        if light {
            self.set_fence(self.fence() & !fence::KIND | fence::LIGHT);
        }
        // Release: see `is_of`.
        self.address.store(address, Ordering::Release);
    }

    /// From now on an unlock looks here and has a full fence. A thread that parks needs a heavy fence,
    /// because some are on their way that do neither.
    pub(super) fn step_back(&self) {
        let generation = self.fence() & !fence::KIND;
        self.set_fence(generation.wrapping_add(fence::ONE_GENERATION) | fence::NOT_YET);
    }

    /// When a thread last parked.
    pub(crate) fn last_parked_at(&self) -> usize {
        self.waiting.last.load(Ordering::Relaxed)
    }

    /// Notes that a thread parks.
    pub(super) fn set_last_parked_at(&self, now: usize) {
        self.waiting.last.store(now, Ordering::Relaxed);
    }

    /// When the poller last polled.
    pub(crate) fn polled_at(&self) -> usize {
        self.waiting.polled.load(Ordering::Relaxed)
    }

    /// Notes that the poller polls.
    pub(crate) fn set_polled_at(&self, now: usize) {
        self.waiting.polled.store(now, Ordering::Relaxed);
    }

    /// When a poller last became the owner.
    pub(crate) fn taken_at(&self) -> usize {
        self.waiting.taken.load(Ordering::Relaxed)
    }

    /// Notes that a poller became the owner.
    pub(crate) fn set_taken_at(&self, now: usize) {
        self.waiting.taken.store(now, Ordering::Relaxed);
    }

    /// The caller stays for a moment beside a poller, if fewer than `most` do.
    pub(crate) fn stay(&self, most: u32) -> bool {
        let may = self.waiting.staying.fetch_add(1, Ordering::Relaxed) < most;
        if !may {
            self.go();
        }
        may
    }

    /// The caller stays no more.
    pub(crate) fn go(&self) {
        self.waiting.staying.fetch_sub(1, Ordering::Relaxed);
    }

    /// How often the poller was called.
    #[inline]
    pub(crate) fn calls(&self) -> u32 {
        self.waiting.calls.load(Ordering::Relaxed)
    }

    /// Calls the poller, or the thread that is about to become it: the caller has unlocked and will not
    /// want the lock soon, so there is no reason to spare it polls.
    #[inline]
    pub(crate) fn call_poller(&self) {
        // Not a read-modify-write: two calls at once are as good as one.
        self.waiting.calls.store(self.calls().wrapping_add(1), Ordering::Relaxed);
    }

    /// The next turn's number comes after `number`, for tests.
    #[cfg(test)]
    pub(super) fn start_turns_at(&self, number: usize) {
        self.awake.store(number, Ordering::Relaxed);
        self.left.store(number, Ordering::Relaxed);
    }

    /// Whether no thread waits, for tests.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_quiet() && !self.is_requested()
    }
}

impl<P: Host> fmt::Debug for Record<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("address", &self.address.load(Ordering::Relaxed))
            .field("awake", &self.awake().any())
            .field("parked", &self.parked())
            .field("pins", &self.pins())
            .finish_non_exhaustive()
    }
}

impl Record<crate::platform::Native> {
    /// A record of no lock, for the static table: all zeros.
    #[allow(clippy::declare_interior_mutable_const, reason = "a template to fill an array with")]
    pub(super) const EMPTY: Self = {
        use core::sync::atomic::{AtomicU32, AtomicUsize};
        Self {
            address: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            due: AtomicUsize::new(0),
            parked: AtomicU32::new(0),
            armed: AtomicU32::new(0),
            real_time: AtomicU32::new(0),
            pins: AtomicU32::new(0),
            unlocking: AtomicU32::new(0),
            releases: AtomicU32::new(0),
            waiting: Waiting {
                flown: AtomicUsize::new(0),
                last: AtomicUsize::new(0),
                polled: AtomicUsize::new(0),
                taken: AtomicUsize::new(0),
                rests: AtomicUsize::new(0),
                calls: AtomicU32::new(0),
                staying: AtomicU32::new(0),
                vain: AtomicU32::new(0),
            },
        }
    };
}
