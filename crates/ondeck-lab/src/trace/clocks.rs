//! Two clocks in one timeline: threads stamp ticks, the kernel stamps nanoseconds of
//! `CLOCK_MONOTONIC_RAW`.

use nix::time::{ClockId, clock_gettime};
use ondeck::platform::{Linux, Platform};

/// The same moment on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) ticks: u64,
    pub(super) nanos: u64,
}

impl Anchor {
    /// Now: the reading of the kernel's clock that is most tightly between two of the counter.
    pub(super) fn take() -> Self {
        const TRIES: usize = 8;
        let mut best = (u64::MAX, Self::default());
        for _ in 0..TRIES {
            let before = Linux::ticks();
            let nanos = clock_gettime(ClockId::CLOCK_MONOTONIC_RAW)
                .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64);
            let after = Linux::ticks();
            let width = after.saturating_sub(before);
            if width < best.0 {
                best = (width, Self { ticks: before + width / 2, nanos });
            }
        }
        best.1
    }
}

/// From either clock to nanoseconds since the run began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    begin: Anchor,
    nanos_per_tick: f64,
}

impl Clocks {
    /// By two anchors of one run; `begin` is where its time starts.
    pub(super) fn between(begin: Anchor, end: Anchor) -> Self {
        let ticks = end.ticks.saturating_sub(begin.ticks).max(1);
        let nanos = end.nanos.saturating_sub(begin.nanos);
        Self { begin, nanos_per_tick: nanos as f64 / ticks as f64 }
    }

    /// Of a reading of the counter.
    pub(super) fn of_ticks(self, ticks: u64) -> u64 {
        (ticks.saturating_sub(self.begin.ticks) as f64 * self.nanos_per_tick).round() as u64
    }

    /// Of a moment of the kernel's; what was before the run is at its beginning.
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

    #[test]
    fn anchors_go_forward_on_both_clocks() {
        let (one, other) = (Anchor::take(), Anchor::take());
        assert!(one.ticks < other.ticks && one.nanos < other.nanos);
    }
}
