//! Two clocks in one timeline: threads stamp ticks, the kernel stamps nanoseconds of
//! `CLOCK_MONOTONIC_RAW`.

use ondeck_lab::clock::Anchor;

/// Converts either clock to nanoseconds since the run began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    begin: Anchor,
    nanos_per_tick: f64,
}

impl Clocks {
    /// From two anchors of one run; its time starts at `begin`.
    pub(super) fn between(begin: Anchor, end: Anchor) -> Self {
        let ticks = end.ticks.saturating_sub(begin.ticks).max(1);
        let nanos = end.nanos.saturating_sub(begin.nanos);
        Self { begin, nanos_per_tick: nanos as f64 / ticks as f64 }
    }

    /// Converts a reading of the counter.
    pub(super) fn of_ticks(self, ticks: u64) -> u64 {
        (ticks.saturating_sub(self.begin.ticks) as f64 * self.nanos_per_tick).round() as u64
    }

    /// Converts a time of the kernel; times before the run become its beginning.
    pub(super) fn of_kernel(self, nanos: u64) -> u64 {
        nanos.saturating_sub(self.begin.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_meet_at_the_anchors() {
        let begin = Anchor { ticks: 1_000, nanos: 50 };
        let clocks = Clocks::between(begin, Anchor { ticks: 4_000, nanos: 1_050 });
        assert_eq!((clocks.of_ticks(1_000), clocks.of_kernel(50)), (0, 0));
        assert_eq!((clocks.of_ticks(4_000), clocks.of_kernel(1_050)), (1_000, 1_000));
        assert_eq!((clocks.of_ticks(2_500), clocks.of_kernel(7)), (500, 0));
    }
}
