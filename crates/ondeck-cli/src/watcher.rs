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
        self.0.show(behind, of_turn(stage, lock));
    }

    fn failed(&mut self, failure: &Failure) {
        self.0.note(&of_failure(failure));
    }

    fn measured(&mut self, so_far: &dyn Fn() -> Series) {
        self.0.measured(so_far);
    }
}

/// What runs in a lock's turn.
pub(crate) fn of_turn(stage: &Stage, lock: &str) -> String {
    let place = if stage.alone {
        "one-threaded process".to_owned()
    } else if stage.threads == 1 {
        "1 thread".to_owned()
    } else {
        format!("{} threads", stage.threads)
    };
    // The lock first: the end is what a narrow terminal cuts off.
    format!("{lock}: {}, {place}", stage.workload.name)
}

/// What has failed, and what follows.
pub(crate) fn of_failure(failure: &Failure) -> String {
    format!("{}\nit is left out from here on", summary::describe(failure))
}
