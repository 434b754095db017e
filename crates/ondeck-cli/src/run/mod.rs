//! `ondeck run`: a program under the shim.
//!
//! ```text
//! program ─► fitness ─► launch ─► exec       nothing but the shim was asked for: this process becomes
//!               ▲          │                 the program
//!     library, elf         ├────► supervise  something is to be done after the program's end
//!                          └────► compare    many runs
//! ```

mod compare;
mod elf;
mod failure;
mod fitness;
mod inherited;
mod launch;
mod library;
mod locks;
mod options;
mod program;
mod sample;
mod supervise;

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::ending::{Ending, Error};

pub(crate) use failure::Failure;
pub(crate) use options::Options;
use program::Program;
pub(crate) use supervise::Status;

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    if options.compare {
        return compare::run(options);
    }
    if options.outputs.any() {
        return Err(Error::Usage(
            "--json, --csv, --html, --jsonl and --markdown are of --compare; add that, or name a \
             report of this run with --profile"
                .to_owned(),
        ));
    }
    let command = prepared(options)?;
    exec(command)
}

/// The program with all that it is to get but the streams that a closed one was replaced by.
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

/// This process becomes the program, so that there is nothing between it and its parent.
fn exec(mut command: Command) -> Result<Ending, Error> {
    inherited::pass_on(&mut command, false);
    let error = command.exec();
    Err(Error::Start(not_started(&command, &error)))
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::unfit(format!("cannot start {}: {error}", command.get_program().display()))
}
