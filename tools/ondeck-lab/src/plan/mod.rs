//! The plan of a run: stages of cells, each with its share of the time.

mod stage;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ondeck::platform::{Native, Platform};
use ondeck_zoo::{Fairness, LockInfo};

use crate::alone::Helper;
use crate::environment::{Placement, Quota};
use crate::workload::face::{Group, Needs};
use crate::workload::{
    Asked, EmptyLock, Notify, Own, Schedule, Situation, Subject, WORKLOADS, WorkloadInfo,
    waiters_sleep,
};

pub use crate::workload::{Extent, PAIRS_PER_RUN};
pub use stage::{Counted, Stage};

/// A user's request; the extent chooses the fields that are unset.
#[derive(Clone, Debug)]
pub struct Request {
    /// How much to measure.
    pub extent: Extent,
    /// How many CPUs the machine has for threads.
    pub cpus: usize,
    /// Whether the machine is one of virtual time. Then the plan omits what only the real one can
    /// do: some workloads, warming up, and a process of one thread.
    pub simulated: bool,
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
    /// Work in the critical section and outside of it, in nanoseconds, instead of the suite's own
    /// pairs.
    pub work: Option<(u64, u64)>,
    /// Numbers of cache lines that a section reads and writes, for workloads that have such
    /// sections.
    pub data: Option<Vec<usize>>,
    /// Capacities of a bounded queue, for workloads that have one.
    pub capacities: Option<Vec<usize>>,
    /// When threads notify the waiters of a condition, for workloads that have one.
    pub notify: Option<Vec<Notify>>,
    /// Where and how threads run.
    pub placement: Placement,
    /// For how long no thread may make progress before a lock counts as stuck.
    pub stall_limit: Duration,
    /// How to measure in a process of one thread; without a helper this part is omitted.
    pub helper: Option<Helper>,
    /// The seed of the order in which locks take turns.
    pub seed: u64,
    /// Set from outside to end the run: the current round is dropped, and earlier results are kept.
    pub cancel: Arc<AtomicBool>,
}

impl Request {
    /// Requests everything of an extent with the default placement. A lock counts as stuck after
    /// 10 s; nothing is measured in a process of one thread; the seed is 1.
    pub fn of(extent: Extent) -> Self {
        Self {
            extent,
            cpus: Native::cpus(),
            simulated: false,
            locks: None,
            workloads: WORKLOADS.to_vec(),
            threads: None,
            round: None,
            rounds: None,
            work: None,
            data: None,
            capacities: None,
            notify: None,
            placement: Placement::default(),
            stall_limit: Duration::from_secs(10),
            helper: None,
            seed: 1,
            cancel: Arc::default(),
        }
    }

    /// The part of the request from which workloads choose their situations.
    fn asked(&self) -> Asked {
        Asked {
            extent: self.extent,
            cpus: self.cpus,
            threads: self.threads.clone(),
            work: self.work,
            data: self.data.clone(),
            capacities: self.capacities.clone(),
            notify: self.notify.clone(),
        }
    }

    /// What a round takes at least, whatever the workload.
    fn least_round(&self) -> Duration {
        if self.placement.quota.is_some() { Quota::LEAST_ROUND } else { Duration::ZERO }
    }

    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Turns a request into stages, in the order in which they run.
pub fn stages(request: &Request, everything: &[Subject]) -> Vec<Stage> {
    let chosen = |group: Group| {
        request.locks.clone().unwrap_or_else(|| {
            let group = if request.extent == Extent::Full { Group::All } else { group };
            crate::select::group(everything, group)
        })
    };
    let mut stages = Vec::new();
    let possible = |workload: &&WorkloadInfo| !request.simulated || workload.only_real.is_none();
    for workload in request.workloads.iter().filter(possible) {
        stages.extend(of_workload(request, workload, &chosen(workload.locks)));
    }
    stages
}

/// The stages of one workload.
fn of_workload(request: &Request, workload: &WorkloadInfo, subjects: &[Subject]) -> Vec<Stage> {
    let of_kind = subjects.iter().filter(|subject| subject.kind == workload.kind);
    let subjects: Vec<Subject> = of_kind.cloned().collect();
    if subjects.is_empty() {
        return Vec::new();
    }
    let (schedule, situations) = workload.situations(&request.asked());
    // Reports show the share for the most threads only, so the other rounds of a suite may be
    // shorter.
    let most = situations.iter().map(|situation| situation.threads).max().unwrap_or(0);
    let pace = |threads: usize| match (schedule, request.rounds) {
        (Schedule::Rounds(rounds), asked) => {
            let shares = request.extent == Extent::Full || threads == most;
            let length = if shares { rounds } else { rounds.short() }.length(threads, request.cpus);
            let length = length.max(request.least_round());
            (request.round.unwrap_or(length), asked.unwrap_or(rounds.turns), None)
        }
        // One run in each turn, so that the locks alternate after every run.
        (Schedule::Runs(runs), Some(asked)) => {
            let counted = Counted { most: asked, longest: runs.longest };
            (Duration::ZERO, asked, Some(counted))
        }
        (Schedule::Runs(runs), None) => {
            let turn = if runs.turn.is_zero() { None } else { request.round };
            let counted = Counted { most: runs.most, longest: runs.longest };
            (turn.unwrap_or(runs.turn), runs.turns, Some(counted))
        }
    };
    let empty = (workload.empty == EmptyLock::AmongLocks).then(|| subjects[0].empty());
    let stage = |situation: Situation<Own>| {
        let (turn, turns, counted) = pace(situation.threads);
        let locks = match schedule {
            Schedule::Rounds(_) => taking_part(request, workload, &subjects, situation.threads),
            // A run that takes too long is cut off.
            Schedule::Runs(_) => subjects.clone(),
        };
        let params = situation.params.into_iter();
        Stage {
            workload: *workload,
            subjects: empty.clone().into_iter().chain(locks).collect(),
            threads: situation.threads,
            work: situation.work,
            own: situation.own,
            emptied: situation.emptied,
            baseline: false,
            // The process of one thread is a new one, and the scheduler places it.
            placement: if situation.alone {
                Placement::default()
            } else {
                request.placement.clone()
            },
            alone: situation.alone,
            params: params.map(|(name, value)| (name.to_owned(), value)).collect(),
            turn,
            turns,
            counted,
        }
    };
    let helped = request.helper.is_some() && !request.simulated;
    let possible = |situation: &Situation<Own>| !situation.alone || helped;
    situations.into_iter().filter(possible).map(stage).collect()
}

/// The locks that are measured with this number of threads. A suite omits strict queues of spinners
/// unless the user names them: they hand off to threads that are off their CPUs, and a single round
/// takes seconds. Where other threads have to be parked, no spinner can take part.
fn taking_part(
    request: &Request,
    workload: &WorkloadInfo,
    subjects: &[Subject],
    threads: usize,
) -> Vec<Subject> {
    if workload.needs == Needs::SleepingWaiters && threads > 1 {
        return subjects.iter().filter(|lock| waiters_sleep(&lock.info)).cloned().collect();
    }
    let crowd = threads > 4 * request.cpus;
    let all = !crowd || request.locks.is_some() || request.extent == Extent::Full;
    let strict = |lock: &LockInfo| lock.fairness == Fairness::Fifo && !waiters_sleep(lock);
    subjects.iter().filter(|subject| all || !strict(&subject.info)).cloned().collect()
}

/// The stages that measure workloads with the lock that does nothing: one for each workload and its
/// parameters. In `uncontended` that lock takes turns with the others.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn name(stage: &Stage) -> String {
        format!("{} {} {:?}", stage.workload.name, stage.threads, stage.params)
    }

    fn planned(extent: Extent) -> Duration {
        let stages = stages(&Request::of(extent), &Subject::of_every_kind());
        let baselines = baselines(&stages, extent);
        baselines.iter().chain(&stages).map(Stage::planned).sum()
    }

    #[test]
    fn under_a_quota_a_round_takes_periods() {
        let quota = Some("1".parse().expect("there is a CPU"));
        let placement = Placement { quota, ..Placement::default() };
        let request = Request { placement, ..Request::of(Extent::Quick) };
        let stages = stages(&request, &Subject::all());
        let timed = stages.iter().filter(|stage| stage.workload.name == "throughput");
        assert!(timed.clone().count() > 0);
        for stage in timed {
            assert!(stage.turn >= Quota::LEAST_ROUND, "{}", name(stage));
        }
    }

    /// Checks the planned time, not the time it takes.
    #[test]
    fn extents_keep_to_the_time_that_is_documented() {
        // On one CPU rounds are longer, because shares need more time.
        if Native::cpus() > 1 {
            let (quick, suite) = (planned(Extent::Quick), planned(Extent::Suite));
            assert!(quick <= Duration::from_secs(30), "{quick:?}");
            assert!(suite <= Duration::from_mins(4), "{suite:?}");
        }
    }
}
