//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};
use ondeck_lab::environment::{Pinning, Policy};
use ondeck_lab::plan::shard::Shard;
use ondeck_lab::workload::Notify;

use crate::{advise, compare, merge, trace};

/// The hidden first argument of the process that measures with one thread only.
pub(crate) const ALONE: &str = "__alone";

/// More threads than this are a typing mistake: the largest machines have some thousand CPUs, and
/// the kernel's default limit for a process is of that order.
const MOST_THREADS: usize = 4_096;

const MOST_ROUNDS: usize = 100_000;
const SHORTEST_ROUND: Duration = Duration::from_millis(1);
const LONGEST_ROUND: Duration = Duration::from_hours(1);

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default());

/// Measure every known mutual-exclusion lock on this machine: which lock to use, and why.
#[derive(Debug, Parser)]
#[command(name = "ondeck", version, styles = STYLES, max_term_width = 100, after_help = "\
Examples:
  ondeck bench                          measure the suite, four minutes on 2 cores
  ondeck bench --quick --locks std,parking_lot,glibc
  ondeck list                           every lock and workload
  ondeck costs                          what PAUSE, futex, fences and clocks cost here

Exit codes: 0 done; 1 something could not be measured or written, the rest was; 2 wrong usage.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure locks against each other and write reports
    Bench(Box<BenchOptions>),
    /// List locks, workloads and groups
    List(ListOptions),
    /// Measure what the operations that locks are made of cost on this machine
    Costs(CostsOptions),
    /// Compare reports, or the locks within one: ratios, intervals, p-values
    Compare(Box<compare::Options>),
    /// Which lock for a situation, and why: measured in it, and by what is known
    Advise(Box<advise::Options>),
    /// Put reports together: shards of a campaign, or repeated runs
    Merge(merge::Options),
    /// Show what the scheduler did while a lock was idle or threads waited for it
    Trace(Box<trace::Options>),
    /// Print a shell's completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each command
    Man {
        /// Write `ondeck.1`, `ondeck-bench.1`, ... into this folder instead of printing
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Print the JSON Schema of the reports that `--json` writes
    Schema,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ondeck bench
  ondeck bench --quick
  ondeck bench --locks 'glibc*,std' --workloads throughput --threads 1,2,4,8
  ondeck bench --workloads throughput --work 100,500 --threads 8
  ondeck bench --workloads producer_consumer --threads 2,4,16 --capacity 1,8,128 --notify inside,after
  ondeck bench --workloads wait --rounds 100 --json wait.json
  ondeck bench --full --json full.json --csv full.csv --html full.html
  ondeck bench --policy other,rr --workloads idle --locks sources
  ondeck bench --slice 0.1ms,3ms --pin none,one --workloads throughput --threads 8

Ctrl-C ends after the round under way and keeps what was measured, marked partial.")]
pub(crate) struct BenchOptions {
    /// Locks to measure: names, patterns with `*` and `?`, or groups, separated by commas
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) locks: Option<Vec<String>>,

    /// Workloads to run: names or patterns, `costs` among them, separated by commas
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) workloads: Option<Vec<String>>,

    /// Numbers of threads, separated by commas; in all roles together where threads have roles
    #[arg(short, long, value_name = "COUNTS", value_delimiter = ',', value_parser = thread_count)]
    pub(crate) threads: Option<Vec<usize>>,

    /// Length of a round, as `100ms` or `2s`; for wait and idle, how long runs are repeated in a
    /// lock's turn
    #[arg(short, long, value_name = "TIME", value_parser = round_length)]
    pub(crate) duration: Option<Duration>,

    /// Rounds of each lock in each situation; runs of wait and idle
    #[arg(short, long, value_name = "COUNT", value_parser = round_count)]
    pub(crate) rounds: Option<usize>,

    /// Work inside the critical section and outside of it, in nanoseconds, for throughput,
    /// oversubscribed, capture, starve, bystander, background and many_locks
    #[arg(long, value_name = "SECTION,OUTSIDE", value_parser = work)]
    pub(crate) work: Option<(u64, u64)>,

    /// Capacities of the queue of producer_consumer and recovery, separated by commas
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = capacity)]
    pub(crate) capacity: Option<Vec<usize>>,

    /// When threads of condvar, producer_consumer and recovery notify others: `inside` the critical
    /// section, `after` the unlock, or both
    #[arg(long, value_name = "WHEN", value_delimiter = ',')]
    pub(crate) notify: Option<Vec<Notify>>,

    /// Where threads run: `none` (the scheduler decides), `each` (one CPU a thread, in turn), `one`
    /// (all on one CPU), or a list of CPUs as `0,2` or `0-3,6`
    ///
    /// Several, as `none,one`, are measured against each other, and so are several policies, slices
    /// and nice values; CPUs that follow each other are one list.
    #[arg(long, value_name = "HOW", default_value = "none", value_parser = pinnings)]
    pub(crate) pin: Pinnings,

    /// Scheduling policy of the threads: `other`, `batch`, `fifo`, `rr`, or several
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', default_value = "other")]
    pub(crate) policy: Vec<Policy>,

    /// Time slice of threads under the policies other and batch, as `3ms`, 0.1ms to 100ms, or
    /// `default`, or several
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "default", value_parser = slice)]
    pub(crate) slice: Vec<Slice>,

    /// Nice value of the threads, -20 (the most CPU) to 19 (the least), or `default`, or several
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "default", value_parser = nice, allow_hyphen_values = true)]
    pub(crate) nice: Vec<Nice>,

    /// CPU quota of the whole run in percent of one CPU, as `50%`; needs a control group of version 2
    /// that may be written to
    #[arg(long, value_name = "PERCENT", value_parser = quota)]
    pub(crate) quota: Option<u32>,

    /// Busy threads beside everything that is measured: background load that never wants a lock
    #[arg(long, value_name = "COUNT", default_value = "0", value_parser = background)]
    pub(crate) background: usize,

    /// A run of under 30 seconds, to see that everything works
    #[arg(short, long, conflicts_with = "full")]
    pub(crate) quick: bool,

    /// As the sources measured: every lock, 100 runs of wait and 1,000 of idle; takes hours
    #[arg(long)]
    pub(crate) full: bool,

    /// How long nobody may make progress before a lock is reported as stuck
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = stall_limit)]
    pub(crate) stall_limit: Duration,

    /// Seed of the order in which locks take turns
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Measure one of several parts, as `2/5`, for jobs side by side; `ondeck merge` puts them
    /// together
    #[arg(long, value_name = "WHICH/OF")]
    pub(crate) shard: Option<Shard>,

    /// Show the tables in the terminal as they fill; drawn between rounds, never during one
    #[arg(long)]
    pub(crate) live: bool,

    #[command(flatten)]
    pub(crate) outputs: Outputs,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Locks to list: names, patterns or groups, separated by commas
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    pub(crate) locks: Vec<String>,

    /// Also show each lock's source and what it teaches
    #[arg(long)]
    pub(crate) long: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CostsOptions {
    /// Rounds of each operation
    #[arg(short, long, value_name = "COUNT", default_value = "11", value_parser = round_count)]
    pub(crate) rounds: usize,

    #[command(flatten)]
    pub(crate) outputs: Outputs,
}

/// Where reports go.
#[derive(Debug, Args)]
pub(crate) struct Outputs {
    /// Write the report as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write one row for each workload, lock, number of threads and metric
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Write a page with plots that needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write JSON Lines, one for each sample, as DuckDB reads them
    #[arg(long, value_name = "FILE")]
    pub(crate) jsonl: Option<PathBuf>,

    /// Write a summary in Markdown, short enough for an issue
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}

/// Several pinnings: their commas are also those of lists of CPUs, so they are taken apart here.
#[derive(Clone, Debug)]
pub(crate) struct Pinnings(pub(crate) Vec<Pinning>);

/// A time slice, or the kernel's own.
pub(crate) type Slice = Setting<Duration>;

/// A nice value, or the process's own.
pub(crate) type Nice = Setting<i32>;

/// Something that can be left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting<T>(pub(crate) Option<T>);

fn pinnings(words: &str) -> Result<Pinnings, String> {
    Pinning::several(words).map(Pinnings)
}

fn slice(word: &str) -> Result<Slice, String> {
    const LEAST: Duration = Duration::from_micros(100);
    const MOST: Duration = Duration::from_millis(100);
    if word.trim() == "default" {
        return Ok(Setting(None));
    }
    let range = "use 0.1ms to 100ms, or `default`";
    let slice = fraction(word.trim()).ok_or_else(|| format!("not a time; {range}"))?;
    let fits = (LEAST..=MOST).contains(&slice);
    if fits { Ok(Setting(Some(slice))) } else { Err(range.to_owned()) }
}

/// A number that may have a point, with its unit.
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

fn nice(word: &str) -> Result<Nice, String> {
    if word.trim() == "default" {
        return Ok(Setting(None));
    }
    match word.trim().parse() {
        Ok(nice) if (-20..=19).contains(&nice) => Ok(Setting(Some(nice))),
        _ => Err("use -20 to 19, or `default`".to_owned()),
    }
}

fn quota(word: &str) -> Result<u32, String> {
    /// As many CPUs as the largest machines have.
    const MOST: u32 = 100 * 8_192;
    let range = format!("use 1% to {MOST}%, of one CPU");
    match word.trim().strip_suffix('%').map(|number| number.trim().parse()) {
        Some(Ok(percent)) if (1..=MOST).contains(&percent) => Ok(percent),
        Some(_) => Err(range),
        None => Err(format!("no percent sign; {range}")),
    }
}

pub(crate) fn thread_count(word: &str) -> Result<usize, String> {
    in_range(word, 1, MOST_THREADS, "threads")
}

/// A queue of more items than this is not bounded any more.
fn capacity(word: &str) -> Result<usize, String> {
    in_range(word, 1, 1_000_000, "items")
}

fn background(word: &str) -> Result<usize, String> {
    in_range(word, 0, MOST_THREADS, "threads")
}

pub(crate) fn round_count(word: &str) -> Result<usize, String> {
    in_range(word, 1, MOST_ROUNDS, "rounds")
}

pub(crate) fn in_range(word: &str, least: usize, most: usize, what: &str) -> Result<usize, String> {
    match word.trim().parse::<usize>() {
        Ok(count) if (least..=most).contains(&count) => Ok(count),
        Ok(_) => Err(format!("use {least} to {most} {what}")),
        Err(_) => Err(format!("not a whole number; use {least} to {most} {what}")),
    }
}

pub(crate) fn round_length(word: &str) -> Result<Duration, String> {
    time(word, SHORTEST_ROUND, LONGEST_ROUND)
}

pub(crate) fn stall_limit(word: &str) -> Result<Duration, String> {
    time(word, Duration::from_millis(100), LONGEST_ROUND)
}

pub(crate) fn time(word: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let shown = |time| humantime::format_duration(time);
    match humantime::parse_duration(word) {
        Ok(time) if (least..=most).contains(&time) => Ok(time),
        Ok(_) => Err(format!("use {} to {}", shown(least), shown(most))),
        Err(_) => Err("not a time; write a number with its unit, as `100ms` or `2s`".to_owned()),
    }
}

pub(crate) fn work(word: &str) -> Result<(u64, u64), String> {
    /// A section of a second is not a critical section any more.
    const MOST_NANOS: u64 = 1_000_000_000;
    let nanos = |part: &str| part.trim().parse::<u64>().ok().filter(|&nanos| nanos <= MOST_NANOS);
    match word.split_once(',').map(|(section, outside)| (nanos(section), nanos(outside))) {
        Some((Some(section), Some(outside))) => Ok((section, outside)),
        _ => {
            Err("write two whole numbers of nanoseconds up to 1000000000, as `100,500`".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn absurd_values_are_refused_with_the_range() {
        assert!(thread_count("0").is_err_and(|error| error.contains("1 to 4096")));
        assert!(thread_count("-3").is_err());
        assert!(thread_count("99999999999999999999").is_err());
        assert!(round_length("0s").is_err_and(|error| error.contains("1ms")));
        assert!(round_length("10").is_err_and(|error| error.contains("unit")));
        assert!(work("100").is_err());
        assert_eq!(work("100, 500"), Ok((100, 500)));
        assert!(slice("0.05ms").is_err_and(|error| error.contains("0.1ms to 100ms")));
        assert!(slice("3").is_err() && slice("ms").is_err() && slice("NaNms").is_err());
        assert_eq!(slice("0.1ms"), Ok(Setting(Some(Duration::from_micros(100)))));
        assert!(quota("50").is_err_and(|error| error.contains("percent")));
        assert!(quota("0%").is_err() && quota("-5%").is_err());
        assert_eq!(quota("150%"), Ok(150));
        assert!(capacity("0").is_err_and(|error| error.contains("1 to 1000000 items")));
        assert_eq!((capacity("1"), background("0")), (Ok(1), Ok(0)));
        assert!(nice("20").is_err() && nice("-21").is_err());
        assert_eq!(nice("-20"), Ok(Setting(Some(-20))));
    }
}
