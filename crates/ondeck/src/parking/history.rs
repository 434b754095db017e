//! What a bucket remembers of a contended mutex while no thread waits for it.
//!
//! ```text
//!   address      the mutex; 0: none
//!   taken        when a heir that had waited for it last became its owner, in ticks
//!   lost         when a displaced owner last came back at once, in ticks
//!   lost_before  the same, the time before
//!   rests_until  before this no unlock pays a debt, in ticks
//! ```
//!
//! A mutex is *captured* if two displaced owners came back at once within 2 ms: its owner takes it again and again, and
//! each change of owner costs more than the section. One return is not enough: a thread whose time outside is short
//! now and then comes back so without having the lock captured.
//!
//! Hints, without a lock and relaxed: whatever a thread reads here, it decides how long a heir naps and whether an unlock
//! wakes a thread now or at the next one.

use crate::platform::{AtomicInt, Host, Ordering};

/// Returns of displaced owners that are further apart tell nothing: a few tenures of an owner, and less than a time
/// slice of a scheduler.
const RECENT_NANOS: u32 = 2_000_000;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct History<P: Host> {
    address: P::AtomicUsize,
    taken: P::AtomicUsize,
    lost: P::AtomicUsize,
    lost_before: P::AtomicUsize,
    rests_until: P::AtomicUsize,
}

impl<P: Host> History<P> {
    pub(super) fn new() -> Self {
        Self {
            address: AtomicInt::new(0),
            taken: AtomicInt::new(0),
            lost: AtomicInt::new(0),
            lost_before: AtomicInt::new(0),
            rests_until: AtomicInt::new(0),
        }
    }

    pub(super) fn is_of(&self, address: usize) -> bool {
        self.address.load(Ordering::Relaxed) == address
    }

    /// Makes this the history of another mutex, which begins long ago.
    pub(super) fn give_to(&self, address: usize, now: usize) {
        let long_ago = now.wrapping_sub(2 * P::ticks_in(RECENT_NANOS));
        for word in [&self.taken, &self.lost, &self.lost_before, &self.rests_until] {
            word.store(long_ago, Ordering::Relaxed);
        }
        self.address.store(address, Ordering::Relaxed);
    }

    /// A heir that had waited has become the owner. `back_in` is the time in which the displaced owner comes back if the
    /// mutex is captured: it will be the next heir, so debts rest until then.
    pub(crate) fn note_taken(&self, now: usize, back_in: usize) {
        self.taken.store(now, Ordering::Relaxed);
        if self.is_captured(now) {
            self.rest(now.wrapping_add(back_in));
        }
    }

    /// No unlock pays a debt before `until`.
    pub(crate) fn rest(&self, until: usize) {
        self.rests_until.store(until, Ordering::Relaxed);
    }

    /// Whether debts rest at `now`.
    pub(crate) fn is_resting(&self, now: usize) -> bool {
        let left = self.rests_until.load(Ordering::Relaxed).wrapping_sub(now);
        // Longer than any rest: it was long ago.
        left.wrapping_sub(1) < P::ticks_in(RECENT_NANOS)
    }

    /// Whether a heir became the owner less than `ticks` before `now`, or after it: the caller may have read the clock
    /// first.
    pub(crate) fn was_taken_within(&self, now: usize, ticks: usize) -> bool {
        let since = now.wrapping_sub(self.taken.load(Ordering::Relaxed));
        since.wrapping_add(ticks) < 2 * ticks
    }

    /// How long ago a heir became the owner, in ticks.
    pub(super) fn age(&self, now: usize) -> usize {
        now.wrapping_sub(self.taken.load(Ordering::Relaxed))
    }

    /// The caller was displaced as the owner and has come back at once. Returns whether the mutex is captured.
    pub(crate) fn note_return(&self, now: usize) -> bool {
        self.lost_before.store(self.lost.load(Ordering::Relaxed), Ordering::Relaxed);
        self.lost.store(now, Ordering::Relaxed);
        self.is_captured(now)
    }

    /// Whether the owner takes the mutex again and again.
    pub(crate) fn is_captured(&self, now: usize) -> bool {
        let since = now.wrapping_sub(self.lost_before.load(Ordering::Relaxed));
        since < P::ticks_in(RECENT_NANOS)
    }
}

impl History<crate::platform::Native> {
    /// Of no mutex, for the static table: all zeros.
    #[allow(clippy::declare_interior_mutable_const, reason = "a template to fill an array with")]
    pub(super) const EMPTY: Self = {
        use core::sync::atomic::AtomicUsize;
        Self {
            address: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
            lost_before: AtomicUsize::new(0),
            rests_until: AtomicUsize::new(0),
        }
    };
}
