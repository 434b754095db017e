//! Which programs had the CPUs during a measurement: this program, others, or the host of the
//! virtual machine. A load average does not show it: it ignores the host, and after a run it still
//! contains the run's own load.

use std::thread;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::system;
pub use crate::system::Account;

impl Account {
    /// The account now; `None` where the kernel does not tell.
    pub fn now() -> Option<Self> {
        system::account_of_cpus()
    }

    /// How the CPUs were used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> CpuTime {
        let own = self.own - earlier.own;
        CpuTime {
            own_seconds: own,
            // Both values are rounded, each by its own rule.
            others_seconds: (self.busy - earlier.busy - own).max(0.0),
            host_seconds: (self.host - earlier.host).max(0.0),
            idle_seconds: (self.idle - earlier.idle).max(0.0),
        }
    }
}

/// How the CPUs were used during a run: CPU time of all CPUs together, counted in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTime {
    /// The run itself.
    pub own_seconds: f64,
    /// Other programs, and the kernel for its own sake.
    pub others_seconds: f64,
    /// The host of a virtual machine, which took a CPU away that a thread was on or ready for.
    pub host_seconds: f64,
    /// Nothing: the CPUs were idle.
    pub idle_seconds: f64,
}

impl CpuTime {
    /// The host's share of the CPU time that was not idle, 0 to 1.
    pub fn of_host(&self) -> f64 {
        self.share(self.host_seconds)
    }

    /// Other programs' share of the CPU time that was not idle, 0 to 1.
    pub fn of_others(&self) -> f64 {
        self.share(self.others_seconds)
    }

    /// All CPU time that was not idle, in seconds.
    pub fn wanted(&self) -> f64 {
        self.own_seconds + self.others_seconds + self.host_seconds
    }

    fn share(&self, seconds: f64) -> f64 {
        if self.wanted() > 0.0 { seconds / self.wanted() } else { 0.0 }
    }
}

/// The share of all CPUs that other programs take during `time`. The calling thread sleeps for that
/// time.
pub fn look(time: Duration) -> Option<f64> {
    let before = Account::now()?;
    thread::sleep(time);
    let cpu = Account::now()?.since(before);
    let taken = cpu.others_seconds + cpu.host_seconds;
    let all = taken + cpu.own_seconds + cpu.idle_seconds;
    (all > 0.0).then(|| taken / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_own_is_of_others() {
        let before = Account { busy: 10.0, idle: 5.0, host: 1.0, own: 2.0 };
        let after = Account { busy: 14.0, idle: 6.0, host: 3.5, own: 5.0 };
        let cpu = after.since(before);
        let expected =
            CpuTime { own_seconds: 3.0, others_seconds: 1.0, host_seconds: 2.5, idle_seconds: 1.0 };
        assert_eq!(cpu, expected);
        assert!((cpu.of_host() - 2.5 / 6.5).abs() < 1e-9);
        assert!((cpu.of_others() - 1.0 / 6.5).abs() < 1e-9);
    }
}
