//! What the kernel charged a thread: CPU time, time in a run queue, and context switches.

use std::fs;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The calling thread's account at one moment, or the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Elapsed time.
    pub elapsed: Duration,
    /// CPU time, user and system.
    pub cpu: Duration,
    /// Time in which the thread could have run and another had the CPU; `None` where the kernel does
    /// not tell.
    pub queued: Option<Duration>,
    /// Switches because the thread slept.
    pub voluntary: u64,
    /// Switches because the scheduler took the CPU away.
    pub involuntary: u64,
}

impl Usage {
    /// The calling thread's account now; zero where the kernel does not tell.
    pub fn of_this_thread() -> Self {
        // The clock counts nanoseconds where rusage only has the tick's share.
        let now = |clock| clock_gettime(clock).map(Duration::from).unwrap_or_default();
        let cpu = now(ClockId::CLOCK_THREAD_CPUTIME_ID);
        let (voluntary, involuntary) = getrusage(UsageWho::RUSAGE_THREAD).map_or((0, 0), |usage| {
            (usage.voluntary_context_switches() as u64, usage.involuntary_context_switches() as u64)
        });
        let elapsed = now(ClockId::CLOCK_MONOTONIC);
        Self { elapsed, cpu, queued: queued(), voluntary, involuntary }
    }

    /// What was charged since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            elapsed: self.elapsed.saturating_sub(earlier.elapsed),
            cpu: self.cpu.saturating_sub(earlier.cpu),
            queued: self
                .queued
                .map(|queued| queued.saturating_sub(earlier.queued.unwrap_or_default())),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            elapsed: self.elapsed + other.elapsed,
            cpu: self.cpu + other.cpu,
            queued: match (self.queued, other.queued) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            },
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
        }
    }

    /// The part of its time in which the thread ran or could have run; of several threads together
    /// their mean. `None` where the kernel does not tell.
    pub fn runnable(self) -> Option<f64> {
        let awake = (self.cpu + self.queued?).as_secs_f64();
        (self.elapsed > Duration::ZERO).then(|| (awake / self.elapsed.as_secs_f64()).min(1.0))
    }
}

/// How long the calling thread has waited in run queues: the second number of its `schedstat`.
fn queued() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
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
        assert!(used.elapsed >= Duration::from_millis(2));
    }

    #[test]
    fn who_sleeps_is_not_runnable_and_who_works_is() {
        let before = Usage::of_this_thread();
        std::thread::sleep(Duration::from_millis(20));
        let slept = Usage::of_this_thread();
        while Usage::of_this_thread().since(slept).cpu < Duration::from_millis(2) {}
        let worked = Usage::of_this_thread().since(slept);
        if let (Some(asleep), Some(awake)) = (slept.since(before).runnable(), worked.runnable()) {
            assert!(asleep < 0.5 && awake > 0.5, "{asleep} {awake}");
        }
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
