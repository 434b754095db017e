//! What needs Linux: elsewhere these commands are there to say so.

use std::ffi::OsString;

use clap::Args;

use crate::ending::{Ending, Error};

/// Whatever is behind the command's name.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Not looked at
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

fn refused(command: &str, why: &str) -> Result<Ending, Error> {
    Err(Error::System(format!("`ondeck {command}` needs Linux: {why}; run it there")))
}

/// `ondeck run`.
pub(crate) mod run {
    use super::{Ending, Error, refused};

    pub(crate) type Options = super::Options;

    pub(crate) fn run(_: &Options) -> Result<Ending, Error> {
        refused("run", "it puts its own functions before those of glibc's mutexes")
    }
}

/// `ondeck attach`.
pub(crate) mod attach {
    use super::{Ending, Error, refused};

    pub(crate) type Options = super::Options;

    pub(crate) fn run(_: &Options) -> Result<Ending, Error> {
        refused("attach", "it shows programs that `ondeck run` started")
    }
}

/// `ondeck trace`.
pub(crate) mod trace {
    use super::{Ending, Error, refused};

    pub(crate) type Options = super::Options;

    pub(crate) fn run(_: &Options) -> Result<Ending, Error> {
        refused("trace", "it asks the kernel's scheduler by perf_event_open(2)")
    }
}

/// How programs end that were run: there are none.
pub(crate) mod outcome {
    use std::fmt;

    #[derive(Debug)]
    pub(crate) enum Failure {}

    impl Failure {
        pub(crate) fn code(&self) -> u8 {
            match *self {}
        }
    }

    impl fmt::Display for Failure {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            match *self {}
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Status {}

    impl Status {
        pub(crate) fn pass_on(self) -> ! {
            match self {}
        }
    }
}
