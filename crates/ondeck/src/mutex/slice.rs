//! For how long a parked thread sleeps at a time.

use core::time::Duration;

use crate::platform::{Host, Timestamp};

/// A part of a parked thread's sleep. At its end the thread looks whether the one that is to look after
/// it gets no CPU.
///
/// The end does not move when a signal interrupts the sleep.
#[derive(Clone, Copy)]
pub(crate) struct Slice {
    pub(crate) end: Timestamp,
    length: Duration,
}

impl Slice {
    /// Many time slices of a scheduler.
    const FIRST: Duration = Duration::from_millis(20);
    /// No thread waits for a lock longer because it has waited for long.
    const LONGEST: Duration = Duration::from_millis(640);
    /// A waiter that has not been notified has no lock to look at. It wakes only to find out whether it
    /// has been moved to one meanwhile. A thread that has been moved looks so much later for the first time.
    const LONGEST_IDLE: Duration = Duration::from_millis(2_560);

    /// The first slice, from now on.
    pub(crate) fn begin<P: Host>() -> Self {
        Self { end: P::now().after(Self::FIRST), length: Self::FIRST }
    }

    /// The next slice of a thread that is parked for a lock, from now on: twice as long.
    pub(crate) fn next<P: Host>(&mut self) {
        self.lengthen::<P>(Self::LONGEST);
    }

    /// The next slice of a waiter that was not notified yet.
    pub(crate) fn next_idle<P: Host>(&mut self) {
        self.lengthen::<P>(Self::LONGEST_IDLE);
    }

    fn lengthen<P: Host>(&mut self, longest: Duration) {
        self.length = (self.length * 2).min(longest);
        self.end = P::now().after(self.length);
    }
}
