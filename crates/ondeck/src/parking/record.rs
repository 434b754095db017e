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
//! but for the step from `NOT_YET` to `FENCED`; `releases` by a sample of the unlocks. How `awake` and `left` change is
//! in `marks.rs`.
//!
//! | file | what |
//! |---|---|
//! | `record.rs` | the words, and which lock has them |
//! | `marks.rs` | which running threads unlocks rely on: the poller, the thread in flight |
//! | `unlocking.rs` | what an unlock reads before it looks any further |
//! | `parked.rs` | how many threads are parked, and when the oldest is overdue |
//! | `waiting.rs` | what threads that wait awake tell each other |

mod marks;
mod parked;
mod unlocking;
mod waiting;

use core::fmt;

use crate::platform::{AtomicInt, Host, Ordering};

pub(crate) use marks::{Awake, Turn};
use marks::{ONE_TENANCY, POLLER};
pub(crate) use parked::{LONGEST_REST_NANOS, not_before};
pub(super) use unlocking::fence;

/// The address of the record of all locks that have none of their own.
pub(super) const SHARED: usize = 1;

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
