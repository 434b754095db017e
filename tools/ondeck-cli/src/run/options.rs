//! The options of `ondeck run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use regex_lite::Regex;

use super::deadlocks::Deadlocks;
use super::profile::Wanted;
use crate::files::Outputs;
use crate::values::{MOST_ROUNDS, in_range};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ondeck run -- ./server --threads 8
  ondeck run --profile report.html -- ./server --threads 8
  ondeck run --lock ondeck --profile r.html -- ./server
                       the same with this project's locks
  ondeck run --profile p.pb.gz --profile p.html -- make test
  ondeck run --record app.ondeck.json -- ./app
                       and then ondeck sim --replay app.ondeck.json
  ondeck run --deadlocks -- ./test
  ondeck run --compare --runs 20 -- ./benchmark
  ondeck run --compare --json r.json -- ./benchmark
  ondeck run --compare --metric 'rate: ([0-9.]+)' -- ./server --seconds 5

The program keeps its streams, its exit code and its signals. Only if the
program was not started, the exit code is the command's: 2 for a wrong command
line, 125 if the command lacks something, 126 if the program cannot be served or
executed, 127 if there is none.
With --deadlocks: 3 if there was a report.
With --compare: 0 done; 1 a run failed or was interrupted.

`ondeck attach` shows which locks a program waits for that `ondeck run` started
without --profile.")]
pub(crate) struct Options {
    /// The program and its arguments
    #[arg(
        required = true,
        value_name = "PROGRAM",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) program: Vec<OsString>,

    /// The locks that the program gets: this project's, by a library that is preloaded (the shim),
    /// or its own. Without --profile, `ondeck` is the default; with it, the program keeps its own,
    /// and is observed
    #[arg(long, value_enum, conflicts_with = "compare")]
    pub(crate) lock: Option<Lock>,

    #[command(flatten, next_help_heading = "Recording")]
    pub(crate) wanted: Wanted,

    /// Do not have the kernel notify of the waits of a program that no library can be loaded into,
    /// such as a static one or one in Go: its sleeps are only sampled
    #[arg(help_heading = "Recording", long, requires = "profile")]
    pub(crate) no_seccomp: bool,

    /// Record what threads do with locks, contended or not, for `ondeck sim --replay FILE`: what
    /// the program would do with more CPUs, another lock or shorter sections. For the locks of C
    /// and C++, and for ondeck's in Rust programs that were built with its feature `profile`
    #[arg(help_heading = "Recording", long, value_name = "FILE", conflicts_with_all = ["compare", "lock"])]
    pub(crate) record: Option<PathBuf>,

    /// Report deadlocks of the program's own pthread locks, which end the process unless `report`
    /// is given, and orders of locks that may become one
    #[arg(
        help_heading = "Checking",
        long,
        value_enum,
        value_name = "THEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "abort",
        conflicts_with_all = ["compare", "lock", "record", "profile"]
    )]
    pub(crate) deadlocks: Option<Deadlocks>,

    /// Run the program with glibc's locks and with the shim's, in turn, and compare times and
    /// context switches
    #[arg(help_heading = "Comparing", long)]
    pub(crate) compare: bool,

    /// With --compare: runs with each, after one that is thrown away
    #[arg(
        help_heading = "Comparing",
        long,
        value_name = "COUNT",
        default_value = "10",
        requires = "compare",
        value_parser = |word: &str| in_range(word, 1, MOST_ROUNDS, "runs")
    )]
    pub(crate) runs: usize,

    /// With --compare: also compare a number that the program prints, of which more is better, as
    /// 'rate: ([0-9.]+)'. The last match counts, by its first group or as a whole. For programs
    /// that run for a fixed time
    #[arg(
        help_heading = "Comparing",
        long,
        value_name = "REGEX",
        requires = "compare",
        conflicts_with = "show_output",
        value_parser = Regex::new
    )]
    pub(crate) metric: Option<Regex>,

    /// With --compare: let the program write to the terminal instead of to /dev/null
    #[arg(help_heading = "Comparing", long, requires = "compare")]
    pub(crate) show_output: bool,

    #[command(flatten, next_help_heading = "Comparing")]
    pub(crate) outputs: Outputs,
}

/// The locks that a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lock {
    /// This project's, in the place of pthread's
    Ondeck,
    /// The program's own
    Glibc,
}

impl Lock {
    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ondeck => "ondeck",
            Self::Glibc => "glibc",
        }
    }
}
