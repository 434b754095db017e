//! Starts the program with a library preloaded, or without.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::fitness::Reason;
use super::library::Library;
use super::program::Program;
use super::{fitness, library};
use crate::outcome::Failure;

/// The variables that the libraries read when they are loaded: the folder for recordings, whether
/// it also records uncontended operations, the page that switches recording on later, and the
/// folder for notes about the order of locks.
pub(crate) const PROFILE: &str = "ONDECK_PROFILE";
pub(crate) const RECORD: &str = "ONDECK_RECORD";
pub(crate) const CONTROL: &str = "ONDECK_CONTROL";
pub(crate) const DEADLOCKS: &str = "ONDECK_DEADLOCKS";

/// The shim, if it can serve the program.
pub(crate) fn shim_for(program: &Program) -> Result<PathBuf, Failure> {
    let library = library::find(Library::Shim)?;
    fitness::check(&library, program)?;
    Ok(library)
}

/// The observer; the reason if it cannot be loaded into the program.
pub(super) fn observer_for(program: &Program) -> Result<Result<PathBuf, Reason>, Failure> {
    let library = library::find(Library::Observer)?;
    fitness::check_library(&library, Library::Observer)?;
    let reason = program.images.iter().find_map(|path| fitness::reason(&library, path));
    Ok(reason.map_or(Ok(library), Err))
}

/// The program as the user wrote it, by the file that was checked.
pub(crate) fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.path);
    command.arg0(&program.name).args(&program.arguments);
    command
}

pub(crate) fn with_library(command: &mut Command, library: &Path) {
    let (variable, value) = library::in_front(library);
    command.env(variable, value);
}

/// Removes our libraries, even if this command itself runs under one.
pub(crate) fn without_library(command: &mut Command) {
    let (variable, value) = library::left_out();
    match value {
        Some(value) => command.env(variable, value),
        None => command.env_remove(variable),
    };
    for variable in [PROFILE, RECORD, CONTROL, DEADLOCKS] {
        command.env_remove(OsStr::new(variable));
    }
}
