//! The terminal, or whatever stands in its place. Nothing here panics when nobody reads.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use crate::{Ending, Usage};

/// Whether standard output takes colours: a terminal, and nobody asked for none.
pub(crate) fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Prints to standard output. A reader that has seen enough is no error.
pub(crate) fn print(text: &str) -> Result<Ending, Usage> {
    let mut stdout = anstream::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Ending::Whole),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Ending::Whole),
        Err(error) => Err(Usage(format!("cannot write to standard output: {error}"))),
    }
}

/// Tells the user something on standard error, if it can be told at all.
pub(crate) fn say(line: impl Display) {
    // Where nobody listens there is nobody to tell that nobody listens.
    _ = writeln!(anstream::stderr(), "{line}");
}
