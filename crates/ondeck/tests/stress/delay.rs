//! How long a thread was ready to run and had no CPU, by the kernel's count.

use std::fs;

/// The calling thread's delays since it was made, in nanoseconds. `None` on a kernel without
/// `CONFIG_SCHED_INFO`.
fn so_far() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').nth(1)?.parse().ok()
}

/// Whether the kernel counts delays.
pub fn is_counted() -> bool {
    so_far().is_some()
}

/// The delays of the calling thread up to the last question.
pub struct Delays {
    before: u64,
}

impl Delays {
    pub fn new() -> Self {
        Self { before: so_far().unwrap_or(0) }
    }

    /// The delays since the last question, in microseconds. They include those of a wait that has just
    /// ended and those before it, so they are never too few.
    pub fn since_last(&mut self) -> u32 {
        let now = so_far().unwrap_or(0);
        let micros = (now - self.before).div_ceil(1_000);
        self.before = now;
        micros.min(u64::from(u32::MAX)) as u32
    }
}
