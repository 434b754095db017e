//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::ErrorKind;
use clap::{CommandFactory, Error, FromArgMatches, Parser, Subcommand};

use crate::{advise, attach, bench, compare, costs, list, run, sim, trace, who};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default());

/// Measure locks on this machine, and see which lock a program waits for.
#[derive(Debug, Parser)]
#[command(name = "ondeck", version, styles = STYLES, max_term_width = 100, after_help = "\
Examples:
  ondeck bench                which lock is faster here, and where; one minute
  ondeck advise --threads 8   which lock for a situation, and why
  ondeck run --profile report.html -- ./server   which lock it waits for
  ondeck who 4711             which locks a program waits for now, and which thread keeps them
  ondeck list                 every lock and workload
  ondeck costs                what PAUSE, futex, fences and clocks cost here

For packages and scripts: ondeck completions SHELL, ondeck man, ondeck schema.

Exit codes: 0 done; 1 something could not be measured or written, the rest was;
2 wrong usage.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure locks against each other and write reports
    Bench(Box<bench::Options>),
    /// Simulate a machine of up to 512 CPUs, and measure locks against each other on it
    Sim(Box<sim::Options>),
    /// List locks, workloads and groups
    List(list::Options),
    /// Measure what the operations that locks are made of cost on this machine
    Costs(costs::Options),
    /// Compare reports, or the locks within one: ratios, intervals, p-values
    Compare(Box<compare::Options>),
    /// Recommend a lock for a situation, by a measurement and by rules, and say why
    Advise(Box<advise::Options>),
    /// Show what the scheduler did while a lock was idle or threads waited for it
    Trace(Box<trace::Options>),
    /// See what a program waits for at its locks, run it with ondeck's, or compare both
    Run(Box<run::Options>),
    /// Show which locks a running program waits for, if `ondeck run` started it
    Attach(attach::Options),
    /// Show what each thread of a running program waits for now, and which thread keeps it
    Who(who::Options),
    /// Print a shell's completion script
    #[command(hide = true)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each command
    #[command(hide = true)]
    Man {
        /// Write `ondeck.1`, `ondeck-bench.1`, ... into this folder instead of printing
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Print the JSON Schema of the reports that `--json` writes
    #[command(hide = true)]
    Schema,
}

impl Cli {
    /// The command line of this process; ends the process if there is a mistake in it.
    pub(crate) fn of_process() -> Self {
        let words: Vec<OsString> = std::env::args_os().collect();
        Self::read(&words).unwrap_or_else(|error| error.exit())
    }

    /// Reads a command line, so that the error of a wrong word names the word.
    fn read(words: &[OsString]) -> Result<Self, Error> {
        /// Else a value such as `-5ms` is taken for an option.
        const NUMBERS: [&str; 9] = [
            "COUNT",
            "COUNTS",
            "LINES",
            "NUMBER",
            "P",
            "PERCENT",
            "SECTION,OUTSIDE",
            "TIME",
            "TIMES",
        ];
        let mut command = Self::command().mut_subcommands(|command| {
            command.mut_args(|option| {
                let names = option.get_value_names().unwrap_or_default();
                let is_number = names.iter().any(|name| NUMBERS.contains(&name.as_str()));
                if is_number { option.allow_hyphen_values(true) } else { option }
            })
        });
        let read = command.try_get_matches_from_mut(words);
        read.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|error| {
            match words.iter().find(|word| word.to_str().is_none()) {
                Some(word) if error.kind() == ErrorKind::InvalidUtf8 => command.error(
                    ErrorKind::InvalidUtf8,
                    format!(
                        "`{}` is not UTF-8; only names of files may be in another encoding",
                        word.display()
                    ),
                ),
                _ => error,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
