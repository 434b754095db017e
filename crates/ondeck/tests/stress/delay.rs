//! For how long a thread was ready to run and had no CPU, as the kernel counts it.

use std::fs;

/// The calling thread's delays since it was made, in nanoseconds. None on a kernel without
/// `CONFIG_SCHED_INFO`.
fn so_far() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').nth(1)?.parse().ok()
}

/// Whether the kernel counts them.
pub fn is_counted() -> bool {
    so_far().is_some()
}

/// What the calling thread knows of its delays.
pub struct Delays {
    before: u64,
}

impl Delays {
    pub fn new() -> Self {
        Self { before: so_far().unwrap_or(0) }
    }

    /// The delays since this was last asked, in microseconds: those of a wait that has just ended
    /// and of what was before, so never too few.
    pub fn since_last(&mut self) -> u32 {
        let now = so_far().unwrap_or(0);
        let micros = (now - self.before).div_ceil(1_000);
        self.before = now;
        micros.min(u64::from(u32::MAX)) as u32
    }
}
