//! A failure, with what a reader needs to understand it.

use std::fmt;

use super::schedule::Schedule;
use crate::engine::{Recent, Stuck};

/// A failed run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The scenario's name.
    pub scenario: String,
    /// The schedule; its seed repeats the run.
    pub schedule: Schedule,
    /// The error.
    pub what: String,
    /// The states of the threads that had not ended.
    pub stuck: Vec<Stuck>,
    /// The last events.
    pub recent: Vec<Recent>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scenario, schedule) = (&self.scenario, &self.schedule);
        writeln!(f, "{scenario}: {}", self.what)?;
        writeln!(f, "schedule: {schedule}")?;
        writeln!(f, "again: bash ci/schedules.sh --only {scenario} --seed {}", schedule.seed)?;
        for stuck in &self.stuck {
            writeln!(f, "    {stuck}")?;
        }
        writeln!(f, "the last events:")?;
        for recent in &self.recent {
            writeln!(f, "    {recent}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
