//! The progress: what runs now, and how much time is left, on a bar or above live tables.

use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ondeck_lab::results::Series;

use crate::live::Live;
use crate::output;

/// What the terminal's error stream shows while something is measured.
pub(crate) struct Progress {
    view: View,
    total: Duration,
    started: Instant,
}

enum View {
    /// Silent where there is no terminal.
    Bar {
        bar: ProgressBar,
        drawn: Option<(Instant, String)>,
    },
    Tables(Box<Live>),
}

impl Progress {
    /// A bar for work that is planned to take `total`.
    pub(crate) fn new(total: Duration) -> Self {
        // Drawn by hand and not by a ticking thread, which would run beside the measurements.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // The template is a constant; were it wrong, a plain bar is better than none.
        let style = ProgressStyle::with_template("{wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self { view: View::Bar { bar, drawn: None }, total, started: Instant::now() }
    }

    /// Tables that fill, for work that is planned to take `total`.
    pub(crate) fn live(total: Duration, live: Live) -> Self {
        Self { view: View::Tables(Box::new(live)), total, started: Instant::now() }
    }

    /// Shows what runs now, when `behind` of the planned time is done.
    pub(crate) fn show(&mut self, behind: Duration, what: String) {
        /// Drawing costs some 100 µs of terminal output, so the figures alone are no reason.
        const BETWEEN: Duration = Duration::from_millis(100);
        let waits = match &self.view {
            View::Bar { bar, drawn } => {
                let same =
                    |(when, drawn): &(Instant, String)| *drawn == what && when.elapsed() < BETWEEN;
                bar.is_hidden() || drawn.as_ref().is_some_and(same)
            }
            View::Tables(tables) => tables.waits(),
        };
        if waits {
            return;
        }
        let (share, left) = self.estimate(behind);
        let (_, columns) = Term::stderr().size();
        let line = line(usize::from(columns), share, left, &what);
        match &mut self.view {
            View::Bar { bar, drawn } => {
                bar.set_message(line);
                // The bar's own limit would hold some of these back.
                bar.force_draw();
                *drawn = Some((Instant::now(), what));
            }
            View::Tables(tables) => tables.draw(&line),
        }
    }

    /// Takes in what a turn has changed, if that is shown.
    pub(crate) fn measured(&mut self, so_far: &dyn Fn() -> Series) {
        if let View::Tables(tables) = &mut self.view {
            tables.take(so_far());
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn note(&mut self, line: &str) {
        match &mut self.view {
            View::Bar { bar, .. } if bar.is_hidden() => output::say(line),
            View::Bar { bar, .. } => bar.println(line),
            View::Tables(tables) => tables.note(line),
        }
    }

    /// Takes the bar away, or the tables.
    pub(crate) fn finish(self) {
        match self.view {
            View::Bar { bar, .. } => bar.finish_and_clear(),
            View::Tables(tables) => drop(tables),
        }
    }

    /// How much of the work is done, and how many seconds are left.
    fn estimate(&self, behind: Duration) -> (f64, f64) {
        let share = (behind.as_secs_f64() / self.total.as_secs_f64().max(1e-9)).min(1.0);
        // The plan is the estimate at first; what really happened takes over as the run goes on.
        let actual = self.started.elapsed().as_secs_f64();
        let pace = if share > 0.02 { actual / (share * self.total.as_secs_f64()) } else { 1.0 };
        (share, (1.0 - share) * self.total.as_secs_f64() * pace)
    }
}

/// The line for a terminal of so many columns. What runs comes first; the bar gets what is left
/// over, and the time goes next.
fn line(columns: usize, share: f64, left: f64, what: &str) -> String {
    /// As wide as most of what runs, so that the bar seldom moves.
    const WHAT: usize = 43;
    /// Fewer columns are no bar.
    const SHORTEST: usize = 6;
    const LONGEST: usize = 24;
    let narrow = format!("{:>3.0} %  {what}", (share * 100.0).floor());
    let timed = format!("{:>3.0} %  {what:<WHAT$}  {left:>4.0} s left", (share * 100.0).floor());
    // The last column stays free: some terminals go to the next line when it is written.
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
