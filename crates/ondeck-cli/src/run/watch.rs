//! The table of a recording on the terminal, while the program runs.

use std::path::Path;
use std::time::{Duration, Instant};

use console::Term;
use ondeck_profile::{Error, Reader};

use super::profile;
use crate::screen;

/// Drawn so often.
const EVERY: Duration = Duration::from_secs(1);

/// A recording that is shown. The terminal is given back when it goes.
pub(crate) struct Watch {
    reader: Reader,
    what: String,
    started: Instant,
    drawn: Instant,
}

impl Watch {
    pub(crate) fn new(folder: &Path, what: String) -> Self {
        let now = Instant::now();
        Self { reader: Reader::new(folder), what, started: now, drawn: now }
    }

    /// Draws what has been recorded by now, if the last time is long enough ago.
    pub(crate) fn draw(&mut self) {
        if self.drawn.elapsed() < EVERY {
            return;
        }
        self.drawn = Instant::now();
        let (rows, columns) = Term::stderr().size();
        let head = format!("{}, {} s", self.what, self.started.elapsed().as_secs());
        let table = match self.reader.read() {
            Ok(found) => profile::text(&found, false),
            Err(Error::Empty { .. }) => profile::NOTHING.to_owned(),
            Err(error) => format!("{error}\n"),
        };
        let mut lines: Vec<String> = vec![head];
        lines.extend(table.lines().map(str::to_owned));
        lines.truncate(usize::from(rows).max(1));
        // Without a terminal any more there is no place to say so.
        _ = screen::show(&lines, usize::from(columns));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        screen::leave();
    }
}

/// Whether standard error is a terminal that can be drawn on.
pub(crate) fn has_terminal() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
    Term::stderr().is_term() && !dumb
}
