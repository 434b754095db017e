//! `ondeck who`.

use std::path::PathBuf;

use clap::Args;
use ondeck_profile::who::{json, look, text};

use crate::attach::number;
use crate::ending::{Ending, Error};
use crate::output;
use crate::run::profile::check_folders;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ondeck who 4711
  ondeck who $(pgrep -x server) --json | jq .deadlocks

Any program of yours, started in any way; it is not stopped. Each thread is
shown with the lock that it waits for and the thread that keeps it, as far as
the lock notes that: pthread mutexes and written rwlocks do. Goroutines that
wait for a lock are shown, too.

Exit codes: 0 done; 2 wrong usage, no such process, or the kernel does not show
it; 3 threads wait for each other in a circle.")]
pub(crate) struct Options {
    /// The number of the process
    #[arg(value_name = "PID", value_parser = number, allow_negative_numbers = true)]
    pid: u32,

    /// Print a JSON document instead
    #[arg(long)]
    json: bool,

    /// Also look here for the program's files and their debugging files, by build-id; may be given
    /// several times
    #[arg(long, value_name = "FOLDER")]
    symbols: Vec<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    check_folders(&options.symbols)?;
    let who = look(options.pid, options.symbols.clone()).map_err(Error::usage)?;
    output::print(&if options.json { json::render(&who) } else { text::render(&who) })?;
    Ok(if who.deadlocks.is_empty() { Ending::Whole } else { Ending::Deadlocked })
}
