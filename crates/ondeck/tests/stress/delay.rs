//! The time for which a thread was ready to run and had no CPU, as the kernel counts it.

use std::fs;

/// Returns the calling thread's delays since its start, in nanoseconds. `None` on a kernel without
/// `CONFIG_SCHED_INFO`.
fn so_far() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').nth(1)?.parse().ok()
}

/// Returns whether the kernel counts delays.
pub fn is_counted() -> bool {
    so_far().is_some()
}

/// The delays of the calling thread up to the last query.
pub struct Delays {
    before: u64,
}

impl Delays {
    pub fn new() -> Self {
        Self { before: so_far().unwrap_or(0) }
    }

    /// Returns the delays since the last query, in microseconds. They include the delays of a wait
    /// that has just ended and of the time before it, so they are never too small.
    pub fn since_last(&mut self) -> u32 {
        let now = so_far().unwrap_or(0);
        let micros = (now - self.before).div_ceil(1_000);
        self.before = now;
        micros.min(u64::from(u32::MAX)) as u32
    }
}
