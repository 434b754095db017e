//! The kernel's permanent account of each thread: time on CPUs, time ready without one, slices and
//! switches.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// A thread's account at one moment, or the difference of two.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Account {
    /// Time on a CPU.
    pub run_nanos: u64,
    /// Time ready to run, without a CPU: the run-queue delay.
    pub queued_nanos: u64,
    /// How often it was given a CPU.
    pub slices: u64,
    /// Switches because it slept.
    pub voluntary: u64,
    /// Switches because its CPU was taken away.
    pub involuntary: u64,
}

impl Account {
    /// The calling thread's account now; zeros where the kernel does not report it.
    pub fn of_this_thread() -> Self {
        let usage = Usage::of_this_thread();
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let [run_nanos, queued_nanos, slices] = parse(&text).unwrap_or_default();
        Self {
            run_nanos,
            queued_nanos,
            slices,
            voluntary: usage.voluntary.unwrap_or(0),
            involuntary: usage.involuntary.unwrap_or(0),
        }
    }

    /// Combines both, field by field.
    fn with(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            run_nanos: join(self.run_nanos, other.run_nanos),
            queued_nanos: join(self.queued_nanos, other.queued_nanos),
            slices: join(self.slices, other.slices),
            voluntary: join(self.voluntary, other.voluntary),
            involuntary: join(self.involuntary, other.involuntary),
        }
    }

    /// The charges since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }
}

/// Why there is no run-queue delay; `None` if the kernel reports it.
pub fn refused() -> Option<String> {
    const FILE: &str = "/proc/thread-self/schedstat";
    match fs::read_to_string(FILE) {
        Err(error) => Some(format!("{FILE}: {error}")),
        Ok(text) => match parse(&text) {
            Some([0, 0, 0]) | None => Some(format!("{FILE} tells nothing")),
            Some(_) => None,
        },
    }
}

/// The three numbers of a schedstat file.
fn parse(text: &str) -> Option<[u64; 3]> {
    let mut words = text.split_whitespace().map(str::parse);
    let mut next = || words.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_line_is_read_and_nonsense_is_not() {
        assert_eq!(parse("164053961 43933 12\n"), Some([164_053_961, 43_933, 12]));
        assert_eq!(parse("1 2"), None);
        assert_eq!(parse("1 x 3"), None);
    }

    #[test]
    fn a_thread_that_sleeps_is_given_a_cpu_again() {
        let before = Account::of_this_thread();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let used = Account::of_this_thread().since(before);
        assert!(used.voluntary >= 1);
        assert!(refused().is_some() || used.slices >= 1);
    }
}
