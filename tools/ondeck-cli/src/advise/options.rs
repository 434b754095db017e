//! The flags of `ondeck advise`, and their values.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ondeck_advise::{Company, Language, Need, Reads, Users};

use crate::values::{LockNames, cpu_count, in_range, seed, thread_count, time, work};

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(30);

#[derive(Debug, Args)]
#[command(
    next_help_heading = "The situation",
    after_help = "\
Examples:
  ondeck advise                     for the usual situation, which it prints
  ondeck advise --threads 16 --work 100,500 --company some
  ondeck advise --threads 8 --fairness 10ms --condvar --freed
  ondeck advise --threads 8 --reads 90      a lock for readers and writers
  ondeck advise --realtime                  a lock that knows priorities
  ondeck advise --used-by processes         one that several processes share
  ondeck advise --threads 8 --no-measure
  ondeck run --profile run.jsonl -- ./program
  ondeck advise --profile run.jsonl         for the lock that it waits for
  ondeck bench -w throughput -t 8 --work 100,500 -r 10 --json r.json
  ondeck advise --threads 8 --work 100,500 --from r.json

Exit codes: 0 a lock is named; 1 no lock is named, and why is printed; 2 wrong
usage, or a file that cannot be read or written."
)]
pub(crate) struct Options {
    /// How many threads use the lock
    #[arg(short, long, value_name = "COUNT", value_parser = thread_count)]
    pub(super) threads: Option<usize>,

    /// CPUs of the machine that the program runs on, if it is not this one
    #[arg(long, value_name = "COUNT", value_parser = cpu_count)]
    pub(super) cpus: Option<usize>,

    /// Work with the lock held and between an unlock and the next lock, in nanoseconds
    #[arg(long, value_name = "SECTION,OUTSIDE", value_parser = work)]
    pub(super) work: Option<(u64, u64)>,

    /// How many per cent of the sections only read: 0, 50, 90, 99, 99.9 or 100; above 0 the locks
    /// are those for readers and writers
    #[arg(long, value_name = "PERCENT")]
    pub(super) reads: Option<Reads>,

    /// Which threads use it: `threads`; `one` (one thread almost always); `reentrant` (a thread may
    /// lock again what it holds); `processes` (several share the memory)
    #[arg(long, value_name = "HOW")]
    pub(super) used_by: Option<Users>,

    /// How fair the lock has to be: `none`, `some` (no thread is left out for long), `strict`
    /// (order of arrival), or the longest wait, as `10ms`
    #[arg(long, value_name = "NEED")]
    pub(super) fairness: Option<Need>,

    /// Threads have realtime priorities that count
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = yes)]
    pub(super) realtime: Option<bool>,

    /// The most bytes that a lock may have
    #[arg(hide_short_help = true, long, value_name = "COUNT", value_parser = bytes)]
    pub(super) bytes: Option<Limit>,

    /// Other work on the machine: `none`, `some` (for half of the CPUs), `busy` (for all)
    #[arg(long, value_name = "HOW")]
    pub(super) company: Option<Company>,

    /// Threads also wait for conditions
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = yes)]
    pub(super) condvar: Option<bool>,

    /// What the program is written in: `rust`, `c`, `c++`, `none` (it is not compiled again)
    #[arg(long, value_name = "NAME")]
    pub(super) language: Option<Language>,

    /// The lock that the program has now, which it keeps if none is better; `none` if it is new
    #[arg(long, value_name = "LOCK", value_parser = LockNames, hide_possible_values = true)]
    pub(super) now: Option<String>,

    /// The thread that unlocks last may free the lock's memory while another thread's unlock still
    /// returns
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = yes)]
    pub(super) freed: Option<bool>,

    /// Take threads, work, language and the present lock from what
    /// `ondeck run --profile FILE.jsonl` recorded, of the lock that threads waited for longest
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Option<PathBuf>,

    /// Rank the locks of papers and texts too, which no library offers
    #[arg(hide_short_help = true, long)]
    pub(super) specimens: bool,

    /// Take measurements from a report that `ondeck bench --json` wrote; `-` is standard input
    #[arg(help_heading = "How to decide", long, value_name = "REPORT", conflicts_with_all = ["no_measure", "save", "time"])]
    pub(super) from: Option<PathBuf>,

    /// Do not measure: use the rules only
    #[arg(help_heading = "How to decide", long, conflicts_with_all = ["save", "time"])]
    pub(super) no_measure: bool,

    /// About how long measuring may take
    #[arg(help_heading = "How to decide", long, value_name = "TIME", default_value = "15s", value_parser = measuring)]
    pub(super) time: Duration,

    /// Seed of the order in which locks take turns
    #[arg(
        help_heading = "How to decide",
        hide_short_help = true,
        long,
        value_name = "NUMBER",
        default_value = "1",
        value_parser = seed
    )]
    pub(super) seed: u64,

    /// Print the rules, with their sources
    #[arg(help_heading = "How to decide", long)]
    pub(super) rules: bool,

    /// Write the answer as JSON
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Write what was measured as a report, for `--from` and `ondeck compare`
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
}

/// A number of bytes, or `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit(pub(super) Option<usize>);

impl Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, "{bytes}"),
            None => f.write_str("any"),
        }
    }
}

fn bytes(word: &str) -> Result<Limit, String> {
    /// A page: no lock is larger.
    const MOST: usize = 4_096;
    if word.trim() == "any" {
        return Ok(Limit(None));
    }
    in_range(word, 1, MOST, "bytes, or `any`").map(|bytes| Limit(Some(bytes)))
}

fn yes(word: &str) -> Result<bool, String> {
    match word.trim().to_lowercase().as_str() {
        "yes" | "y" | "true" => Ok(true),
        "no" | "n" | "false" => Ok(false),
        _ => Err("use `yes` or `no`".to_owned()),
    }
}

fn measuring(word: &str) -> Result<Duration, String> {
    time(word, SHORTEST, LONGEST)
}
