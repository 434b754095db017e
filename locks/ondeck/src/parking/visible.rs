//! Visible readers: a thread publishes the locks that it reads on its own cache lines, so that
//! readers of one lock write no memory that other readers write.
//!
//! ```text
//! rows     one for each thread   slot 0 · slot 1 · … · slot 7      0, or the address of a lock
//! biases   one for each address  writers that sleep · rest · taken
//! ```
//!
//! A lock's readers use one slot of each row, chosen by the lock's address: a writer that waits for
//! them reads one word of each row.
//!
//! | word | written by |
//! |---|---|
//! | a slot | the row's thread, if it is 0: the address of the lock that it reads; 0 when the reader leaves |
//! | `sleeping_writers` | a writer, before it sleeps until the visible readers have left, and again when it wakes: the number of writers that sleep for that |
//! | `rest` | a writer that has revoked a bias: the time, in ticks, until which no lock of this address is biased again |
//! | `taken_at` | a thread that has waited awake: when it acquired the lock, in ticks |
//!
//! Addresses that hash to the same bias share its words. Then readers may look for a sleeping
//! writer where there is none, or a lock may rest because another does.
//!
//! Source: Dave Dice and Alex Kogan, "BRAVO: Biased Locking for Reader-Writer Locks" (USENIX ATC
//! 2019). Its table is shared by all threads, which take a slot by a compare-exchange. With a row
//! for each thread, a store takes a slot.

use super::rest::Rest;
use super::{Host, bucket_of, is_near};
use crate::machine::{AtomicInt, Ordering};

/// The number of locks that a thread can read at the same time as a visible reader, if their
/// addresses hash to different slots.
const SLOTS: usize = 8;

/// The number of biases, which take 32 KiB.
pub const BIASES: usize = 256;

/// Returns the index of an address's bias.
#[inline(always)]
pub const fn bias_of(address: usize) -> usize {
    bucket_of(address) % BIASES
}

/// The locks that one thread reads. On a cache line of its own, and on a pair of them, because some
/// CPUs fetch pairs.
#[derive(Debug)]
#[repr(align(128))]
pub struct Row<P: Host> {
    slots: [P::AtomicUsize; SLOTS],
}

impl<P: Host> Row<P> {
    /// Creates the row of a thread that reads no lock.
    #[must_use]
    pub fn new() -> Self {
        Self { slots: core::array::from_fn(|_| AtomicInt::new(0)) }
    }

    /// Returns the slot for the lock at `address`.
    #[inline(always)]
    pub(crate) fn slot(&self, address: usize) -> &P::AtomicUsize {
        &self.slots[bucket_of(P::name_of(address)) % SLOTS]
    }

    /// Returns whether the caller, the row's thread, reads a lock.
    pub(crate) fn has_readers(&self) -> bool {
        self.slots.iter().any(|slot| slot.load(Ordering::Relaxed) != 0)
    }
}

impl<P: Host> Default for Row<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// The words by which writers signal to the visible readers of locks.
///
/// Each visible reader that leaves reads a word of the first line. The word that busy locks write
/// is on another line.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Bias<P: Host> {
    sleeping_writers: P::AtomicUsize,
    /// Until it is over, locks of this bias do not become biased.
    pub(crate) rest: Rest<P>,
    taken_at: Alone<P>,
}

/// A word on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Alone<P: Host>(P::AtomicUsize);

impl<P: Host> Bias<P> {
    /// Creates the bias of locks that have not been biased.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sleeping_writers: AtomicInt::new(0),
            rest: Rest::new(),
            taken_at: Alone(AtomicInt::new(0)),
        }
    }

    /// Returns whether a writer may sleep that a leaving reader must wake.
    ///
    /// Relaxed: it comes after a light fence, which pairs with a heavy fence of the writer.
    #[inline(always)]
    pub(crate) fn has_sleeping_writers(&self) -> bool {
        self.sleeping_writers.load(Ordering::Relaxed) != 0
    }

    /// Records that a writer is about to sleep until visible readers have left. The writer makes a
    /// heavy fence next.
    pub(crate) fn begin_sleep(&self) {
        self.sleeping_writers.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that the writer no longer sleeps.
    pub(crate) fn end_sleep(&self) {
        self.sleeping_writers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns whether a thread that had waited awake acquired a lock of this bias less than
    /// `ticks` before `now`. Relaxed, as all of these: it decides how long threads pause, and
    /// nothing else.
    pub(crate) fn was_taken(&self, now: usize, ticks: usize) -> bool {
        is_near(now, self.taken_at.0.load(Ordering::Relaxed), ticks)
    }

    /// Records that a thread which had waited awake acquired a lock at `now`.
    pub(crate) fn set_taken_at(&self, now: usize) {
        self.taken_at.0.store(now, Ordering::Relaxed);
    }
}

impl<P: Host> Default for Bias<P> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Native;

    #[test]
    fn a_lock_was_taken_just_now_also_by_a_counter_that_is_ahead_and_not_by_one_that_has_gone_back()
    {
        let bias = Bias::<Native>::new();
        bias.set_taken_at(1_000);
        let taken = [0, 950, 1_000, 1_050, 2_000].map(|now| bias.was_taken(now, 100));
        assert_eq!(taken, [false, true, true, true, false]);
    }
}
