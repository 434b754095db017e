//! parking_lot's spin before a thread sleeps: part of its ports.

use ondeck::platform::Platform;

/// parking_lot's `SpinWait`: 2, 4, 8 pauses, then 7 yields.
#[derive(Debug)]
pub(crate) struct SpinWait(u32);

impl SpinWait {
    const PAUSING: u32 = 3;
    const TURNS: u32 = 10;

    pub(crate) fn new() -> Self {
        Self(0)
    }

    /// Waits for a turn; returns false if all turns are over.
    pub(crate) fn spin<P: Platform>(&mut self) -> bool {
        if self.0 >= P::spins(Self::TURNS) {
            return false;
        }
        self.0 += 1;
        if self.0 <= Self::PAUSING {
            P::pause_times(1 << self.0);
        } else {
            P::yield_now();
        }
        true
    }
}
