//! `ondeck run`: runs a program under the shim, or observes it.
//!
//! ```text
//! program ─► fitness ─► launch ─► exec       nothing but the shim was asked for: this process becomes
//!               ▲          │                 the program; by its control page it can be attached to
//!     library              ├────► supervise  a recording becomes reports after the program's end
//!                          │        └──────► recording, futexes, watched, profile, record
//!                          ├────► deadlocks  notes about locks become reports while the program runs
//!                          └────► compare    many runs, each a sample
//! ```

mod apart;
mod compare;
mod control;
mod deadlocks;
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
mod seccomp;
mod supervise;
mod watched;

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ending::{Ending, Error};
use crate::outcome::{Failure, Status};
use crate::output;

pub(crate) use control::Page;
use futexes::Looks;
use library::Library;
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
    if let Some(then) = options.deadlocks {
        return deadlocks::run(&options.program, &options.wanted.symbols, then);
    }
    if wants_profile { recorded(options) } else { exec(options) }
}

/// What the program runs with.
pub(crate) enum Way {
    /// The library that observes its own locks.
    Observe(PathBuf),
    /// The library with ondeck's locks.
    Exchange(PathBuf),
    /// Nothing, while the kernel notifies of its calls: why no library observes it.
    Notify { why: String, is_go: bool, unrecorded: usize },
    /// Nothing: why it cannot be observed.
    Alone { why: String },
}

impl Way {
    /// The way in which a program is recorded.
    fn of(options: &Options, program: &Program) -> Result<Self, Failure> {
        if options.record.is_some() || options.lock == Some(Lock::Ondeck) {
            return launch::shim_for(program).map(Self::Exchange);
        }
        let observer = launch::observer_for(program)?;
        let may_be_loaders = observer.as_ref().err().is_none_or(|reason| reason.is_loaders);
        let go = program.images.iter().find_map(|path| fitness::of_go(path));
        Ok(match go.filter(|_| may_be_loaders).map_or(observer, Err) {
            Ok(library) => Self::Observe(library),
            Err(reason)
                if cfg!(target_arch = "x86_64") && reason.is_loaders && !options.no_seccomp =>
            {
                Self::Notify { why: reason.why, is_go: reason.is_go, unrecorded: 0 }
            }
            Err(reason) => Self::Alone { why: reason.to_string() },
        })
    }

    pub(crate) fn library(&self) -> Option<&Path> {
        match self {
            Self::Observe(library) | Self::Exchange(library) => Some(library),
            Self::Notify { .. } | Self::Alone { .. } => None,
        }
    }
}

/// This process becomes the program, so that nothing is between it and its parent.
fn exec(options: &Options) -> Result<Ending, Error> {
    let program = Program::find(&options.program).map_err(Error::Start)?;
    let mut command = launch::command(&program);
    if options.lock == Some(Lock::Glibc) {
        // There is nothing to control.
        launch::without_library(&mut command);
    } else {
        let library = launch::shim_for(&program).map_err(Error::Start)?;
        launch::with_library(&mut command, &library);
        if let Some(page) = control::for_program() {
            command.env(launch::CONTROL, page);
        }
    }
    inherited::pass_on(&mut command, [false; 3]);
    let error = command.exec();
    Err(Error::Start(not_started(&options.program[0], &error)))
}

/// The program runs beside this process, which makes reports of the recording at its end.
fn recorded(options: &Options) -> Result<Ending, Error> {
    let files = options.wanted.prepare()?;
    let record = record::prepare(options.record.as_deref())?;
    record.apart_from(&files)?;
    let program = Program::find(&options.program).map_err(Error::Start)?;
    let mut way = Way::of(options, &program).map_err(Error::Start)?;
    let mut command = launch::command(&program);
    let folder = recording::folder().map_err(|error| {
        Error::Start(Failure::own(format!("cannot make a folder to record into: {error}")))
    })?;
    match way.library() {
        Some(library) => launch::with_library(&mut command, library),
        None => launch::without_library(&mut command),
    }
    let server = if let Way::Notify { .. } = way {
        let server = seccomp::Server::prepare(&mut command, folder.path());
        Some(server.map_err(|error| Error::Start(Failure::own(error.to_string())))?)
    } else {
        // For what the program starts, even if it has no library itself.
        command.env(launch::PROFILE, folder.path());
        None
    };
    if options.record.is_some() {
        command.env(launch::RECORD, "1");
    }
    let program = Supervised::start(command)
        .map_err(|error| Error::Start(not_started(&options.program[0], &error)))?;
    if let (Way::Notify { why, .. }, Some(Err(error))) =
        (&way, server.as_ref().map(seccomp::Server::is_observing))
    {
        way = Way::Alone { why: format!("{why}, and {}", seccomp::refused(&error)) };
    }
    let library = if matches!(way, Way::Exchange(_)) { Library::Shim } else { Library::Observer };
    let mut looks = Looks::new(program.id(), library);
    let is_notified = matches!(way, Way::Notify { .. });
    let status = program
        .wait(|| if is_notified { Duration::from_hours(1) } else { looks.look() })
        .map_err(|error| Error::Start(Failure::own(format!("lost the program: {error}"))))?;
    let ended = server.map_or(0, seccomp::Server::end);
    if let Way::Notify { unrecorded, .. } = &mut way {
        *unrecorded = ended;
    }

    let report = || match options.wanted.read_all(folder.path(), &looks, &way) {
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
    let made = apart::apart(report);
    if let Err(error) = &made {
        output::say(format_args!("error: {error}"));
    }
    if made == Ok(true) {
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

fn not_started(program: &OsStr, error: &std::io::Error) -> Failure {
    Failure::unfit(format!("cannot start {}: {error}", program.display()))
}
