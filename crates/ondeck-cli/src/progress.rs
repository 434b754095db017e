//! The progress bar: what runs now, and how much time is left.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on the terminal's error stream; silent when that is not a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    total: Duration,
    started: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    /// A bar for work that is planned to take `total`.
    pub(crate) fn new(total: Duration) -> Self {
        // Drawn by hand and not by a ticking thread, which would run beside the measurements.
        let bar = ProgressBar::with_draw_target(Some(1_000), ProgressDrawTarget::stderr());
        // The template is a constant; were it wrong, a plain bar is better than none.
        let style =
            ProgressStyle::with_template("{bar:24} {percent:>3} %  {prefix:>9}  {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("━╸ "));
        Self { bar, total, started: Instant::now(), drawn: None }
    }

    /// Shows what runs now, when `behind` of the planned time is done.
    pub(crate) fn show(&mut self, behind: Duration, what: String) {
        /// Drawing costs some 100 µs of terminal output.
        const BETWEEN: Duration = Duration::from_millis(100);
        if self.drawn.is_some_and(|drawn| drawn.elapsed() < BETWEEN) {
            return;
        }
        self.drawn = Some(Instant::now());
        let share = (behind.as_secs_f64() / self.total.as_secs_f64().max(1e-9)).min(1.0);
        self.bar.set_position((share * 1_000.0) as u64);
        // The plan is the estimate at first; what really happened takes over as the run goes on.
        let actual = self.started.elapsed().as_secs_f64();
        let pace = if share > 0.02 { actual / (share * self.total.as_secs_f64()) } else { 1.0 };
        let left = (1.0 - share) * self.total.as_secs_f64() * pace;
        self.bar.set_prefix(format!("{left:.0} s left"));
        self.bar.set_message(what);
    }

    /// Prints a line above the bar.
    pub(crate) fn note(&self, line: &str) {
        if self.bar.is_hidden() {
            anstream::eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
