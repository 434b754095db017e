//! How many threads are parked for the lock of a record, when the oldest of them is overdue, and how many more will
//! want the lock once they are notified.

use super::Record;
use super::unlocking::fence;
use crate::parking::has_come;
use crate::parking::node::Node;
use crate::platform::{AtomicInt, Host, Ordering};

/// The longest time between two overdue threads of a lock that are served.
pub(crate) const LONGEST_REST_NANOS: u32 = 1_000_000;

/// `due`, or the end of a rest that lasts beyond that.
///
/// A rest that would last for longer than any does is one of long ago: on 32 bits ticks repeat.
pub(crate) fn not_before(rests: usize, due: usize, now: usize, longest: usize) -> usize {
    if rests.wrapping_sub(now) <= longest && has_come(rests, due) { rests } else { due }
}

impl<P: Host> Record<P> {
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

    /// Counts a linked thread, which will be overdue at `due`.
    pub(in crate::parking) fn count_parked(&self, node: &Node<P>, due: usize, now: usize) {
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
    pub(in crate::parking) fn uncount_parked(&self, node: &Node<P>) -> bool {
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

    /// When a thread last parked.
    pub(crate) fn last_parked_at(&self) -> usize {
        self.waiting.last.load(Ordering::Relaxed)
    }

    /// Notes that a thread parks.
    pub(in crate::parking) fn set_last_parked_at(&self, now: usize) {
        self.waiting.last.store(now, Ordering::Relaxed);
    }

    /// How many waiters of condition variables rely on this record being fenced.
    pub(in crate::parking) fn pins(&self) -> u32 {
        self.pins.load(Ordering::Relaxed)
    }

    pub(in crate::parking) fn set_pins(&self, pins: u32) {
        self.pins.store(pins, Ordering::Relaxed);
    }
}
