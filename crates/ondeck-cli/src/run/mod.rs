//! `ondeck run`: a program under the shim.
//!
//! ```text
//! program ─► fitness ─► launch ─► exec       nothing but the shim was asked for: this process becomes
//!               ▲          │                 the program; by its control page it can be attached to
//!     library, elf         ├────► supervise  a recording becomes reports after the program's end
//!                          │        └──────► recording, futexes, watch, profile, record
//!                          └────► compare    many runs, each a sample
//! ```

mod compare;
mod control;
mod elf;
mod fitness;
mod futexes;
mod inherited;
mod launch;
mod library;
mod locks;
mod options;
pub(crate) mod profile;
mod program;
mod record;
pub(crate) mod recording;
mod sample;
mod supervise;
pub(crate) mod watch;

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::ending::{Ending, Error};
use crate::outcome::{Failure, Status};
use crate::{live, output};

pub(crate) use control::Page;
use futexes::Looks;
use inherited::Given;
pub(crate) use options::Options;
pub(crate) use profile::Wanted;
use program::Program;
use supervise::Supervised;
pub(crate) use watch::Watch;

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let wants_profile =
        !options.wanted.profile.is_empty() || options.live || options.record.is_some();
    if options.compare {
        if wants_profile {
            return Err(Error::Usage(
                "--compare measures programs that are not recorded; leave out --profile and --live"
                    .to_owned(),
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

/// This process becomes the program, so that there is nothing between it and its parent.
fn exec(options: &Options) -> Result<Ending, Error> {
    let mut command = prepared(options)?;
    // Without the shim there is nothing to control.
    if options.lock.as_deref() != Some(locks::GLIBC)
        && let Some(page) = control::for_program()
    {
        command.env(launch::CONTROL, page);
    }
    inherited::pass_on(&mut command, given(options));
    let error = command.exec();
    Err(Error::Start(not_started(&options.program[0], &error)))
}

/// The program runs beside this process, which makes reports of the recording when it has ended.
fn recorded(options: &Options) -> Result<Ending, Error> {
    if options.lock.as_deref() == Some(locks::GLIBC) {
        return Err(Error::Usage(
            "--lock glibc runs without the shim, which is what records; leave out one of them"
                .to_owned(),
        ));
    }
    if options.live {
        live::require_terminal()?;
        if options.output.is_none() && console::Term::stdout().is_term() {
            return Err(Error::Usage(
                "--live draws on the terminal that the program writes to; send its words elsewhere \
                 with --output FILE"
                    .to_owned(),
            ));
        }
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
    let program = Supervised::start(command, given(options))
        .map_err(|error| Error::Start(not_started(&options.program[0], &error)))?;
    let mut watch =
        options.live.then(|| Watch::new(folder.path(), format!("process {}", program.id())));
    let mut looks = Looks::new(program.id());
    let waited = program.wait(|| {
        watch.iter_mut().for_each(Watch::draw);
        looks.look()
    });
    drop(watch);
    let status =
        waited.map_err(|error| Error::Start(Failure::own(format!("lost the program: {error}"))))?;

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

/// The program with all that it is to get, but for signals and streams.
fn prepared(options: &Options) -> Result<Command, Error> {
    let lock = options.lock.as_deref();
    if let Some(lock) = lock {
        locks::check(lock).map_err(Error::Usage)?;
    }
    let program = Program::find(&options.program).map_err(Error::Start)?;
    let mut command = launch::command(&program);
    if lock == Some(locks::GLIBC) {
        launch::without_shim(&mut command);
    } else {
        let library = launch::library_for(&program).map_err(Error::Start)?;
        launch::with_shim(&mut command, &library, lock);
    }
    if let Some(name) = &options.output {
        let wrong = |error: std::io::Error| {
            Error::Start(Failure::own(format!(
                "cannot write {}: {error}; name a file that you may write",
                name.display()
            )))
        };
        let file = File::create(name).map_err(wrong)?;
        command.stdout(file.try_clone().map_err(wrong)?).stderr(file);
    }
    Ok(command)
}

/// The streams that are not the command's own.
fn given(options: &Options) -> Given {
    let words = options.output.is_some();
    [false, words, words]
}

fn not_started(program: &OsStr, error: &std::io::Error) -> Failure {
    Failure::unfit(format!("cannot start {}: {error}", program.display()))
}
