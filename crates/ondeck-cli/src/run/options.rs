//! What `ondeck run` is told.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::profile::Wanted;
use crate::files::Outputs;
use crate::values::round_count;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ondeck run -- ./server --threads 8
  ondeck run --profile report.html -- ./server --threads 8
  ondeck run --profile stacks.folded --profile p.pb.gz -- make test
  ondeck run --record app.ondeck.json -- ./app     and then ondeck sim --replay app.ondeck.json
  ondeck run --compare --runs 20 -- ./benchmark
  ondeck run --compare --locks ondeck,go_spinbit --json r.json -- ./benchmark

The program keeps its streams, its exit code and its signals. Only if the program was not started, the
exit code is the command's: 2 for a wrong command line, 125 if the command lacks something, 126 if the
program cannot be served or executed, 127 if there is none.
With --compare: 0 done; 1 a run failed or was interrupted.

`ondeck attach` shows the contention of a program that runs already.")]
pub(crate) struct Options {
    /// The lock behind pthread_mutex_t: `ondeck`, another one that fits into its bytes, or `glibc`
    /// for none of them
    #[arg(long, value_name = "NAME", conflicts_with = "compare")]
    pub(crate) lock: Option<String>,

    #[command(flatten)]
    pub(crate) wanted: Wanted,

    /// Record what threads do with locks, contended or not, for `ondeck sim --replay FILE`: what
    /// the program would do with more CPUs, another lock or shorter sections
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "lock"])]
    pub(crate) record: Option<PathBuf>,

    /// Run the program with glibc's locks and with the shim's, in turn, and compare times and
    /// context switches
    #[arg(long)]
    pub(crate) compare: bool,

    /// With --compare: the locks to compare with glibc's, separated by commas
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "ondeck",
        requires = "compare"
    )]
    pub(crate) locks: Vec<String>,

    /// With --compare: runs with each lock, after one that is thrown away
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "10",
        requires = "compare",
        value_parser = round_count
    )]
    pub(crate) runs: usize,

    /// With --compare: let the program write to the terminal instead of to /dev/null
    #[arg(long, requires = "compare")]
    pub(crate) show_output: bool,

    #[command(flatten)]
    pub(crate) outputs: Outputs,

    /// The program and its arguments
    #[arg(
        required = true,
        value_name = "PROGRAM",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) program: Vec<OsString>,
}
