//! Starts the program with the shim preloaded, or without it.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::Program;
use super::{fitness, library};
use crate::outcome::Failure;

/// The variable that the shim reads when it is loaded: the folder for recordings, whether it also records
/// uncontended operations, and the page that switches recording on later.
pub(crate) const PROFILE: &str = "ONDECK_PROFILE";
pub(crate) const RECORD: &str = "ONDECK_RECORD";
pub(crate) const CONTROL: &str = "ONDECK_CONTROL";

/// The shim, if it can serve the program.
pub(crate) fn library_for(program: &Program) -> Result<PathBuf, Failure> {
    let library = library::find()?;
    fitness::check(&library, program)?;
    Ok(library)
}

/// The program as the user wrote it, by the file that was checked.
pub(crate) fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.path);
    command.arg0(&program.name).args(&program.arguments);
    command
}

pub(crate) fn with_shim(command: &mut Command, library: &Path) {
    let (variable, value) = library::in_front(library);
    command.env(variable, value);
}

/// Removes the shim, even if this command itself runs under it.
pub(crate) fn without_shim(command: &mut Command) {
    let (variable, value) = library::left_out();
    match value {
        Some(value) => command.env(variable, value),
        None => command.env_remove(variable),
    };
    for variable in [PROFILE, RECORD, CONTROL] {
        command.env_remove(OsStr::new(variable));
    }
}
