//! How long a thread has been asleep.
//!
//! The kernel does not say. But the scheduler notes when a thread last ran (`se.exec_start` in
//! `/proc/PID/task/TID/sched`), by a clock of the CPU that leaves out interrupts, and so differs
//! from CPU to CPU by seconds in a week. A thread of our own that runs on the same CPU has that
//! clock's present time.

use std::collections::HashMap;
use std::time::Duration;

use ondeck::platform::Linux;

/// The present times of CPUs' clocks.
#[derive(Default)]
pub struct Clocks {
    now: HashMap<usize, Option<f64>>,
}

impl Clocks {
    /// Returns the time since a thread last ran; `None` if the kernel was built without these
    /// times, or this process may not run on that CPU.
    pub fn since(&mut self, last: Option<f64>, cpu: usize) -> Option<Duration> {
        let last = last?;
        let now = (*self.now.entry(cpu).or_insert_with(|| now(cpu)))?;
        Some(Duration::from_secs_f64((now - last).max(0.0) / 1e3))
    }
}

/// Asks in a thread of its own, so that no other is moved to that CPU.
fn now(cpu: usize) -> Option<f64> {
    let ask = move || {
        Linux::set_affinity(&[cpu]).ok()?;
        // The scheduler brings the time up to date.
        std::thread::yield_now();
        last_run(&std::fs::read_to_string("/proc/thread-self/sched").ok()?)
    };
    std::thread::spawn(ask).join().ok()?
}

/// Reads the milliseconds of a file `sched`.
pub fn last_run(sched: &str) -> Option<f64> {
    let line = sched.lines().find(|line| line.starts_with("se.exec_start"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}
