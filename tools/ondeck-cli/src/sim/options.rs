//! The options of `ondeck sim`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::shorter::Part;
use crate::choice::Choice;
use crate::files::Outputs;
use crate::values::{round_count, seed, simulated_round, simulated_stall_limit};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ondeck sim --quick
  ondeck sim --machine xeon-8488cx2 -w throughput -t 1,16,192 --work 100,500
  ondeck sim --quick --locks mcs,ondeck --data 0,8
  ondeck sim --machine mine.toml --locks ondeck,mcs -w wait --rounds 20
  ondeck run --record app.ondeck.json -- ./app
  ondeck sim --replay app.ondeck.json --html app.html

A machine is a bundled one or a machine file, as `ondeck costs --machine-file`
writes one: docs/machines.md.
What is simulated and what is not: docs/simulator.md.")]
pub(crate) struct Options {
    /// The machine: a bundled one, or the path of a machine file
    #[arg(short, long, value_name = "NAME|FILE", default_value = "epyc-9454p")]
    pub(crate) machine: String,

    #[command(flatten)]
    pub(crate) choice: Choice,

    /// Length of a round in virtual time, as `5ms`; for wait and idle, how long runs are repeated
    /// in a lock's turn
    #[arg(short, long, value_name = "TIME", default_value = "5ms", value_parser = simulated_round)]
    pub(crate) duration: Duration,

    /// Rounds of each lock in each situation, each with a seed of its own; runs of wait and idle
    #[arg(short, long, value_name = "COUNT", default_value = "3", value_parser = round_count)]
    pub(crate) rounds: usize,

    /// Simulate throughput only, of 100 ns sections and 500 ns outside, on 1 to all CPUs
    #[arg(short, long)]
    pub(crate) quick: bool,

    /// Simulate the threads of a program that `ondeck run --record` has recorded, instead of
    /// workloads: throughput by threads and locks, and which lock saturates first
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "workloads", "work", "data", "capacity", "notify", "duration", "quick",
            "stall_limit", "json", "csv",
        ]
    )]
    pub(crate) replay: Option<PathBuf>,

    /// With --replay: the machine on which the program was recorded, if it is not the simulated
    /// one: the recording is replayed on it to see how far it can be predicted
    #[arg(long, value_name = "NAME|FILE", requires = "replay")]
    pub(crate) recorded_on: Option<String>,

    /// With --replay: shorten the sections that begin in this function or line to this part of
    /// their recorded work, as `Cache::get=50%`; may be given several times
    #[arg(long, value_name = "SITE=PERCENT", requires = "replay")]
    pub(crate) shorter: Vec<Part>,

    /// Report a lock as stuck if none of its threads makes progress for so long in virtual time
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = simulated_stall_limit)]
    pub(crate) stall_limit: Duration,

    /// Seed of all random choices: the same seed gives the same numbers
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = seed)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) outputs: Outputs,
}
