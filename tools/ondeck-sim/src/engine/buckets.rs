//! The hash buckets of the kernel's futexes.

use crate::time::Time;

/// A hash bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bucket {
    /// The time until which its lock is held.
    pub(super) busy_until: Time,
    /// The core that had the lock last.
    pub(super) core: Option<usize>,
    /// Threads that sleep here, in the order of arrival.
    pub(super) queue: Vec<usize>,
    /// Threads that wait for the lock, or hold it, to compare their word and to sleep.
    pub(super) arriving: usize,
    /// Total time spent waiting for the lock.
    pub(super) queued: Time,
    /// Number of acquisitions of its lock.
    pub(super) operations: u64,
}

impl Bucket {
    /// Whether no thread sleeps here or is about to.
    pub(super) fn is_unused(&self) -> bool {
        self.queue.is_empty() && self.arriving == 0
    }
}

/// All buckets.
#[derive(Debug)]
pub(crate) struct Futexes {
    pub(super) buckets: Vec<Bucket>,
}

impl Futexes {
    pub(super) fn new(count: usize) -> Self {
        Self { buckets: vec![Bucket::default(); count.max(1)] }
    }

    /// The bucket of a word by its name.
    pub(super) fn of(&self, name: usize) -> usize {
        // Fibonacci hashing of the name, by its upper bits.
        let spread = (name as u64 / 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        spread as usize % self.buckets.len()
    }

    /// The number of acquisitions of buckets' locks, and the time spent waiting for them.
    pub(super) fn traffic(&self) -> (u64, Time) {
        self.buckets.iter().fold((0, 0), |(operations, queued), bucket| {
            (operations + bucket.operations, queued + bucket.queued)
        })
    }
}
