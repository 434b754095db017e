//! What one round of a workload yields.

use std::ops::Range;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::results::{Better, Unit};
use crate::team::Outcome;
use crate::usage::Usage;

/// A quantity that workloads report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Its name in every report.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Its title on a page.
    pub title: &'static str,
}

macro_rules! quantities {
    ($($ident:ident = $name:literal, $unit:ident, $better:ident, $title:literal;)*) => {
        $(#[doc = $title] pub const $ident: Quantity = Quantity {
            name: $name,
            unit: Unit::$unit,
            better: Better::$better,
            title: $title,
        };)*

        /// The quantities that workloads report.
        pub const QUANTITIES: &[Quantity] = &[$($ident),*];
    };
}

// `docs/glossary.md` defines each.
quantities! {
    PAIR = "pair", Nanoseconds, Lower, "Time for one lock and unlock";
    THROUGHPUT = "throughput", PerSecond, Higher, "Throughput";
    CPU_PER_OP = "cpu_per_op", Nanoseconds, Lower, "CPU time per operation";
    VOLUNTARY = "voluntary_switches", PerOperation, Lower, "Voluntary context switches";
    INVOLUNTARY = "involuntary_switches", PerOperation, Lower, "Involuntary context switches";
    SHARE = "share", Ratio, Higher, "Share, least to greatest";
    RUN = "run", Milliseconds, Lower, "Duration of a run";
    LONGEST = "longest", Milliseconds, Lower, "Longest time";
    HANDOFF = "handoff", Nanoseconds, Lower, "Time for a handoff";
    STREAK_MEAN = "streak_mean", Operations, Neither, "Acquisitions in a row, mean";
    STREAK_P50 = "streak_p50", Operations, Neither, "Acquisitions in a row, median";
    STREAK_P99 = "streak_p99", Operations, Neither, "Acquisitions in a row, 99 % of streaks";
    STREAK_MAX = "streak_max", Operations, Neither, "Acquisitions in a row, longest streak";
    PASSED_P50 = "passed_p50", Operations, Lower, "Acquisitions that passed over a waiter, median";
    PASSED_P99 = "passed_p99", Operations, Lower,
        "Acquisitions that passed over a waiter, 99 % of waiters";
    PASSED_MAX = "passed_max", Operations, Lower, "Acquisitions that passed over a waiter, most";
    LONGEST_GAP = "longest_gap", Milliseconds, Lower, "Longest time without the lock";
    OPERATION_GAP = "operation_gap", Milliseconds, Lower,
        "Longest time between two operations of a thread";
    STARVED_WINDOWS = "starved_windows", Ratio, Lower, "Windows of 50 ms without the lock";
    SERVER_LOOPS = "server_loops", PerSecond, Neither, "Loops of the server";
    WAITS = "waits", PerOperation, Lower, "Waits at a condition variable";
    RUNNING = "running", Threads, Neither, "CPUs that the lock's threads kept busy, on average";
    OP = "op", Nanoseconds, Lower, "Time for one operation";
    RUNNABLE = "runnable", Threads, Neither, "Threads that want a CPU, on average";
    SLOWDOWN = "slowdown", Ratio, Lower, "Slowdown of the bystander";
    FRESH = "fresh", PerSecond, Higher, "Throughput before all threads slept";
    RECOVERED = "recovered", Ratio, Higher, "Throughput after all threads slept, by that before";
    INVERTED = "inverted", Ratio, Lower, "Trials in which the hog ran between";
    WAIT_MEAN = "wait_mean", Nanoseconds, Lower, "Wait of the others, mean";
    WAIT_P50 = "wait_p50", Nanoseconds, Lower, "Wait of the lone thread, median";
    WAIT_P99 = "wait_p99", Nanoseconds, Lower, "Wait of the lone thread, 99 % of waits";
    BURSTS = "bursts", PerOperation, Lower, "Pieces of the hog in between";
    RESCUED = "rescued", Ratio, Lower, "Trials ended from outside";
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
    /// The length of the round by the clock of the machine.
    pub span: Duration,
}

/// The result of timing pairs on one thread.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Pairs {
    /// The median over batches of 1,000 pairs, in nanoseconds for one pair. An interrupted batch
    /// does not move it.
    pub median_nanos: f64,
    /// How many pairs there were.
    pub pairs: u64,
    /// How long they took together.
    pub elapsed: Duration,
    /// What the kernel charged for them.
    pub usage: Usage,
}

impl Sample {
    /// The quantities that every workload reports, computed from a team's outcome.
    pub fn of_outcome<T>(outcome: &Outcome<T>) -> Self {
        let all = 0..outcome.pairs.len();
        Self::of_roles(outcome, all.clone(), &[all])
    }

    /// The same where threads have roles: operations are those of the members in `counted`, and the
    /// share is the lowest within any of the `roles`; without roles there is no share.
    pub fn of_roles<T>(
        outcome: &Outcome<T>,
        counted: Range<usize>,
        roles: &[Range<usize>],
    ) -> Self {
        let pairs = outcome.pairs[counted.clone()].iter().sum::<u64>().max(1) as f64;
        let window = outcome.window_pairs[counted].iter().sum::<u64>() as f64;
        let mut sample = Self {
            values: vec![(THROUGHPUT, window / outcome.window.as_secs_f64())],
            times: None,
            cut: false,
            span: outcome.span,
        };
        sample.values.extend(charged(outcome.usage, pairs));
        let shares = roles
            .iter()
            .map(|role| share(outcome.contended_pairs.get(role.clone()).unwrap_or_default()));
        if let Some(lowest) = shares.reduce(f64::min)
            && outcome.window >= share_needs(outcome.pairs.len(), outcome.cpus)
        {
            sample.values.push((SHARE, lowest));
        }
        let threads = outcome.pairs.len() as f64;
        if let Some(part) = outcome.usage.runnable() {
            sample.values.push((RUNNABLE, part * threads));
        }
        sample.values.extend(busy(outcome.usage, outcome.span));
        sample
    }

    /// The same for one thread that timed its pairs alone.
    pub fn of_pairs(pairs: &Pairs) -> Self {
        let count = pairs.pairs.max(1) as f64;
        let mut values = vec![
            (PAIR, pairs.median_nanos),
            (THROUGHPUT, count / pairs.elapsed.as_secs_f64().max(1e-9)),
        ];
        values.extend(charged(pairs.usage, count));
        values.push((SHARE, 1.0));
        values.extend(busy(pairs.usage, pairs.elapsed));
        Self { values, times: None, cut: false, span: pairs.elapsed }
    }

    /// The value of a quantity, if the sample has it.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.values.iter().find(|(other, _)| *other == quantity).map(|&(_, value)| value)
    }
}

/// The charge for each pair, where the kernel reports it.
fn charged(usage: Usage, pairs: f64) -> impl Iterator<Item = (Quantity, f64)> {
    let Usage { cpu, voluntary, involuntary, .. } = usage;
    let cpu = cpu.map(|cpu| (CPU_PER_OP, cpu.as_nanos() as f64));
    let voluntary = voluntary.map(|switches| (VOLUNTARY, switches as f64));
    let involuntary = involuntary.map(|switches| (INVOLUNTARY, switches as f64));
    let told = [cpu, voluntary, involuntary].into_iter().flatten();
    told.map(move |(quantity, of_all)| (quantity, of_all / pairs))
}

/// How many CPUs were busy on average, where the kernel reports it.
fn busy(usage: Usage, span: Duration) -> Option<(Quantity, f64)> {
    let cpu = usage.cpu?;
    Some((RUNNING, cpu.as_secs_f64() / span.as_secs_f64().max(1e-9)))
}

fn share(pairs: &[u64]) -> f64 {
    let most = pairs.iter().copied().max().unwrap_or(0);
    let least = pairs.iter().copied().min().unwrap_or(0);
    if most == 0 { 0.0 } else { least as f64 / most as f64 }
}

/// How long `threads` threads must be watched on `cpus` CPUs before their shares characterize the
/// lock rather than the scheduler: ten time slices of 3 ms for every thread that shares a CPU.
pub fn share_needs(threads: usize, cpus: usize) -> Duration {
    const TEN_SLICES: Duration = Duration::from_millis(30);
    if threads <= cpus { Duration::ZERO } else { TEN_SLICES * threads.div_ceil(cpus) as u32 }
}

/// An empty histogram of nanoseconds, from 1 ns to the longest that can be distinguished, exact to
/// three significant digits.
///
/// # Panics
///
/// Never: the bounds are constants that the library accepts.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1_000_000_000_000, 3).expect("the bounds are valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(usage: Usage) -> Sample {
        let elapsed = Duration::from_millis(1);
        Sample::of_pairs(&Pairs { median_nanos: 5.0, pairs: 100, elapsed, usage })
    }

    #[test]
    fn rates_are_of_the_window_and_charges_of_the_whole_round() {
        let outcome = Outcome {
            window: Duration::from_millis(100),
            window_pairs: vec![1_000, 3_000],
            contended_pairs: vec![900, 1_800],
            pairs: vec![2_000, 6_000],
            usage: Usage { cpu: Some(Duration::from_millis(400)), ..Usage::default() },
            span: Duration::from_millis(200),
            cpus: 2,
            results: vec![(); 2],
        };
        let of = |sample: Sample| {
            [THROUGHPUT, SHARE, CPU_PER_OP, RUNNING].map(|quantity| sample.value(quantity))
        };
        let all = Sample::of_outcome(&outcome);
        assert_eq!(all.span, outcome.span);
        assert_eq!(of(all), [Some(40_000.0), Some(0.5), Some(50_000.0), Some(2.0)]);
        let one = Sample::of_roles(&outcome, 1..2, &[0..1, 1..2]);
        assert_eq!(of(one)[..2], [Some(30_000.0), Some(1.0)]);
        // Two threads on one CPU need time slices.
        let alone = Outcome { window: Duration::from_millis(59), cpus: 1, ..outcome };
        assert_eq!(Sample::of_outcome(&alone).value(SHARE), None);
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_absent_and_not_zero() {
        let charged = [CPU_PER_OP, VOLUNTARY, INVOLUNTARY, RUNNING];
        let untold = of(Usage::default());
        assert!(charged.iter().all(|quantity| untold.value(*quantity).is_none()), "{untold:?}");
        assert_eq!(untold.value(PAIR), Some(5.0));

        let told = of(Usage {
            cpu: Some(Duration::from_micros(500)),
            voluntary: Some(0),
            involuntary: Some(7),
            ..Usage::default()
        });
        let values = charged.map(|quantity| told.value(quantity));
        assert_eq!(values, [Some(5_000.0), Some(0.0), Some(0.07), Some(0.5)]);
    }
}
