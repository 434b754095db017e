//! Accounts for the time of a thread.

use crate::time::Time;

/// The activity of a thread while its clock advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Doing {
    /// Work inside and outside of sections.
    Working,
    /// Accesses that hit.
    Hitting,
    /// Waits for a line that other accesses are using.
    Queueing,
    /// Waits for a line that is on its way.
    Moving,
    /// Waits for its own stores.
    Draining,
    /// PAUSE.
    Pausing,
    /// Fences, light and full.
    Fencing,
    /// Heavy fences, by the caller or as an interrupted CPU.
    HeavyFencing,
    /// Reads of clocks.
    Clocks,
    /// Within the kernel, apart from the following.
    Kernel,
    /// Waits for a futex bucket's lock.
    BucketWait,
    /// sched_yield(2).
    Yielding,
    /// Switches between threads.
    Switching,
    /// Disturbances by a test.
    Disturbed,
}

/// Time by activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent([Time; Doing::Disturbed as usize + 1]);

impl Spent {
    /// Adds time.
    #[inline]
    pub fn add(&mut self, doing: Doing, time: Time) {
        self.0[doing as usize] += time;
    }

    /// The time of that activity.
    pub fn on(&self, doing: Doing) -> Time {
        self.0[doing as usize]
    }

    /// The sum of all activities.
    pub fn total(&self) -> Time {
        self.0.iter().sum()
    }
}
