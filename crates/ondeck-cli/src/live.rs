//! `bench --live`: the tables in the terminal, filling round by round.
//!
//! Drawn between turns only, by the thread that starts them, so that nothing of it runs beside a
//! round. The terminal's own work, in a process of its own, does.

use std::time::{Duration, Instant};

use console::Term;
use ondeck_lab::results::{Report, Series};
use ondeck_report::table;

use crate::ending::Error;
use crate::{output, screen};

/// Drawn no more often than this.
const BETWEEN: Duration = Duration::from_millis(400);

/// The tables of a run so far.
pub(crate) struct Live {
    /// What tables are made of besides their series.
    frame: Report,
    /// The latest last.
    workloads: Vec<Shown>,
    /// What is said when the screen is gone.
    notes: Vec<String>,
    drawn: Option<Instant>,
}

/// A workload and its tables.
struct Shown {
    series: Vec<Series>,
    text: String,
    stale: bool,
}

/// Fails where there is no terminal to draw on.
pub(crate) fn require_terminal() -> Result<(), Error> {
    let dumb = std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
    if Term::stderr().is_term() && !dumb {
        return Ok(());
    }
    let why = if dumb { "TERM names none that can be drawn on" } else { "standard error is none" };
    Err(Error::Usage(format!("--live needs a terminal, and {why}; leave --live out")))
}

impl Live {
    /// The screen comes with the first drawing.
    pub(crate) fn begin(frame: Report) -> Self {
        Self { frame, workloads: Vec::new(), notes: Vec::new(), drawn: None }
    }

    /// Takes in what is known of a series now.
    pub(crate) fn take(&mut self, new: Series) {
        let place = self.workloads.iter().position(|shown| {
            shown.series.first().is_some_and(|series| series.workload == new.workload)
        });
        let mut shown = match place {
            Some(place) => self.workloads.remove(place),
            None => Shown { series: Vec::new(), text: String::new(), stale: true },
        };
        let same = |old: &Series| {
            (&old.lock, old.threads, &old.params) == (&new.lock, new.threads, &new.params)
        };
        match shown.series.iter_mut().find(|old| same(old)) {
            Some(old) => *old = new,
            None => shown.series.push(new),
        }
        shown.stale = true;
        self.workloads.push(shown);
    }

    /// Whether it is too early to draw again.
    pub(crate) fn waits(&self) -> bool {
        self.drawn.is_some_and(|drawn| drawn.elapsed() < BETWEEN)
    }

    /// Draws the tables below a line that says what runs now.
    pub(crate) fn draw(&mut self, line: &str) {
        // Asked for each time: the window may have another size by now.
        let (rows, columns) = Term::stderr().size();
        let lines = self.lines(line, usize::from(rows));
        // Without a terminal any more there is no place to say so.
        _ = screen::show(&lines, usize::from(columns));
        self.drawn = Some(Instant::now());
    }

    /// Keeps a line for when the screen is gone, and shows it until then.
    pub(crate) fn note(&mut self, line: &str) {
        self.notes.push(line.to_owned());
    }

    /// What fits: the line, notes, and the tables of the latest workload first.
    fn lines(&mut self, line: &str, rows: usize) -> Vec<String> {
        for shown in self.workloads.iter_mut().filter(|shown| shown.stale) {
            self.frame.series = std::mem::take(&mut shown.series);
            shown.text = table::render(&self.frame, false);
            shown.series = std::mem::take(&mut self.frame.series);
            shown.stale = false;
        }
        let notes = self.notes.iter().flat_map(|note| note.lines());
        let tables = self.workloads.iter().rev().flat_map(|shown| shown.text.lines());
        let mut lines: Vec<String> = vec![line.to_owned()];
        lines.extend(notes.chain(tables).map(str::to_owned));
        if lines.iter().any(|line| line.contains('*')) {
            lines.insert(1, "* has rounds to come".to_owned());
        }
        if lines.len() > rows && rows > 1 {
            let more = lines.len() - (rows - 1);
            lines.truncate(rows - 1);
            lines.push(format!("... {more} lines more than this terminal is high"));
        }
        lines
    }
}

/// Takes the screen away.
impl Drop for Live {
    fn drop(&mut self) {
        screen::leave();
        for note in &self.notes {
            output::say(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ondeck_lab::results::{Better, Metric, Unit};

    fn series(workload: &str, lock: &str, value: f64) -> Series {
        let metric = Metric {
            name: "throughput".to_owned(),
            unit: Unit::PerSecond.to_string(),
            better: Better::Higher,
            median: value,
            p25: value,
            p75: value,
            min: value,
            max: value,
            n: 1,
            samples: vec![value],
        };
        Series {
            workload: workload.to_owned(),
            lock: lock.to_owned(),
            threads: 2,
            params: std::collections::BTreeMap::new(),
            partial: true,
            cut_runs: 0,
            round_milliseconds: None,
            metrics: vec![metric],
            distribution: None,
        }
    }

    #[test]
    fn a_later_round_replaces_an_earlier_one_and_the_latest_workload_is_on_top() {
        let mut live = Live::begin(crate::session::empty_report());
        live.take(series("throughput", "std", 1e6));
        live.take(series("chan", "std", 5e6));
        live.take(series("throughput", "std", 7e6));
        let text = live.lines("now", 100).join("\n");
        let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("no {word}: {text}"));
        assert!(text.starts_with("now\n* has rounds to come\n"), "{text}");
        assert!(place("throughput:") < place("chan:"));
        assert!(text.contains("7.00") && !text.contains("1.00"), "{text}");
    }

    #[test]
    fn a_low_terminal_shows_the_top_and_says_so() {
        let mut live = Live::begin(crate::session::empty_report());
        live.take(series("throughput", "std", 1e6));
        live.note("a lock failed");
        let lines = live.lines("now", 4);
        assert_eq!(lines.len(), 4);
        assert_eq!((lines[0].as_str(), lines[2].as_str()), ("now", "a lock failed"));
        assert!(lines[3].starts_with("... "), "{lines:?}");
    }
}
