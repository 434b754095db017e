//! The options of `ondeck bench`.

use std::time::Duration;

use clap::Args;
use ondeck_lab::environment::{Pinning, Policy, Quota};

use crate::choice::Choice;
use crate::files::Outputs;
use crate::values::{MOST_THREADS, in_range, round_count, round_length, seed, stall_limit};

#[derive(Debug, Args)]
#[command(
    next_help_heading = "How to measure",
    after_help = "\
Examples:
  ondeck bench                            the usual locks, one minute
  ondeck bench --locks std,usync,ondeck   the same for other locks
  ondeck bench --all --html report.html   every workload, and locks of papers
  ondeck bench --quick
  ondeck bench --locks 'glibc*,std' --workloads throughput --threads 1,2,4,8
  ondeck bench --workloads throughput --work 100,500 --threads 8
  ondeck bench --workloads throughput --data 0,8 --threads 2,4
  ondeck bench -w producer_consumer -t 2,4,16 --capacity 1,8 --notify after
  ondeck bench --workloads wait --rounds 100 --json wait.json
  ondeck bench --full --json full.json --csv full.csv --html full.html
  ondeck bench --policy rr --workloads idle --locks sources
  ondeck bench --slice 0.1ms --pin one --workloads throughput --threads 8
  ondeck bench --quota 1.0 --workloads real --threads 8

The usual locks are std, parking_lot, glibc, spin and ondeck. After Ctrl-C the
round under way is the last; what was measured is kept and marked partial."
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Options {
    #[command(flatten, next_help_heading = "What to measure")]
    pub(crate) choice: Choice,

    /// Length of a round, as `100ms` or `2s`; for wait and idle, how long runs are repeated in a
    /// lock's turn
    #[arg(short, long, value_name = "TIME", value_parser = round_length)]
    pub(crate) duration: Option<Duration>,

    /// Rounds of each lock in each situation; runs of wait and idle
    #[arg(short, long, value_name = "COUNT", value_parser = round_count)]
    pub(crate) rounds: Option<usize>,

    /// Where threads run: `none` (the scheduler decides), `each` (one CPU a thread, in turn), `one`
    /// (all on one CPU), or a list of CPUs as `0,2` or `0-3,6`
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) pin: Pinning,

    /// Scheduling policy of the threads: `other`, `batch`, `fifo`, `rr`
    #[arg(long, value_name = "POLICY", default_value = "other")]
    pub(crate) policy: Policy,

    /// Time slice of threads under the policies other and batch, as `3ms`, 0.1ms to 100ms, or
    /// `default`
    #[arg(hide_short_help = true, long, value_name = "TIME", default_value = "default", value_parser = slice)]
    pub(crate) slice: Slice,

    /// CPUs that threads may use together, as `1.0`, or `none`: a control group limits them, as in a
    /// container. A round takes 300ms or more
    #[arg(long, value_name = "CPUS", default_value = "none", allow_hyphen_values = true, value_parser = quota)]
    pub(crate) quota: Limit,

    /// Busy threads that run beside all measurements and never use a lock
    #[arg(long, value_name = "COUNT", default_value = "0", value_parser = background)]
    pub(crate) background: usize,

    /// Measure every workload, also with the locks of papers; four minutes on 2 CPUs. An option
    /// that names workloads or situations implies this. By default, bench compares the usual locks
    /// for a minute
    #[arg(help_heading = "What to measure", short, long)]
    pub(crate) all: bool,

    /// Measure every workload for less than 30 seconds, to check that everything works
    #[arg(help_heading = "What to measure", short, long, conflicts_with = "full")]
    pub(crate) quick: bool,

    /// Measure as the sources did: every lock, 100 runs of wait and 1,000 of idle; takes hours
    #[arg(help_heading = "What to measure", hide_short_help = true, long)]
    pub(crate) full: bool,

    /// Report a lock as stuck if none of its threads makes progress for so long
    #[arg(hide_short_help = true, long, value_name = "TIME", default_value = "10s", value_parser = stall_limit)]
    pub(crate) stall_limit: Duration,

    /// Seed of the order in which locks take turns
    #[arg(hide_short_help = true, long, value_name = "NUMBER", default_value = "1", value_parser = seed)]
    pub(crate) seed: u64,

    #[command(flatten, next_help_heading = "Output")]
    pub(crate) outputs: Outputs,
}

/// A time slice, or the kernel's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice(pub(crate) Option<Duration>);

/// A quota of CPU time, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit(pub(crate) Option<Quota>);

fn quota(word: &str) -> Result<Limit, String> {
    if word.trim() == "none" { Ok(Limit(None)) } else { word.parse().map(Some).map(Limit) }
}

fn slice(word: &str) -> Result<Slice, String> {
    const LEAST: Duration = Duration::from_micros(100);
    const MOST: Duration = Duration::from_millis(100);
    if word.trim() == "default" {
        return Ok(Slice(None));
    }
    let range = "use 0.1ms to 100ms, or `default`";
    let slice = fraction(word.trim()).ok_or_else(|| format!("not a time; {range}"))?;
    let fits = (LEAST..=MOST).contains(&slice);
    if fits { Ok(Slice(Some(slice))) } else { Err(range.to_owned()) }
}

/// Parses a number, possibly with a decimal point, and its unit.
fn fraction(word: &str) -> Option<Duration> {
    let unit = word.find(|letter: char| letter.is_alphabetic())?;
    let (number, unit) = word.split_at(unit);
    let nanos = match unit {
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let number = number.trim().parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number))?;
    Some(Duration::from_nanos((number * nanos).round() as u64))
}

fn background(word: &str) -> Result<usize, String> {
    in_range(word, 0, MOST_THREADS, "threads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_may_be_a_fraction() {
        assert_eq!(slice("0.1ms"), Ok(Slice(Some(Duration::from_micros(100)))));
    }
}
