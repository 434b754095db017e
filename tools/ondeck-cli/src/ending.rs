//! How a command ends.

use std::fmt::Display;

use crate::outcome::{Failure, Status};
use crate::output;

/// The end of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was done.
    Whole,
    /// Something is missing; it was reported.
    Lacking,
    /// A program has a deadlock; it was reported.
    Deadlocked,
    /// The command ran a program, and ends like it.
    AsProgram(Status),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A user's mistake, in the command line or in a file, with the remedy.
    #[error("{0}")]
    Usage(String),
    /// The results could not be written.
    #[error(transparent)]
    Output(#[from] output::Failed),
    /// A program was not started.
    #[error("{0}")]
    Start(Failure),
    /// The system refused something that every run needs.
    #[error("{0}")]
    System(String),
}

impl Error {
    /// The exit code of the command.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Start(failure) => failure.code,
            _ => 2,
        }
    }

    /// A user's mistake that the laboratory describes.
    pub(crate) fn usage(mistake: impl Display) -> Self {
        Self::Usage(mistake.to_string())
    }
}
