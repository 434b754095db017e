//! One machine's estimates that the locks of ondeck make while they wait.

use ondeck::platform::Estimate;

/// Estimates in ticks; 0 before the first sample.
#[derive(Debug, Default)]
pub(super) struct Estimates {
    pub(super) wake: usize,
    pub(super) transfer: usize,
    pub(super) heavy: usize,
    /// When the last permission to relax was given.
    pub(super) relaxed_at: u64,
}

/// The current value of an estimate.
pub(super) fn current(of: &Estimate, ticks: usize, ticks_in: impl Fn(u32) -> usize) -> usize {
    if ticks == 0 { ticks_in(of.start) } else { ticks }
}
