//! What a run will measure: stages of cells, each with its share of the time.

mod company;
mod conditions;
mod situation;
mod stages;
mod timed;
mod waiting;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ondeck_zoo::RawLock;

use crate::alone::Helper;
use crate::environment::Placement;
use crate::team::CROWD;
use crate::workload::{EmptyLock, NoLock, Notify, Subject, WorkloadInfo};

pub(crate) use conditions::CONDITIONS;
pub use conditions::Condition;

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Under 30 seconds: to see that everything works.
    Quick,
    /// Some four minutes.
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
    /// Critical section and outside work in nanoseconds, instead of the suite's own pairs.
    pub work: Option<(u64, u64)>,
    /// Capacities of a bounded queue, for workloads that have one.
    pub capacities: Option<Vec<usize>>,
    /// When threads notify those that wait for a condition, for workloads that have one.
    pub notify: Option<Vec<Notify>>,
    /// Where and how threads run; several are measured against each other. At least one.
    pub placements: Vec<Placement>,
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
    /// How many items fit into a queue, or locks are in an array; 0 where there is none to choose.
    pub capacity: usize,
    /// Which of several, in a word; empty where there is but one.
    pub variant: &'static str,
    /// Whether it is measured with the lock that does nothing, to see what the workload costs.
    pub baseline: bool,
    /// What threads run under; several take turns. At least one.
    pub conditions: Vec<Condition>,
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
        let cells = (self.subjects.len() * self.conditions.len()) as u32;
        (self.cost_of_turn(0) + self.cost_of_turn(1) * self.turns as u32) * cells
    }

    /// Parameters as they stand in reports, of the series under one of the conditions.
    pub fn params_under(&self, condition: usize) -> BTreeMap<String, String> {
        let mut params = self.params.clone();
        params.extend(self.conditions[condition].params.clone());
        params
    }

    /// The same with the lock that does nothing; none where one of its kind is enough.
    fn emptied(&self, extent: Extent) -> Option<Self> {
        /// Long enough to tell nanoseconds.
        const ENOUGH: Duration = Duration::from_millis(10);
        let (threads, turn) = match self.workload.empty {
            _ if self.subjects.iter().any(|subject| subject.info.name == NoLock::INFO.name) => {
                return None;
            }
            // Of the patterns of handoff only this has one thread.
            _ if self.params.get("pattern").is_some_and(|pattern| pattern != "solo") => {
                return None;
            }
            EmptyLock::OneThread => (1, self.turn.min(ENOUGH)),
            EmptyLock::AsAnyLock => (self.threads, self.turn),
            EmptyLock::Never(_) => (0, Duration::ZERO),
        };
        let most = if extent == Extent::Quick { 1 } else { 3 };
        let (turns, subjects) = if threads == 0 {
            (0, Vec::new())
        } else {
            (self.turns.min(most), vec![Subject::baseline()])
        };
        let conditions = self.conditions.iter().take(1).cloned().collect();
        Some(Self { subjects, threads, turn, turns, baseline: true, conditions, ..self.clone() })
    }

    /// How long a timed round is in a turn; turn 0 warms up, and is shorter.
    pub fn round(&self, turn: usize) -> Duration {
        if turn == 0 { self.turn / 4 } else { self.turn }
    }

    /// The time that one lock is meant to take in a turn.
    pub fn cost_of_turn(&self, turn: usize) -> Duration {
        /// Making threads, joining them, starting a process: measured at 1 to 2 ms.
        const AROUND: Duration = Duration::from_millis(2);
        /// The same for each of a crowd, which is parked and woken one by one: measured at 100 to
        /// 200 µs.
        const EACH: Duration = Duration::from_micros(150);
        /// A run of 16 threads with a lock that neither leads nor collapses: measured at 10 to 60 ms.
        const ONE_RUN: Duration = Duration::from_millis(40);
        let length = match (self.workload.counted, turn) {
            (false, _) => self.round(turn),
            // A warm-up is a sixteenth of a run.
            (true, 0) => ONE_RUN / 16,
            (true, _) => self.turn.max(ONE_RUN),
        };
        let crowd = if self.threads > CROWD { EACH * self.threads as u32 } else { Duration::ZERO };
        length.saturating_add(AROUND + crowd)
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
        stages.extend(match workload.name {
            "uncontended" => uncontended(request, *workload, &chosen("all")),
            _ if workload.counted => counted(request, *workload, &chosen("runs")),
            "throughput" | "handoff" => stages::stages(request, *workload, &chosen("headline")),
            "bystander" | "background" => stages::stages(request, *workload, &chosen("beside")),
            "mixed_priority" => stages::stages(request, *workload, &chosen("inversion")),
            _ => stages::stages(request, *workload, &chosen("crowd")),
        });
    }
    stages
}

/// The stages in which workloads are measured with the lock that does nothing: one for each workload
/// and its parameters. In `uncontended` that lock is one of those that take turns.
pub fn baselines(stages: &[Stage], extent: Extent) -> Vec<Stage> {
    let mut baselines: Vec<Stage> = Vec::new();
    for stage in stages.iter().filter_map(|stage| stage.emptied(extent)) {
        let same = |other: &Stage| {
            other.workload.name == stage.workload.name && other.params == stage.params
        };
        if !baselines.iter().any(same) {
            baselines.push(stage);
        }
    }
    baselines
}

fn uncontended(request: &Request, workload: WorkloadInfo, subjects: &[Subject]) -> Vec<Stage> {
    let (turn, turns) = match request.extent {
        Extent::Quick => (Duration::from_millis(2), 3),
        Extent::Suite => (Duration::from_millis(6), 5),
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
        variant: "",
        baseline: false,
        // A process of one thread is started anew, and placed by nobody.
        conditions: if alone { vec![Condition::default()] } else { request.conditions() },
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
        Extent::Suite => (Duration::from_millis(150), 2),
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
        Extent::Suite => Duration::from_secs(1),
        Extent::Full => Duration::MAX,
    };
    let counts = request.threads.clone().unwrap_or_else(|| vec![RUN_THREADS]);
    let stage = |threads| Stage {
        workload,
        subjects: subjects.to_vec(),
        threads,
        work: (0, 0),
        capacity: 0,
        variant: "",
        baseline: false,
        conditions: request.conditions(),
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
pub(super) mod tests {
    use ondeck::platform::{Linux, Platform};

    use super::*;
    use crate::shard::Shard;
    use crate::workload::WORKLOADS;

    fn name(stage: &Stage) -> String {
        format!("{} {} {:?}", stage.workload.name, stage.threads, stage.params)
    }

    pub(in crate::plan) fn request(extent: Extent) -> Request {
        Request {
            extent,
            locks: None,
            workloads: WORKLOADS.to_vec(),
            threads: None,
            round: None,
            rounds: None,
            work: None,
            capacities: None,
            notify: None,
            placements: vec![Placement::default()],
            stall_limit: Duration::from_secs(10),
            helper: None,
            seed: 1,
            cancel: Arc::default(),
        }
    }

    fn planned(extent: Extent) -> Duration {
        let stages = stages(&request(extent), &Subject::all());
        let baselines = baselines(&stages, extent);
        baselines.iter().chain(&stages).map(Stage::planned).sum()
    }

    #[test]
    fn every_stage_is_in_exactly_one_shard_and_whole() {
        let everything = Subject::all();
        for extent in [Extent::Quick, Extent::Suite, Extent::Full] {
            let campaign = stages(&request(extent), &everything);
            let subjects = |stage: &Stage| stage.subjects.len();
            let mut expected: Vec<_> =
                campaign.iter().map(|stage| (name(stage), subjects(stage))).collect();
            expected.sort();
            for of in [1, 2, 3, 7, campaign.len(), campaign.len() + 5] {
                let mut dealt = Vec::new();
                for index in 1..=of {
                    let shard = Shard { index, of };
                    let part = shard.deal(campaign.clone());
                    dealt.extend(part.iter().map(|stage| (name(stage), subjects(stage))));
                    assert!(part.len().abs_diff(campaign.len() / of) <= 1, "{shard}");
                }
                dealt.sort();
                assert_eq!(dealt, expected, "{of} shards");
            }
        }
    }

    /// What is planned, not what it takes.
    #[test]
    fn extents_keep_to_the_time_that_is_documented() {
        // On one CPU rounds are longer, until shares can be told.
        if Linux::cpus() > 1 {
            let (quick, suite) = (planned(Extent::Quick), planned(Extent::Suite));
            assert!(quick <= Duration::from_secs(30), "{quick:?}");
            assert!(suite <= Duration::from_mins(4), "{suite:?}");
        }
    }
}
