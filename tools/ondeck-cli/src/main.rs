//! The `ondeck` command.
//!
//! ```text
//! command line ─► cli        one file a command: bench, sim, compare, advise, trace, run, ...
//!                  │ options, values: what a user wrote becomes a request, or an error with its fix
//!                  ▼
//!                 the laboratory measures, or reports are read
//!                  │ progress: the display during the run
//!                  ▼
//!                 files      each report is complete or not there; the tables go to the terminal
//!                  ▼
//!                 ending     the exit code
//! ```
//!
//! Exit codes: 0 everything asked for was done; 1 something could not be measured (a stuck lock, a
//! refused setting, an interruption, an output that failed) and the rest was, or a comparison found
//! something worse by more than `--fail-above`; 2 the command line or a file is wrong and nothing
//! was measured; 3 `who` found a deadlock. `run` ends as its program does; what it ends with if the
//! program was not started is in `outcome::Failure`.

mod advise;
mod attach;
mod bench;
mod choice;
mod cli;
mod compare;
mod costs;
mod ending;
mod files;
mod generate;
mod interrupt;
mod list;
mod machine_file;
mod outcome;
mod output;
mod progress;
mod run;
mod session;
mod sim;
mod summary;
mod target;
mod trace;
mod values;
mod who;

use std::process::ExitCode;

use ondeck_lab::alone;

use crate::cli::{Cli, Command};
use crate::ending::Ending;

fn main() -> ExitCode {
    // Comes before anything can create a thread: this process may be the one that must have only
    // one.
    let arguments = session::arguments();
    if arguments.first().is_some_and(|first| first == session::ALONE) {
        let answer = alone::answer(&session::with_baseline(), &arguments[1..]);
        return match answer.and_then(|answer| output::print(&format!("{answer}\n")).ok()) {
            Some(()) => ExitCode::SUCCESS,
            None => ExitCode::from(2),
        };
    }

    let cli = Cli::of_process();
    let ended = match cli.command {
        Command::Bench(options) => bench::run(&options),
        Command::Sim(options) => sim::run(&options),
        Command::List(options) => list::run(&options),
        Command::Costs(options) => costs::run(&options),
        Command::Compare(options) => compare::run(&options),
        Command::Advise(options) => advise::run(&options),
        Command::Trace(options) => trace::run(&options),
        Command::Run(options) => run::run(&options),
        Command::Attach(options) => attach::run(&options),
        Command::Who(options) => who::run(&options),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { folder } => generate::man(folder.as_deref()),
        Command::Schema => generate::schema(),
    };
    match ended {
        Ok(Ending::Whole) => ExitCode::SUCCESS,
        Ok(Ending::Lacking) => ExitCode::from(1),
        Ok(Ending::Deadlocked) => ExitCode::from(3),
        Ok(Ending::AsProgram(status)) => status.pass_on(),
        Err(error) => {
            output::say(format_args!("error: {error}"));
            ExitCode::from(error.code())
        }
    }
}
