//! The terminal, or its substitute. Nothing here panics when there is no reader.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// A destination that could not be written, and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {place}: {error}")]
pub(crate) struct Failed {
    pub(crate) place: String,
    pub(crate) error: String,
}

/// Whether standard output takes colours: it is a terminal, and the user has not disabled them.
pub(crate) fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// The same for standard error.
pub(crate) fn colours_of_errors() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Prints to standard output. A reader that closes early is no error.
pub(crate) fn print(text: &str) -> Result<(), Failed> {
    let mut stdout = anstream::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            Err(Failed { place: "to standard output".to_owned(), error: error.to_string() })
        }
    }
}

/// Prints a line for the user on standard error, if possible.
pub(crate) fn say(line: impl Display) {
    // If standard error is closed, there is no place to report it.
    _ = writeln!(anstream::stderr(), "{line}");
}
