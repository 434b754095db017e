//! What the locks of ondeck measure while they wait, of one machine.

use ondeck::platform::Estimate;

/// Estimates in ticks; 0 while nothing was noted.
#[derive(Debug, Default)]
pub(super) struct Estimates {
    pub(super) wake: usize,
    pub(super) transfer: usize,
    pub(super) heavy: usize,
    /// When the last permission to relax was given.
    pub(super) relaxed_at: u64,
}

/// An estimate as it is now.
pub(super) fn current(of: &Estimate, ticks: usize, ticks_in: impl Fn(u32) -> usize) -> usize {
    if ticks == 0 { ticks_in(of.start) } else { ticks }
}
