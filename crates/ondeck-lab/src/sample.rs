//! What one round of a workload yields.

use std::time::Duration;

use hdrhistogram::Histogram;
use ondeck::platform::{Linux, Platform};

use crate::results::Better;
use crate::team::Outcome;
use crate::workload::uncontended::Pairs;

/// A quantity that workloads report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Its name in every report.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Which direction is better.
    pub better: Better,
}

macro_rules! quantities {
    ($($(#[doc = $doc:literal])* $ident:ident = $name:literal, $unit:literal, $better:ident;)*) => {
        $($(#[doc = $doc])* pub const $ident: Quantity =
            Quantity { name: $name, unit: $unit, better: Better::$better };)*
    };
}

quantities! {
    /// One lock and unlock together.
    PAIR = "pair", "ns", Lower;
    /// Pairs of lock and unlock a second, of all threads together.
    THROUGHPUT = "throughput", "ops/s", Higher;
    /// CPU time charged to all threads, divided by their pairs.
    CPU_PER_OP = "cpu_per_op", "ns", Lower;
    /// Context switches because a thread went to sleep, for each pair.
    VOLUNTARY = "voluntary_switches", "1/op", Lower;
    /// Context switches that the kernel counts as involuntary, for each pair: the CPU was taken
    /// away, or offered through sched_yield(2) and taken by somebody else.
    INVOLUNTARY = "involuntary_switches", "1/op", Lower;
    /// Pairs of the least served thread divided by those of the most served, while all wanted the
    /// lock. Left out where the time was too short to tell: see [`share_needs`].
    SHARE = "share", "ratio", Higher;
    /// How long a run took, from the common start to the end of the last thread.
    RUN = "run", "ms", Lower;
    /// The longest wait or idle of a run, or gap between two acquisitions of a thread.
    LONGEST = "longest", "ms", Lower;
    /// From an unlock until the thread that waited has the lock: the median of a round.
    HANDOFF = "handoff", "ns", Lower;
    /// Loops of the job server a second.
    SERVER_LOOPS = "server_loops", "ops/s", Neither;
    /// Acquisitions in a row by one thread: half of the streaks are not longer.
    STREAK_P50 = "streak_p50", "ops", Neither;
    /// Acquisitions in a row by one thread: 99 % of the streaks are not longer.
    STREAK_P99 = "streak_p99", "ops", Neither;
    /// Acquisitions in a row by one thread: the longest streak of a round.
    STREAK_MAX = "streak_max", "ops", Lower;
    /// Acquisitions of others between two of one thread, when they were not its own: the median.
    PASSED_P50 = "passed_over_p50", "ops", Lower;
    /// Acquisitions of others between two of one thread: the 99th percentile.
    PASSED_P99 = "passed_over_p99", "ops", Lower;
    /// Acquisitions of others between two of one thread: the most in a round.
    PASSED_MAX = "passed_over_max", "ops", Lower;
}

/// One round: a value for each quantity, and the single times if the workload takes them.
#[derive(Debug, Default)]
pub struct Sample {
    /// The values, in the workload's order.
    pub values: Vec<(Quantity, f64)>,
    /// The single times, in nanoseconds.
    pub times: Option<Histogram<u64>>,
    /// A counted run that took too long and was stopped before its end.
    pub cut: bool,
}

impl Sample {
    /// The quantities that every workload reports, of a team's work.
    pub fn of_outcome<T>(outcome: &Outcome<T>) -> Self {
        Self::of_members(outcome, |_| true)
    }

    /// The same where only the work of some threads counts, those of one role. What the kernel
    /// charged is still that of all.
    pub fn of_members<T>(outcome: &Outcome<T>, counts: impl Fn(usize) -> bool) -> Self {
        let of_role = |pairs: &[u64]| -> Vec<u64> {
            pairs.iter().enumerate().filter(|&(index, _)| counts(index)).map(|(_, &n)| n).collect()
        };
        let pairs = of_role(&outcome.pairs).iter().sum::<u64>().max(1) as f64;
        let window = of_role(&outcome.window_pairs).iter().sum::<u64>() as f64;
        let contended = of_role(&outcome.contended_pairs);
        let most = contended.iter().copied().max().unwrap_or(0);
        let least = contended.iter().copied().min().unwrap_or(0);
        let share = if most == 0 { 0.0 } else { least as f64 / most as f64 };
        let mut sample = Self {
            values: vec![
                (THROUGHPUT, window / outcome.window.as_secs_f64()),
                (CPU_PER_OP, outcome.usage.cpu.as_nanos() as f64 / pairs),
                (VOLUNTARY, outcome.usage.voluntary as f64 / pairs),
                (INVOLUNTARY, outcome.usage.involuntary as f64 / pairs),
            ],
            times: None,
            cut: false,
        };
        if outcome.window >= share_needs(outcome.pairs.len()) {
            sample.values.push((SHARE, share));
        }
        sample
    }

    /// The same of one thread that timed its pairs alone.
    pub fn of_pairs(pairs: &Pairs) -> Self {
        let count = pairs.pairs.max(1) as f64;
        Self {
            values: vec![
                (PAIR, pairs.median_nanos),
                (THROUGHPUT, count / pairs.elapsed.as_secs_f64().max(1e-9)),
                (CPU_PER_OP, pairs.usage.cpu.as_nanos() as f64 / count),
                (VOLUNTARY, pairs.usage.voluntary as f64 / count),
                (INVOLUNTARY, pairs.usage.involuntary as f64 / count),
                (SHARE, 1.0),
            ],
            times: None,
            cut: false,
        }
    }

    /// The value of a quantity, if the sample has it.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.values.iter().find(|(other, _)| *other == quantity).map(|&(_, value)| value)
    }
}

/// How long `threads` threads must be watched before their shares say something about the lock
/// rather than about who had a CPU: ten time slices of 3 ms for every thread that shares one.
pub fn share_needs(threads: usize) -> Duration {
    const TEN_SLICES: Duration = Duration::from_millis(30);
    if threads <= Linux::cpus() {
        Duration::ZERO
    } else {
        TEN_SLICES * threads.div_ceil(Linux::cpus()) as u32
    }
}

/// An empty histogram of nanoseconds, from 1 ns to the longest that can be told apart, exact to
/// three significant digits.
///
/// # Panics
///
/// Never: the bounds are constants that the library accepts.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1_000_000_000_000, 3).expect("the bounds are valid")
}
