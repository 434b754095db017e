//! What the kernel charged a thread: CPU time and context switches.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The calling thread's account at one moment, or the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time, user and system.
    pub cpu: Duration,
    /// Switches because the thread went to sleep.
    pub voluntary: u64,
    /// Switches because the scheduler took the CPU away.
    pub involuntary: u64,
}

impl Usage {
    /// The calling thread's account now; zero where the kernel does not tell.
    pub fn of_this_thread() -> Self {
        // The clock counts nanoseconds where rusage only has the tick's share.
        let cpu =
            clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default();
        let (voluntary, involuntary) = getrusage(UsageWho::RUSAGE_THREAD).map_or((0, 0), |usage| {
            (usage.voluntary_context_switches() as u64, usage.involuntary_context_switches() as u64)
        });
        Self { cpu, voluntary, involuntary }
    }

    /// What was charged since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu: self.cpu + other.cpu,
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_costs_a_voluntary_switch_and_hardly_any_time() {
        let before = Usage::of_this_thread();
        std::thread::sleep(Duration::from_millis(2));
        let used = Usage::of_this_thread().since(before);
        assert!(used.voluntary >= 1);
    }

    #[test]
    fn working_costs_time() {
        let before = Usage::of_this_thread();
        let mut sum = 0_u64;
        for number in 0..1_000_000 {
            sum = std::hint::black_box(sum + number);
        }
        assert!(Usage::of_this_thread().since(before).cpu > Duration::ZERO);
    }
}
