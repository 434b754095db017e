//! The terminal, or whatever stands in its place. Nothing here panics when there is no reader.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// A place that took no output, and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {place}: {error}")]
pub(crate) struct Failed {
    pub(crate) place: String,
    pub(crate) error: String,
}

/// Whether standard output takes colours: a terminal, and the user did not ask for none.
pub(crate) fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// The same of standard error.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "what needs Linux needs it"))]
pub(crate) fn colours_of_errors() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Prints to standard output. A reader that has seen enough is no error.
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

/// Tells the user something on standard error, if it can be told at all.
pub(crate) fn say(line: impl Display) {
    // Where standard error is closed there is no place to say so.
    _ = writeln!(anstream::stderr(), "{line}");
}
