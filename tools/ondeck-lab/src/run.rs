//! Carries out a plan. Locks take turns round by round, in an order that is shuffled for every
//! round, so that a disturbance of the machine affects all of them alike.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use hdrhistogram::Histogram;

use crate::alone::{self, AloneError};
use crate::plan::{PAIRS_PER_RUN, Request, Stage};
use crate::results::{Baseline, Failure, FailureKind, Series};
use crate::sample::{CPU_PER_OP, Sample, histogram};
use crate::summary::{self, Spread};
use crate::team::{TeamError, TeamSetting};
use crate::work::Work;
use crate::workload::{EmptyLock, Round, Subject};

/// Receives the events of a run.
pub trait Observer {
    /// A lock's turn begins; receives the stage, the lock, and the planned time that has passed.
    fn turn(&mut self, stage: &Stage, lock: &str, behind: Duration);
    /// A lock has failed. It is left out of the rest of the stage and, if it hung, of the rest of
    /// the run.
    fn failed(&mut self, failure: &Failure);
    /// A stage has ended; receives the series of all stages so far.
    fn ended(&mut self, _series: &[Series]) {}
}

/// The outcome of a plan.
#[derive(Debug, Default)]
pub struct Results {
    /// One for each stage and lock that yielded at least one sample.
    pub series: Vec<Series>,
    /// What each workload costs with a lock that does nothing.
    pub baselines: Vec<Baseline>,
    /// Locks that failed.
    pub failures: Vec<Failure>,
    /// Whether the run was cancelled.
    pub cancelled: bool,
}

/// Samples of one lock in one stage, as they come in.
struct Collected {
    samples: Vec<Sample>,
    times: Option<Histogram<u64>>,
    turns: usize,
}

impl Collected {
    fn series(&self, stage: &Stage, subject: &Subject) -> Series {
        let partial = self.turns < stage.turns;
        summary::series(stage, subject, &self.samples, self.times.as_ref(), partial)
    }
}

/// Carries out the stages one after the other.
pub fn run(request: &Request, stages: &[Stage], observer: &mut dyn Observer) -> Results {
    let mut results = Results::default();
    let mut rng = Rng::with_seed(request.seed);
    let mut behind = Duration::ZERO;
    // A lock that hung is not tried again: each attempt costs the stall limit, and its frozen
    // threads keep their memory.
    let mut dead: HashSet<&'static str> = HashSet::new();
    for stage in stages {
        if request.is_cancelled() {
            break;
        }
        run_stage(request, stage, observer, &mut rng, behind, &mut dead, &mut results);
        behind += stage.planned();
        observer.ended(&results.series);
    }
    results.cancelled = request.is_cancelled();
    results
}

fn run_stage(
    request: &Request,
    stage: &Stage,
    observer: &mut dyn Observer,
    rng: &mut Rng,
    behind: Duration,
    dead: &mut HashSet<&'static str>,
    results: &mut Results,
) {
    let (section, outside) = (Work::of_nanos(stage.work.0), Work::of_nanos(stage.work.1));
    let given = Round {
        team: TeamSetting {
            threads: stage.threads,
            placement: stage.placement.clone(),
            // A section longer than the limit is not a stall.
            stall_limit: request.stall_limit + section.duration() + outside.duration(),
            cancel: Arc::clone(&request.cancel),
        },
        length: stage.turn,
        section,
        outside,
        pairs: PAIRS_PER_RUN,
        longest_run: stage.counted.and_then(|counted| counted.longest).unwrap_or(Duration::MAX),
    };
    let warm_up = Round { length: stage.round(0), pairs: PAIRS_PER_RUN / 16, ..given.clone() };

    let mut collected: Vec<_> = stage
        .subjects
        .iter()
        .map(|_| Collected { samples: Vec::new(), times: None, turns: 0 })
        .collect();
    let mut done = behind;
    // Locks that cannot be measured in this stage, whatever the reason.
    let mut out: HashSet<&'static str> = HashSet::new();
    // Turn 0 warms up caches, branch predictors, page tables, and the lazy parts of the lock. A
    // machine of virtual time starts each round afresh.
    for turn in usize::from(request.simulated)..=stage.turns {
        let mut order: Vec<usize> = (0..stage.subjects.len()).collect();
        rng.shuffle(&mut order);
        for index in order {
            let subject = &stage.subjects[index];
            let name = subject.info.name;
            if request.is_cancelled() {
                break;
            }
            observer.turn(stage, name, done);
            done += stage.cost_of_turn(turn);
            if dead.contains(name) || out.contains(name) {
                continue;
            }
            let outcome = if turn == 0 {
                measure(request, stage, subject, &warm_up).map(|_| ())
            } else {
                let collected = &mut collected[index];
                let outcome = take_turn(request, stage, subject, &given, collected);
                collected.turns += usize::from(outcome.is_ok());
                outcome
            };
            match outcome {
                Ok(()) | Err(NoSample::Cancelled) => {}
                Err(NoSample::Failed(failure)) => {
                    observer.failed(&failure);
                    // The system may grant to few threads what it refuses to many. A lock that hung
                    // would hang again, and each attempt costs the stall limit.
                    if failure.kind == FailureKind::Refused.word() {
                        out.insert(name);
                    } else {
                        dead.insert(name);
                    }
                    results.failures.push(*failure);
                }
            }
        }
    }

    if stage.baseline {
        // A workload that cannot be measured with this lock has no samples; its baseline gives the
        // reason.
        let samples = collected.first().map_or(&[][..], |collected| &collected.samples);
        results.baselines.push(baseline(stage, samples));
        return;
    }
    for (subject, collected) in stage.subjects.iter().zip(collected) {
        if !collected.samples.is_empty() {
            results.series.push(collected.series(stage, subject));
        }
    }
}

/// What an operation costs with the lock that does nothing.
fn baseline(stage: &Stage, samples: &[Sample]) -> Baseline {
    let costs: Vec<f64> = samples.iter().filter_map(|sample| sample.value(CPU_PER_OP)).collect();
    let spread = Spread::of(&costs);
    let unmeasured = || match (costs.is_empty(), samples.is_empty()) {
        (false, _) => None,
        (true, true) => Some("the run ended before".to_owned()),
        (true, false) => Some("the system does not report the CPU time of threads".to_owned()),
    };
    Baseline {
        workload: stage.workload.name.to_owned(),
        params: stage.params.clone(),
        threads: stage.threads,
        median: spread.median,
        p25: spread.p25,
        p75: spread.p75,
        n: costs.len(),
        missing: match stage.workload.empty {
            EmptyLock::Never(reason) => Some(reason.to_owned()),
            EmptyLock::OneThread | EmptyLock::AsAnyLock | EmptyLock::AmongLocks => unmeasured(),
        },
    }
}

/// Why a turn yielded no sample.
enum NoSample {
    Failed(Box<Failure>),
    Cancelled,
}

/// One turn: a round of a timed workload, or runs of a counted one until the turn's time is over.
fn take_turn(
    request: &Request,
    stage: &Stage,
    subject: &Subject,
    given: &Round,
    collected: &mut Collected,
) -> Result<(), NoSample> {
    let (start, mut simulated) = (Instant::now(), Duration::ZERO);
    let most = stage.counted.map_or(usize::MAX, |counted| counted.most);
    while collected.samples.len() < most {
        let mut sample = measure(request, stage, subject, given)?;
        if let Some(times) = sample.times.take() {
            // Both have the same bounds, so nothing can be out of range.
            let _ = collected.times.get_or_insert_with(histogram).add(&times);
        }
        simulated += sample.span;
        collected.samples.push(sample);
        // By the clock of the machine: otherwise the number of runs would depend on the speed of
        // the host.
        let spent = if request.simulated { simulated } else { start.elapsed() };
        if stage.counted.is_none() || spent >= stage.turn {
            break;
        }
    }
    Ok(())
}

fn measure(
    request: &Request,
    stage: &Stage,
    subject: &Subject,
    given: &Round,
) -> Result<Sample, NoSample> {
    let failure = |kind: FailureKind, message: String, thread_states: Vec<String>| {
        NoSample::Failed(Box::new(Failure {
            workload: stage.workload.name.to_owned(),
            lock: subject.info.name.to_owned(),
            threads: stage.threads,
            kind: kind.to_string(),
            message,
            thread_states,
        }))
    };
    let name = subject.info.name;
    if let (true, Some(helper)) = (stage.alone, &request.helper) {
        return alone::measure(helper, name, given.length, request.stall_limit, &request.cancel)
            .map(|pairs| Sample::of_pairs(&pairs))
            .map_err(|error| {
                let message = error.to_string();
                match error {
                    AloneError::Cancelled => NoSample::Cancelled,
                    AloneError::Stuck { state, .. } => {
                        failure(FailureKind::Deadlock, message, vec![state])
                    }
                    AloneError::NoAnswer(_) => failure(FailureKind::Crashed, message, Vec::new()),
                    AloneError::Start(_) => failure(FailureKind::Refused, message, Vec::new()),
                }
            });
    }
    let workload = stage.workload.name;
    subject.round(workload, given, &stage.own).map_err(|error| match error {
        TeamError::Cancelled => NoSample::Cancelled,
        error => NoSample::Failed(Box::new(Failure::of(workload, name, stage.threads, error))),
    })
}

impl Failure {
    /// Describes why a team did not come to its end with a lock.
    pub fn of(workload: &str, lock: &str, threads: usize, error: TeamError) -> Self {
        let message = error.to_string();
        let (kind, thread_states) = match error {
            TeamError::Stuck { states, .. } => (FailureKind::Deadlock, states),
            TeamError::NoThread { .. } | TeamError::Refused(_) => (FailureKind::Refused, vec![]),
            TeamError::Broken { .. } => (FailureKind::Broken, vec![]),
            TeamError::Panicked | TeamError::Cancelled => (FailureKind::Crashed, vec![]),
        };
        Self {
            workload: workload.to_owned(),
            lock: lock.to_owned(),
            threads,
            kind: kind.to_string(),
            message,
            thread_states,
        }
    }
}
