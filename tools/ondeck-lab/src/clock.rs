//! Ticks as the laboratory uses them: read cheaply, and converted into nanoseconds afterwards.

use ondeck::platform::{Native, Platform};

use crate::system;

/// Converts differences of [`ticks`](Platform::ticks) into nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct TickScale {
    nanos_per_tick: f64,
}

impl TickScale {
    /// Returns the real machine's scale. The first call may take a millisecond; later ones cost a
    /// division.
    pub fn get() -> Self {
        Self::of::<Native>()
    }

    /// The scale of a machine.
    pub fn of<M: Platform>() -> Self {
        Self { nanos_per_tick: 1e9 / M::ticks_per_second() as f64 }
    }

    /// The length of `ticks` in nanoseconds.
    pub fn nanos(self, ticks: u64) -> f64 {
        ticks as f64 * self.nanos_per_tick
    }

    /// The time from one reading to another in nanoseconds. Returns 0 if the counters of two CPUs
    /// disagree enough to make it negative.
    pub fn between(self, earlier: u64, later: u64) -> f64 {
        self.nanos(later.saturating_sub(earlier))
    }
}

/// The step by which the clock of [`ticks`](Platform::ticks) moves, in nanoseconds.
pub fn step_nanos() -> f64 {
    const READINGS: usize = 1_000;
    let readings: Vec<u64> = (0..READINGS).map(|_| Native::ticks()).collect();
    TickScale::get().nanos(common_step(&readings))
}

/// The largest number that divides all differences of the readings; 0 if the readings are equal.
fn common_step(readings: &[u64]) -> u64 {
    readings.windows(2).map(|pair| pair[1].abs_diff(pair[0])).fold(0, |mut a, mut b| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    })
}

/// The same moment on both clocks, [`Native::ticks`] and the kernel's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// In ticks.
    pub ticks: u64,
    /// In nanoseconds of a clock that no program sets, on Linux `CLOCK_MONOTONIC_RAW`.
    pub nanos: u64,
}

impl Anchor {
    /// Takes an anchor now: of several readings of the kernel's clock, the one most tightly
    /// enclosed by two of the counter.
    pub fn take() -> Self {
        const TRIES: usize = 8;
        let mut best = (u64::MAX, Self::default());
        for _ in 0..TRIES {
            let before = Native::ticks();
            let nanos = system::raw_nanos();
            let after = Native::ticks();
            let width = after.saturating_sub(before);
            if width < best.0 {
                best = (width, Self { ticks: before + width / 2, nanos });
            }
        }
        best.1
    }
}

/// The name of the clock that ticks come from, for the report.
pub fn name() -> &'static str {
    match (Native::ticks_are_hardware(), cfg!(target_arch = "x86_64")) {
        (true, true) => "TSC (invariant)",
        (true, false) => "CNTVCT",
        (false, _) => "CLOCK_MONOTONIC",
    }
}

/// A barrier that the optimizer cannot see through and that has no instruction. It keeps a loop
/// around an empty operation, or two fences in a row, from being merged.
#[inline(always)]
pub(crate) fn opaque() {
    // SAFETY: no instruction at all.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_moves_in_steps_is_seen_whatever_passes_between_readings() {
        assert_eq!(common_step(&[26, 26, 78, 104, 182]), 26);
        assert_eq!(common_step(&[5, 31, 52, 53]), 1);
        assert_eq!(common_step(&[7, 7]), 0);
        assert!(step_nanos() > 0.0);
    }

    #[test]
    fn anchors_go_forward_on_both_clocks() {
        let (one, other) = (Anchor::take(), Anchor::take());
        assert!(one.ticks < other.ticks && one.nanos < other.nanos);
    }
}
