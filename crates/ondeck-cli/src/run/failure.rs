//! Why a program was not started. The exit codes are those of env(1), nohup(1) and timeout(1).

use std::fmt;

/// A program that was not started: the exit code, what is wrong, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    message: String,
}

impl Failure {
    /// The exit code of a failure of the command itself.
    pub(crate) const OWN: u8 = 125;

    /// The command itself lacks something.
    pub(crate) fn own(message: impl Into<String>) -> Self {
        Self { code: Self::OWN, message: message.into() }
    }

    /// The program is there, and cannot be started with the shim, or at all.
    pub(crate) fn unfit(message: impl Into<String>) -> Self {
        Self { code: 126, message: message.into() }
    }

    /// There is no such program.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { code: 127, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
