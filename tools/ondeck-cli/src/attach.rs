//! `ondeck attach`.

use std::fs;
use std::time::{Duration, Instant};

use clap::Args;

use crate::ending::{Ending, Error};
use crate::interrupt::Interrupt;
use crate::run::{Page, Wanted, profile, recording};
use crate::{output, values};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ondeck run -- ./server &
  ondeck attach $!
  ondeck attach 4711 --for 30s --profile report.html

The program is one that `ondeck run` started without --profile, or one of its
children. Recording goes on until Ctrl-C, or for the time that is given; the
program runs on without it.

Exit codes: 0 done; 1 a report could not be written; 2 wrong usage, or no such
program.")]
pub(crate) struct Options {
    /// The number of the process
    #[arg(value_name = "PID", value_parser = number, allow_negative_numbers = true)]
    pid: u32,

    /// Record for so long, as `30s`, instead of until Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = values::round_length)]
    time: Option<Duration>,

    #[command(flatten)]
    wanted: Wanted,
}

/// The interval of checks for Ctrl-C and the end of the program.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn number(word: &str) -> Result<u32, String> {
    /// Linux's own limit on 64 bits, `PID_MAX_LIMIT`.
    const MOST: usize = 1 << 22;
    values::in_range(word, 1, MOST, "as `ps -e` lists them").map(|number| number as u32)
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let pid = options.pid;
    let page = Page::of(pid).map_err(Error::Usage)?;
    let prepared = options.wanted.prepare()?;
    let folder = recording::folder()
        .map_err(|error| Error::System(format!("cannot make a folder to record into: {error}")))?;
    let interrupt = Interrupt::listen_quietly()?;
    let start = Instant::now();
    page.record_into(folder.path())
        .map_err(|error| Error::System(format!("cannot switch recording on: {error}")))?;
    if options.time.is_none() {
        output::say("recording; Ctrl-C to end");
    }
    while !interrupt.happened()
        && runs(pid)
        && options.time.is_none_or(|time| start.elapsed() < time)
    {
        std::thread::sleep(LOOK);
    }
    page.stop().map_err(|error| Error::System(format!("cannot switch recording off: {error}")))?;
    if !recording::has_begun(folder.path()) {
        output::print(profile::NOTHING)?;
        return Ok(Ending::Whole);
    }
    let found = options.wanted.read(folder.path())?;
    let whole = options.wanted.write(prepared, &found);
    recording::give_back(folder.path());
    output::print(&profile::text(&found, output::colours()))?;
    Ok(if whole { Ending::Whole } else { Ending::Lacking })
}

/// Whether a process exists and has not ended: a process that has ended uses no memory.
fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/statm")).is_ok_and(|pages| !pages.starts_with("0 "))
}
