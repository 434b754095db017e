//! The progress bar: the current work, and the time left.

use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ondeck_lab::plan::Stage;
use ondeck_lab::results::Failure;
use ondeck_lab::run::Observer;

use crate::{output, summary};

/// The display on the terminal's error stream during a measurement. Silent where there is no
/// terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The time of the last drawing, and its description.
    drawn: Option<(Instant, String)>,
    total: Duration,
    started: Instant,
}

impl Progress {
    /// A bar for work that is planned to take `total`.
    pub(crate) fn new(total: Duration) -> Self {
        // Drawn by hand and not by a ticking thread, which would run beside the measurements.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // The template is a constant; if it were wrong, a plain bar would be better than none.
        let style = ProgressStyle::with_template("{prefix}{wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self { bar, drawn: None, total, started: Instant::now() }
    }

    /// Shows the current work, after `behind` of the planned time.
    pub(crate) fn show(&mut self, behind: Duration, what: String) {
        /// Drawing costs some 100 µs of terminal output, so new figures alone are no reason to
        /// draw.
        const BETWEEN: Duration = Duration::from_millis(100);
        let same = |(when, drawn): &(Instant, String)| *drawn == what && when.elapsed() < BETWEEN;
        if self.is_hidden() || self.drawn.as_ref().is_some_and(same) {
            return;
        }
        let (share, left) = self.estimate(behind);
        let (_, columns) = Term::stderr().size();
        self.bar.set_message(line(usize::from(columns), share, left, &what));
        // The bar's own rate limit would suppress some of these.
        self.bar.force_draw();
        self.drawn = Some((Instant::now(), what));
    }

    /// Whether there is no terminal to show it on.
    pub(crate) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Shows lines above the bar until it is removed.
    pub(crate) fn show_above(&self, lines: String) {
        self.bar.set_prefix(lines);
    }

    /// Prints a line above the bar.
    pub(crate) fn note(&mut self, line: &str) {
        if self.is_hidden() {
            output::say(line);
        } else {
            self.bar.println(line);
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }

    /// The share of the work that is done, and the seconds that are left.
    fn estimate(&self, behind: Duration) -> (f64, f64) {
        let share = (behind.as_secs_f64() / self.total.as_secs_f64().max(1e-9)).min(1.0);
        // At first the plan is the estimate; the actual speed takes over as the run proceeds.
        let actual = self.started.elapsed().as_secs_f64();
        let pace = if share > 0.02 { actual / (share * self.total.as_secs_f64()) } else { 1.0 };
        (share, (1.0 - share) * self.total.as_secs_f64() * pace)
    }
}

impl Observer for Progress {
    fn turn(&mut self, stage: &Stage, lock: &str, behind: Duration) {
        self.show(behind, of_turn(stage, lock));
    }

    fn failed(&mut self, failure: &Failure) {
        self.note(&of_failure(failure));
    }
}

/// Describes a lock's turn.
pub(crate) fn of_turn(stage: &Stage, lock: &str) -> String {
    let place = if stage.alone {
        "one-threaded process".to_owned()
    } else if stage.threads == 1 {
        "1 thread".to_owned()
    } else {
        format!("{} threads", stage.threads)
    };
    // The lock comes first, because a narrow terminal cuts off the end.
    format!("{lock}: {}, {place}", stage.workload.name)
}

/// Describes a failure and its consequence.
pub(crate) fn of_failure(failure: &Failure) -> String {
    format!("{}\nit is left out from here on", summary::describe(failure))
}

/// The line for a terminal with this number of columns. The description has priority, then the
/// time; the bar gets the rest.
fn line(columns: usize, share: f64, left: f64, what: &str) -> String {
    /// The width of most descriptions, so that the bar seldom moves.
    const WHAT: usize = 43;
    /// The least width of a bar.
    const SHORTEST: usize = 6;
    const LONGEST: usize = 24;
    let narrow = format!("{:>3.0} %  {what}", (share * 100.0).floor());
    let timed = format!("{:>3.0} %  {what:<WHAT$}  {left:>4.0} s left", (share * 100.0).floor());
    // The last column stays free: some terminals move to the next line when it is written.
    let Some(over) = columns.saturating_sub(1).checked_sub(timed.chars().count()) else {
        return narrow;
    };
    let width = over.saturating_sub(2).min(LONGEST);
    if width < SHORTEST {
        return timed;
    }
    let full = (share * width as f64) as usize;
    format!("{timed}  {}{}", "━".repeat(full), "─".repeat(width - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "lockless_four_state: uncontended, one-threaded process";
    const USUAL: &str = "terrible_spinlock: throughput, 16 threads";

    #[test]
    fn what_runs_is_visible_at_40_and_80_columns() {
        let narrow = line(40, 0.42, 17.0, USUAL);
        let visible: String = narrow.chars().take(40).collect();
        assert!(visible.contains("42 %  terrible_spinlock: throughput, 16"), "{narrow}");
        for what in [USUAL, LONG, "std: wait, 1 thread"] {
            let wide = line(80, 0.42, 17.0, what);
            assert!(wide.contains(what) && wide.contains("17 s left"), "{wide}");
            assert!(wide.chars().count() < 80, "{wide}");
        }
        assert!(line(80, 0.5, 17.0, USUAL).contains('━'));
    }
}
