//! Times that locks measure while they wait, and that the whole process shares.

use core::sync::atomic::{AtomicUsize, Ordering};

use super::ticks;
use crate::platform::Estimate;

/// See [`Estimate::WAKE`].
pub(super) static WAKE: Measured = Measured::new(Estimate::WAKE);

/// See [`Estimate::TRANSFER`].
pub(super) static TRANSFER: Measured = Measured::new(Estimate::TRANSFER);

/// An estimate with its current value.
///
/// It has its own cache line, because it is written where others are read.
#[repr(align(64))]
pub(super) struct Measured {
    /// In ticks; 0 while nothing has been recorded. Relaxed: it is independent of other data, and a
    /// lost update is harmless.
    ticks: AtomicUsize,
    how: Estimate,
}

impl Measured {
    const fn new(how: Estimate) -> Self {
        Self { ticks: AtomicUsize::new(0), how }
    }

    /// Returns the estimate, in ticks.
    #[inline]
    pub(super) fn get(&self) -> usize {
        match self.ticks.load(Ordering::Relaxed) {
            0 => ticks::in_nanos(self.how.start),
            ticks => ticks,
        }
    }

    /// Records a time, in ticks.
    #[inline]
    pub(super) fn note(&self, time: usize) {
        self.ticks.store(self.how.noted(self.get(), time, ticks::in_nanos), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_where_nothing_was_noted_and_follows_what_was() {
        let estimate = Measured::new(Estimate::WAKE);
        let nanos = |nanos| ticks::in_nanos(nanos);
        assert_eq!(estimate.get(), nanos(20_000));
        (0..1_000).for_each(|_| estimate.note(usize::MAX));
        assert_eq!(estimate.get(), nanos(50_000));
        (0..1_000).for_each(|_| estimate.note(0));
        assert_eq!(estimate.get(), nanos(2_000));
    }
}
