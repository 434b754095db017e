//! What went wrong, for the reader who has to understand it.

use std::fmt;

use super::schedule::Schedule;
use crate::engine::{Recent, Stuck};

/// A run that went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The scenario's name.
    pub scenario: String,
    /// The schedule; by its seed the run repeats.
    pub schedule: Schedule,
    /// What is wrong.
    pub what: String,
    /// What threads were doing that were not done.
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
