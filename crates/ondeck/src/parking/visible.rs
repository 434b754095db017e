//! Visible readers: where a thread says which locks it reads, on cache lines of its own, so that readers of
//! one lock write no memory that other readers write.
//!
//! ```text
//! rows     one a thread      slot 0 · slot 1 · … · slot 7      0, or the address of a lock
//! biases   one an address's  writers that sleep · rest · since · doubled
//! ```
//!
//! A lock's readers use one slot of each row, that of the lock's address: a writer that waits for them reads
//! one word a row.
//!
//! | word | written by |
//! |---|---|
//! | a slot | its row's thread, if it is 0: the address of the lock that it reads; 0 when the reader leaves |
//! | `sleeping_writers` | a writer, before it sleeps until the visible readers have left, and again when it wakes: how many writers sleep so |
//! | `rest` | a writer that has revoked a bias: the time, in ticks, until which no lock of this address is biased again |
//! | `since` | a reader that has begun a bias: when, in ticks |
//! | `doubled` | a writer that has revoked a bias: how many biases in a row did not pay |
//!
//! Addresses that fall together share the words of a bias: then readers look for a writer that sleeps where
//! there is none, or a lock rests because another does.
//!
//! Source: Dave Dice and Alex Kogan, "BRAVO: Biased Locking for Reader-Writer Locks" (USENIX ATC 2019). Its
//! table is shared by all threads, which take a slot by a compare-exchange; a row of its own lets a thread
//! do so by a store.

use super::bucket_of;
use crate::platform::{AtomicInt, Host, Ordering};

/// Locks that a thread reads at the same time as a visible reader, if their addresses differ in this.
const SLOTS: usize = 8;

/// How many pairs of words there are for biases.
pub const BIASES: usize = 256;

/// The index of an address's bias.
#[inline(always)]
pub const fn bias_of(address: usize) -> usize {
    bucket_of(address) % BIASES
}

/// Which locks one thread reads. On two cache lines, because some CPUs fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub struct Row<P: Host> {
    slots: [P::AtomicUsize; SLOTS],
}

impl<P: Host> Row<P> {
    /// A row of a thread that reads no lock.
    #[must_use]
    pub fn new() -> Self {
        Self { slots: core::array::from_fn(|_| AtomicInt::new(0)) }
    }

    /// The slot for the lock at `address`.
    #[inline(always)]
    pub(crate) fn slot(&self, address: usize) -> &P::AtomicUsize {
        &self.slots[bucket_of(address) % SLOTS]
    }
}

impl<P: Host> Default for Row<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl Row<crate::platform::Linux> {
    /// For the static table: all zeros.
    #[allow(clippy::declare_interior_mutable_const, reason = "a template to fill an array with")]
    pub(crate) const EMPTY: Self =
        Self { slots: [const { core::sync::atomic::AtomicUsize::new(0) }; SLOTS] };
}

/// What writers say to the visible readers of locks.
#[derive(Debug)]
pub struct Bias<P: Host> {
    sleeping_writers: P::AtomicUsize,
    rest: P::AtomicUsize,
    since: P::AtomicUsize,
    doubled: P::AtomicUsize,
}

impl<P: Host> Bias<P> {
    /// One of locks that have not been biased.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sleeping_writers: AtomicInt::new(0),
            rest: AtomicInt::new(0),
            since: AtomicInt::new(0),
            doubled: AtomicInt::new(0),
        }
    }

    /// Whether a writer may sleep that a reader which has left is to wake.
    ///
    /// Relaxed: behind a light fence, with a heavy fence of the writer.
    #[inline(always)]
    pub(crate) fn has_sleeping_writers(&self) -> bool {
        self.sleeping_writers.load(Ordering::Relaxed) != 0
    }

    /// A writer is about to sleep until visible readers have left. It makes a heavy fence next.
    pub(crate) fn begin_sleep(&self) {
        self.sleeping_writers.fetch_add(1, Ordering::Relaxed);
    }

    /// It does not sleep any more.
    pub(crate) fn end_sleep(&self) {
        self.sleeping_writers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether locks of this bias may be biased at `now`.
    pub(crate) fn has_rested(&self, now: usize) -> bool {
        super::has_come(now, self.rest.load(Ordering::Relaxed))
    }

    /// A bias begins at `now`.
    pub(crate) fn begins(&self, now: usize) {
        self.since.store(now, Ordering::Relaxed);
    }

    /// A bias has ended at `now`, which pays if it has lasted for `pays` ticks. Returns how often in a row
    /// one has not, `most` at most.
    pub(crate) fn ends(&self, now: usize, pays: usize, most: usize) -> usize {
        let has_paid = now.wrapping_sub(self.since.load(Ordering::Relaxed)) >= pays;
        let before = self.doubled.load(Ordering::Relaxed);
        let doubled = if has_paid { 0 } else { (before + 1).min(most) };
        self.doubled.store(doubled, Ordering::Relaxed);
        doubled
    }

    /// They may not before `until`.
    pub(crate) fn rest(&self, until: usize) {
        self.rest.store(until, Ordering::Relaxed);
    }
}

impl<P: Host> Default for Bias<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl Bias<crate::platform::Linux> {
    /// For the static table: all zeros.
    #[allow(clippy::declare_interior_mutable_const, reason = "a template to fill an array with")]
    pub(crate) const EMPTY: Self = {
        use core::sync::atomic::AtomicUsize;
        Self {
            sleeping_writers: AtomicUsize::new(0),
            rest: AtomicUsize::new(0),
            since: AtomicUsize::new(0),
            doubled: AtomicUsize::new(0),
        }
    };
}
