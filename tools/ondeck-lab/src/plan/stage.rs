//! Locks in one situation, and the time that measuring them is planned to take.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::environment::Placement;
use crate::team::threads::CROWD;
use crate::workload::{EmptyLock, Extent, NO_LOCK, Own, Subject, WorkloadInfo};

/// Locks that are measured against each other in the same situation, taking turns.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The workload.
    pub workload: WorkloadInfo,
    /// The locks that take turns.
    pub subjects: Vec<Subject>,
    /// How many threads.
    pub threads: usize,
    /// Work inside and outside of the section, in nanoseconds.
    pub work: (u64, u64),
    /// The workload's own part of the situation.
    pub own: Own,
    /// Whether it is also measured with the lock that does nothing, if the workload is.
    pub emptied: bool,
    /// Whether it is measured with the lock that does nothing, to find the cost of the workload
    /// itself.
    pub baseline: bool,
    /// Where and how threads run.
    pub placement: Placement,
    /// In a process of one thread.
    pub alone: bool,
    /// Parameters as they stand in reports.
    pub params: BTreeMap<String, String>,
    /// The length of a turn of a timed workload, or the time for which runs of a counted one are
    /// repeated in a turn.
    pub turn: Duration,
    /// How many turns each lock has.
    pub turns: usize,
    /// For rounds that end by count: the number of runs that suffices, and the time after which a
    /// run is cut off.
    pub counted: Option<Counted>,
}

/// The bounds of runs that end by count.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Runs after which there are enough.
    pub most: usize,
    /// The time after which a run is cut off, if any: with a lock that collapses a run would take
    /// minutes.
    pub longest: Option<Duration>,
}

impl Stage {
    /// The planned time of the stage, including the warm-up.
    pub fn planned(&self) -> Duration {
        let locks = self.subjects.len() as u32;
        (self.cost_of_turn(0) + self.cost_of_turn(1) * self.turns as u32) * locks
    }

    /// The same stage with the lock that does nothing; `None` where one stage of its kind suffices.
    pub(super) fn emptied(&self, extent: Extent) -> Option<Self> {
        /// Long enough to distinguish nanoseconds.
        const ENOUGH: Duration = Duration::from_millis(10);
        if !self.emptied || self.subjects.iter().any(|subject| subject.info.name == NO_LOCK) {
            return None;
        }
        let most = if extent == Extent::Quick { 1 } else { 3 };
        let emptied = Self {
            subjects: vec![self.subjects.first()?.empty()],
            turns: self.turns.min(most),
            baseline: true,
            ..self.clone()
        };
        match self.workload.empty {
            EmptyLock::AmongLocks => None,
            EmptyLock::OneThread => {
                Some(Self { threads: 1, turn: self.turn.min(ENOUGH), ..emptied })
            }
            EmptyLock::AsAnyLock => Some(emptied),
            // Nothing is measured; the stage exists to carry the reason.
            EmptyLock::Never(_) => Some(Self {
                subjects: Vec::new(),
                threads: 0,
                turn: Duration::ZERO,
                turns: 0,
                ..emptied
            }),
        }
    }

    /// The length of a timed round in a turn. Turn 0 warms up, and is shorter.
    pub fn round(&self, turn: usize) -> Duration {
        if turn == 0 { self.turn / 4 } else { self.turn }
    }

    /// The planned time of one lock in a turn.
    pub fn cost_of_turn(&self, turn: usize) -> Duration {
        /// Creating and joining threads, starting a process: measured at 1 to 2 ms.
        const AROUND: Duration = Duration::from_millis(2);
        /// The same for each thread of a crowd, which is parked and woken one by one: measured at
        /// 100 to 200 µs.
        const EACH: Duration = Duration::from_micros(150);
        /// A run of 16 threads with a lock that neither leads nor collapses: measured at 10 to 60
        /// ms.
        const ONE_RUN: Duration = Duration::from_millis(40);
        let length = match (self.counted.is_some(), turn) {
            (false, _) => self.round(turn),
            // A warm-up is a sixteenth of a run.
            (true, 0) => ONE_RUN / 16,
            (true, _) => self.turn.max(ONE_RUN),
        };
        let crowd = if self.threads > CROWD { EACH * self.threads as u32 } else { Duration::ZERO };
        length.saturating_add(AROUND + crowd)
    }
}
