//! `ondeck run`: runs a program under the shim.
//!
//! ```text
//! program ─► fitness ─► launch ─► exec       nothing but the shim was asked for: this process becomes
//!               ▲          │                 the program; by its control page it can be attached to
//!     library              ├────► supervise  a recording becomes reports after the program's end
//!                          │        └──────► recording, futexes, profile, record
//!                          └────► compare    many runs, each a sample
//! ```

mod compare;
mod control;
mod fitness;
mod futexes;
mod inherited;
mod launch;
mod library;
mod options;
pub(crate) mod profile;
mod program;
mod record;
pub(crate) mod recording;
mod sample;
mod supervise;

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::ending::{Ending, Error};
use crate::outcome::{Failure, Status};
use crate::output;

pub(crate) use control::Page;
use futexes::Looks;
pub(crate) use options::{Lock, Options};
pub(crate) use profile::Wanted;
use program::Program;
use supervise::Supervised;

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let wants_profile = !options.wanted.profile.is_empty() || options.record.is_some();
    if options.compare {
        if wants_profile {
            return Err(Error::Usage(
                "--compare measures programs that are not recorded; leave out --profile".to_owned(),
            ));
        }
        return compare::run(options);
    }
    if options.outputs.any() {
        return Err(Error::Usage(
            "--json, --csv and --html are of --compare; add that, or name a \
             report of this run with --profile"
                .to_owned(),
        ));
    }
    if wants_profile { recorded(options) } else { exec(options) }
}

/// This process becomes the program, so that nothing is between it and its parent.
fn exec(options: &Options) -> Result<Ending, Error> {
    let mut command = prepared(options)?;
    // Without the shim there is nothing to control.
    if options.lock != Lock::Glibc
        && let Some(page) = control::for_program()
    {
        command.env(launch::CONTROL, page);
    }
    inherited::pass_on(&mut command, [false; 3]);
    let error = command.exec();
    Err(Error::Start(not_started(&options.program[0], &error)))
}

/// The program runs beside this process, which makes reports of the recording at its end.
fn recorded(options: &Options) -> Result<Ending, Error> {
    if options.lock == Lock::Glibc {
        return Err(Error::Usage(
            "--lock glibc runs without the shim, which is what records; leave out one of them"
                .to_owned(),
        ));
    }
    let files = options.wanted.prepare()?;
    let record = record::prepare(options.record.as_deref())?;
    record.apart_from(&files)?;
    let mut command = prepared(options)?;
    let folder = recording::folder().map_err(|error| {
        Error::Start(Failure::own(format!("cannot make a folder to record into: {error}")))
    })?;
    command.env(launch::PROFILE, folder.path());
    if options.record.is_some() {
        command.env(launch::RECORD, "1");
    }
    let program = Supervised::start(command)
        .map_err(|error| Error::Start(not_started(&options.program[0], &error)))?;
    let mut looks = Looks::new(program.id());
    let status = program
        .wait(|| looks.look())
        .map_err(|error| Error::Start(Failure::own(format!("lost the program: {error}"))))?;

    let whole = match profile::read(folder.path(), Some(&looks.seen())) {
        Ok(found) => {
            let whole = options.wanted.write(files, &found);
            let whole = (options.record.is_none() || record::write(record, folder.path())) && whole;
            output::say(profile::text(&found, output::colours_of_errors()).trim_end());
            whole
        }
        Err(error) => {
            output::say(format_args!("error: {error}"));
            false
        }
    };
    if whole {
        return Ok(Ending::AsProgram(status));
    }
    if recording::has_begun(folder.path()) {
        let kept = recording::keep(folder);
        output::say(format_args!("the recording is kept in {}", kept.display()));
    }
    Ok(match status {
        Status::Exited(0) => Ending::AsProgram(Status::Exited(Failure::OWN)),
        failed => Ending::AsProgram(failed),
    })
}

/// The program with its complete environment, except signals.
fn prepared(options: &Options) -> Result<Command, Error> {
    let program = Program::find(&options.program).map_err(Error::Start)?;
    let mut command = launch::command(&program);
    match options.lock {
        Lock::Glibc => launch::without_shim(&mut command),
        Lock::Ondeck => {
            let library = launch::library_for(&program).map_err(Error::Start)?;
            launch::with_shim(&mut command, &library);
        }
    }
    Ok(command)
}

fn not_started(program: &OsStr, error: &std::io::Error) -> Failure {
    Failure::unfit(format!("cannot start {}: {error}", program.display()))
}
