//! Ticks as the laboratory uses them: read cheaply, turned into nanoseconds afterwards.

use std::sync::OnceLock;

use ondeck::platform::{Linux, Platform};

/// Turns differences of [`Linux::ticks`] into nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct TickScale {
    nanos_per_tick: f64,
}

impl TickScale {
    /// The machine's scale, found out once; the first call may take a millisecond.
    pub fn get() -> Self {
        static SCALE: OnceLock<TickScale> = OnceLock::new();
        *SCALE.get_or_init(|| Self { nanos_per_tick: 1e9 / Linux::ticks_per_second() as f64 })
    }

    /// The length of `ticks` in nanoseconds.
    pub fn nanos(self, ticks: u64) -> f64 {
        ticks as f64 * self.nanos_per_tick
    }

    /// The time from one reading to another in nanoseconds; 0 if the counters of two CPUs disagree
    /// so much that it would be negative.
    pub fn between(self, earlier: u64, later: u64) -> f64 {
        self.nanos(later.saturating_sub(earlier))
    }
}

/// The name of the clock that ticks come from, for the report.
pub fn name() -> &'static str {
    match (Linux::ticks_are_hardware(), cfg!(target_arch = "x86_64")) {
        (true, true) => "TSC (invariant)",
        (true, false) => "CNTVCT",
        (false, _) => "CLOCK_MONOTONIC",
    }
}

/// Something that the optimizer cannot see through, without an instruction: it keeps a loop around
/// an empty operation, and two fences in a row, from being merged away.
#[inline(always)]
pub(crate) fn opaque() {
    // SAFETY: no instruction at all.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
}
