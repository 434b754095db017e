//! What a run will measure: stages of cells, each with its share of the time.

pub mod shard;
mod timed;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::alone::Helper;
use crate::environment::Placement;
use crate::workload::{Subject, WorkloadInfo};

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Under 25 seconds: to see that everything works.
    Quick,
    /// Some five minutes.
    Suite,
    /// As the sources did: 100 runs of `wait`, 1,000 of `idle`, every lock. Hours, with locks that
    /// collapse.
    Full,
}

/// What a user asks for; unset fields are chosen by the extent.
#[derive(Clone, Debug)]
pub struct Request {
    /// How much to measure.
    pub extent: Extent,
    /// The locks, or the extent's own choice for each workload.
    pub locks: Option<Vec<Subject>>,
    /// The workloads.
    pub workloads: Vec<WorkloadInfo>,
    /// Numbers of threads, for every workload that has a choice.
    pub threads: Option<Vec<usize>>,
    /// Length of a timed round.
    pub round: Option<Duration>,
    /// Rounds of each series; runs of counted workloads.
    pub rounds: Option<usize>,
    /// Critical section and outside work in nanoseconds, instead of the suite's two pairs.
    pub work: Option<(u64, u64)>,
    /// Where threads run.
    pub placement: Placement,
    /// For how long nobody may make progress before a lock counts as stuck.
    pub stall_limit: Duration,
    /// How to measure in a process of one thread; without it that part is left out.
    pub helper: Option<Helper>,
    /// The seed of the order in which locks take turns.
    pub seed: u64,
    /// Set from outside to end the run: the round under way is dropped, what was measured is kept.
    pub cancel: Arc<AtomicBool>,
}

impl Request {
    /// Whether the run is to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

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
    /// How many items fit into a queue; 0 where there is none to choose.
    pub capacity: usize,
    /// In a process of one thread.
    pub alone: bool,
    /// Parameters as they stand in reports.
    pub params: BTreeMap<String, String>,
    /// How long a turn of a timed workload is, or how long runs of a counted one are repeated in
    /// a turn.
    pub turn: Duration,
    /// How many turns each lock has.
    pub turns: usize,
    /// Runs after which a counted workload has enough.
    pub most_runs: usize,
    /// When a run of a counted workload is cut off: locks that collapse would take minutes.
    pub longest_run: Duration,
}

impl Stage {
    /// The time that the stage is meant to take, warm-up included.
    pub fn planned(&self) -> Duration {
        self.cost_of_turn() * (self.turns as u32 + 1) * self.subjects.len() as u32
    }

    /// The time that one turn of one lock is meant to take.
    pub fn cost_of_turn(&self) -> Duration {
        /// Making threads, joining them, starting a process: measured at 1 to 2 ms.
        const AROUND: Duration = Duration::from_millis(2);
        /// A run of 16 threads with a lock that neither leads nor collapses: measured at 10 to 60 ms.
        const ONE_RUN: Duration = Duration::from_millis(40);
        let turn = if self.workload.counted { self.turn.max(ONE_RUN) } else { self.turn };
        turn.saturating_add(AROUND)
    }
}

/// Pairs of each thread in a run of `wait` and `idle`: the source's number.
pub const PAIRS_PER_RUN: u32 = 16_384;

/// Threads of `wait` and `idle`: the source's number.
const RUN_THREADS: usize = 16;

/// Turns a request into stages, in the order in which they run.
pub fn stages(request: &Request, everything: &[Subject]) -> Vec<Stage> {
    let chosen = |group: &str| {
        request.locks.clone().unwrap_or_else(|| {
            let group = if request.extent == Extent::Full { "all" } else { group };
            crate::select::locks(everything, &[group.to_owned()]).unwrap_or_default()
        })
    };
    let mut stages = Vec::new();
    for workload in &request.workloads {
        match workload.name {
            "uncontended" => stages.extend(uncontended(request, *workload, &chosen("all"))),
            _ if workload.counted => stages.extend(counted(request, *workload, &chosen("runs"))),
            "throughput" | "handoff" => {
                stages.extend(timed::stages(request, *workload, &chosen("headline")));
            }
            _ => stages.extend(timed::stages(request, *workload, &chosen("crowd"))),
        }
    }
    stages
}

fn uncontended(request: &Request, workload: WorkloadInfo, subjects: &[Subject]) -> Vec<Stage> {
    let (turn, turns) = match request.extent {
        Extent::Quick => (Duration::from_millis(2), 3),
        Extent::Suite => (Duration::from_millis(10), 7),
        Extent::Full => (Duration::from_millis(50), 15),
    };
    let mut with_baseline = vec![Subject::baseline()];
    with_baseline.extend(subjects.iter().cloned());
    let stage = |alone: bool| Stage {
        workload,
        subjects: with_baseline.clone(),
        threads: 1,
        work: (0, 0),
        capacity: 0,
        alone,
        params: [(
            "process".to_owned(),
            if alone { "single-threaded" } else { "multi-threaded" }.to_owned(),
        )]
        .into(),
        turn: request.round.unwrap_or(turn),
        turns: request.rounds.unwrap_or(turns),
        most_runs: usize::MAX,
        longest_run: Duration::MAX,
    };
    let mut stages = vec![stage(false)];
    if request.helper.is_some() {
        stages.push(stage(true));
    }
    stages
}

fn counted(request: &Request, workload: WorkloadInfo, subjects: &[Subject]) -> Vec<Stage> {
    // The source makes ten times as many runs of `idle`, because long idles are rarer.
    let source_runs = if workload.name == "idle" { 1_000 } else { 100 };
    let (turn, turns) = match request.extent {
        Extent::Quick => (Duration::from_millis(1), 1),
        Extent::Suite => (Duration::from_millis(250), 3),
        Extent::Full => (Duration::MAX, 1),
    };
    let (turn, turns, most_runs) = match request.rounds {
        // One run a turn, so that the locks take turns run by run.
        Some(runs) => (Duration::ZERO, runs, runs),
        None if request.extent == Extent::Full => (Duration::ZERO, source_runs, source_runs),
        None => (request.round.unwrap_or(turn), turns, source_runs),
    };
    let longest_run = match request.extent {
        Extent::Quick => Duration::from_millis(300),
        Extent::Suite => Duration::from_secs(2),
        Extent::Full => Duration::MAX,
    };
    let counts = request.threads.clone().unwrap_or_else(|| vec![RUN_THREADS]);
    let stage = |threads| Stage {
        workload,
        subjects: subjects.to_vec(),
        threads,
        work: (0, 0),
        capacity: 0,
        alone: false,
        params: [("pairs_per_thread".to_owned(), PAIRS_PER_RUN.to_string())].into(),
        turn,
        turns,
        most_runs,
        longest_run,
    };
    counts.into_iter().map(stage).collect()
}

#[cfg(test)]
mod tests {
    use ondeck::platform::{Linux, Platform};

    use super::*;
    use crate::workload::WORKLOADS;

    pub(super) fn request(extent: Extent) -> Request {
        Request {
            extent,
            locks: None,
            workloads: WORKLOADS.to_vec(),
            threads: None,
            round: None,
            rounds: None,
            work: None,
            placement: Placement::default(),
            stall_limit: Duration::from_secs(10),
            helper: None,
            seed: 1,
            cancel: Arc::default(),
        }
    }

    fn planned(extent: Extent) -> Duration {
        stages(&request(extent), &Subject::all()).iter().map(Stage::planned).sum()
    }

    /// What is planned, not what it takes; a warm-up is planned as a whole turn.
    #[test]
    fn extents_keep_to_the_time_that_is_documented() {
        // On one CPU rounds are longer, until shares can be told.
        if Linux::cpus() > 1 {
            let (quick, suite) = (planned(Extent::Quick), planned(Extent::Suite));
            assert!(quick <= Duration::from_secs(25), "{quick:?}");
            assert!(suite <= Duration::from_mins(6), "{suite:?}");
        }
    }
}
