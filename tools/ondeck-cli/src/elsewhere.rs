//! Commands that need Linux: on other systems they exist only to say so.

use std::ffi::OsString;

use clap::Args;

use crate::ending::{Ending, Error};

/// Everything after the command's name.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Not looked at
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

/// A module for each command, with the reason why it needs Linux.
macro_rules! refused {
    ($($command:ident: $why:literal;)+) => {$(
        pub(crate) mod $command {
            use super::{Ending, Error};
            pub(crate) use super::Options;

            pub(crate) fn run(_: &Options) -> Result<Ending, Error> {
                let command = stringify!($command);
                Err(Error::System(format!("`ondeck {command}` needs Linux: {}; run it there", $why)))
            }
        }
    )+};
}

refused! {
    run: "it puts its own functions before those of glibc's mutexes";
    attach: "it shows programs that `ondeck run` started";
    who: "it reads the memory of a process by /proc";
    trace: "it asks the kernel's scheduler by perf_event_open(2)";
}
