//! How a command ends.

use std::fmt::Display;

#[cfg(target_os = "linux")]
use crate::outcome::{Failure, Status};
use crate::output;

/// How a command ended when it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was done.
    Whole,
    /// Something is missing; it was reported.
    Lacking,
    /// A program was run, and the command ends as it did.
    #[cfg(target_os = "linux")]
    AsProgram(Status),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A user's mistake, in the command line or in a file: what is wrong and what to do.
    #[error("{0}")]
    Usage(String),
    /// What the command found did not arrive where it was to go.
    #[error(transparent)]
    Output(#[from] output::Failed),
    /// A program was not started.
    #[cfg(target_os = "linux")]
    #[error("{0}")]
    Start(Failure),
    /// The system refused what every run needs.
    #[error("{0}")]
    System(String),
}

impl Error {
    /// The exit code of the command.
    pub(crate) fn code(&self) -> u8 {
        match self {
            #[cfg(target_os = "linux")]
            Self::Start(failure) => failure.code(),
            _ => 2,
        }
    }

    /// A user's mistake that the laboratory has words for.
    pub(crate) fn usage(mistake: impl Display) -> Self {
        Self::Usage(mistake.to_string())
    }
}
