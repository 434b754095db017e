//! Times that a thread takes while it works, such as its waits.

use hdrhistogram::Histogram;

use crate::clock::TickScale;
use crate::machine::Machine;
use crate::sample::histogram;

/// The times of one thread.
pub(super) struct Times {
    scale: TickScale,
    /// In nanoseconds.
    pub(super) nanos: Histogram<u64>,
    /// In ticks.
    longest: u64,
}

impl Times {
    pub(super) fn new<M: Machine>() -> Self {
        Self { scale: TickScale::of::<M>(), nanos: histogram(), longest: 0 }
    }

    pub(super) fn record(&mut self, ticks: u64) {
        self.longest = self.longest.max(ticks);
        self.nanos.saturating_record((self.scale.nanos(ticks).round() as u64).max(1));
    }

    /// Adds the times of another thread.
    pub(super) fn add(&mut self, other: &Self) {
        self.longest = self.longest.max(other.longest);
        // Both have the same bounds, so nothing can be out of range.
        _ = self.nanos.add(&other.nanos);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nanos.is_empty()
    }

    /// The time that this part of all times does not exceed, in nanoseconds.
    pub(super) fn at(&self, part: f64) -> f64 {
        self.nanos.value_at_quantile(part) as f64
    }

    pub(super) fn longest_millis(&self) -> f64 {
        self.scale.nanos(self.longest) / 1e6
    }
}
