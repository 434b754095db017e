//! What a run tells, shown on the progress bar or the live screen.

use std::time::Duration;

use ondeck_lab::plan::Stage;
use ondeck_lab::results::{Failure, Series};
use ondeck_lab::run::Observer;

use crate::progress::Progress;
use crate::summary;

/// Shows a run on a bar that others go on with afterwards.
pub(crate) struct Watcher<'a>(pub(crate) &'a mut Progress);

impl Observer for Watcher<'_> {
    fn turn(&mut self, stage: &Stage, lock: &str, behind: Duration) {
        let place = if stage.alone {
            "one-threaded process".to_owned()
        } else if stage.threads == 1 {
            "1 thread".to_owned()
        } else {
            format!("{} threads", stage.threads)
        };
        // The lock first: the end is what a narrow terminal cuts off.
        self.0.show(behind, format!("{lock}: {}, {place}", stage.workload.name));
    }

    fn failed(&mut self, failure: &Failure) {
        self.0.note(&format!("{}\nit is left out from here on", summary::describe(failure)));
    }

    fn measured(&mut self, so_far: &dyn Fn() -> Series) {
        self.0.measured(so_far);
    }
}
