//! Starts the command and reads its output.

use std::path::Path;
use std::process::{Command, Output};

use ondeck::platform::Linux;

pub(crate) fn ondeck(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ondeck"));
    command.args(arguments);
    command
}

pub(crate) fn outcome(command: &mut Command) -> Output {
    command.output().expect("the command starts")
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    outcome(&mut ondeck(arguments))
}

/// Returns the output of a command that must have ended with this exit code.
#[track_caller]
pub(crate) fn ended(code: i32, output: Output) -> Output {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    output
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// A bench of two locks that takes about a second.
pub(crate) const SMALL: [&str; 4] = ["bench", "--quick", "--locks", "std,spinlock"];

/// The least measurement of a bench.
pub(crate) const LEAST: [&str; 6] =
    ["bench", "--quick", "--locks", "std", "--workloads", "uncontended"];

pub(crate) fn small(more: &[&str]) -> Output {
    run(&[&SMALL, more].concat())
}

/// The exit code of a run that includes the costs: some of them need two CPUs.
pub(crate) fn with_costs() -> i32 {
    i32::from(Linux::affinity().len() == 1)
}

pub(crate) fn parsed(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("the file exists")).expect("JSON")
}
