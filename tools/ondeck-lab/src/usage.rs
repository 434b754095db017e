//! The kernel's charges of a thread: CPU time, time in a run queue, and context switches.

use std::ops::Add;
use std::time::Duration;

use crate::system;
pub use crate::system::Usage;

impl Usage {
    /// The calling thread's account now.
    pub fn of_this_thread() -> Self {
        system::usage()
    }

    /// The charges since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let time = |now: Option<Duration>, earlier: Option<Duration>| {
            now.map(|now| now.saturating_sub(earlier.unwrap_or_default()))
        };
        let count = |now: Option<u64>, earlier: Option<u64>| {
            now.map(|now| now.saturating_sub(earlier.unwrap_or_default()))
        };
        Self {
            elapsed: self.elapsed.saturating_sub(earlier.elapsed),
            cpu: time(self.cpu, earlier.cpu),
            queued: time(self.queued, earlier.queued),
            voluntary: count(self.voluntary, earlier.voluntary),
            involuntary: count(self.involuntary, earlier.involuntary),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            elapsed: self.elapsed + other.elapsed,
            cpu: sum(self.cpu, other.cpu),
            queued: sum(self.queued, other.queued),
            voluntary: sum(self.voluntary, other.voluntary),
            involuntary: sum(self.involuntary, other.involuntary),
        }
    }

    /// The part of its time in which the thread ran or could have run; for several threads
    /// together, their mean. `None` where the kernel does not report it.
    pub fn runnable(self) -> Option<f64> {
        let awake = (self.cpu? + self.queued?).as_secs_f64();
        (self.elapsed > Duration::ZERO).then(|| (awake / self.elapsed.as_secs_f64()).min(1.0))
    }
}

/// The sum of the known accounts: an empty account is not known yet.
fn sum<T: Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
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
        assert!(used.voluntary.is_none_or(|voluntary| voluntary >= 1));
        assert!(used.elapsed >= Duration::from_millis(2));
    }

    #[test]
    fn a_thread_is_runnable_while_it_has_a_cpu_or_waits_for_one() {
        let of = |cpu, queued| {
            let milliseconds = |time| Some(Duration::from_millis(time));
            let elapsed = Duration::from_millis(20);
            Usage {
                elapsed,
                cpu: milliseconds(cpu),
                queued: milliseconds(queued),
                ..Usage::default()
            }
        };
        assert_eq!(of(1, 4).runnable(), Some(0.25));
        // Two clocks may differ slightly.
        assert_eq!(of(20, 1).runnable(), Some(1.0));
        assert_eq!(Usage { queued: None, ..of(1, 4) }.runnable(), None);
        assert_eq!(Usage { elapsed: Duration::ZERO, ..of(0, 0) }.runnable(), None);
    }

    #[test]
    fn what_is_not_told_stays_untold_beside_what_is() {
        let (untold, some) = (Usage::default(), Usage { voluntary: Some(3), ..Usage::default() });
        assert_eq!(untold.plus(untold), untold);
        assert_eq!(untold.plus(some).voluntary, Some(3));
        assert_eq!(some.plus(some).voluntary, Some(6));
        assert_eq!(some.since(untold).voluntary, Some(3));
        assert_eq!(some.since(some).cpu, None);
    }

    #[test]
    fn working_costs_time() {
        let before = Usage::of_this_thread();
        let mut sum = 0_u64;
        for number in 0..1_000_000 {
            sum = std::hint::black_box(sum + number);
        }
        let cpu = Usage::of_this_thread().since(before).cpu;
        assert!(cpu.is_none_or(|cpu| cpu > Duration::ZERO), "{cpu:?}");
    }
}
