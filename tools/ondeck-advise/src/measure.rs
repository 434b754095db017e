//! The measurement for a piece of advice: the candidates in exactly that situation.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ondeck_lab::alone::Helper;
use ondeck_lab::environment::Placement;
use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::sample::share_needs;
use ondeck_lab::workload::{RWMIX, STARVE, Subject, THROUGHPUT, UNCONTENDED, WORKLOADS, param};

use super::figures::Place;
use super::use_case::{Need, Reads, UseCase};

/// Rounds of each lock: 10 against 10 show a difference at p below 0.0001, enough for all pairs of
/// more locks than there are.
const ROUNDS: usize = 10;

/// Rounds that search for gaps. They are not tested: the greatest gap counts.
const ROUNDS_OF_GAPS: usize = 4;

/// No round is shorter: creating threads takes a millisecond or two.
const SHORTEST: Duration = Duration::from_millis(10);

/// The workload that ranks locks where several threads use them.
pub fn workload(situation: &UseCase) -> &'static str {
    if situation.reads == Reads::NONE { THROUGHPUT } else { RWMIX }
}

/// The places of the situation's figures in a report.
pub fn places(situation: &UseCase) -> Vec<Place> {
    if situation.threads == 1 {
        return vec![Place::alone()];
    }
    if situation.reads != Reads::NONE {
        let work = (situation.section_ns, situation.outside_ns);
        let mut place = Place::working(RWMIX, situation.threads, work);
        place.params.insert(param::WRITES.to_owned(), situation.reads.writes());
        return vec![place];
    }
    let work = (situation.section_ns, situation.outside_ns);
    let place = |workload| Place::working(workload, situation.threads, work);
    vec![place(THROUGHPUT), place(STARVE)]
}

/// The other inputs of a measurement.
#[derive(Clone, Debug)]
pub struct Means {
    /// Its approximate time.
    pub time: Duration,
    /// How to measure in a process of one thread.
    pub helper: Option<Helper>,
    /// Where threads run.
    pub placement: Placement,
    /// For how long no thread may make progress before a lock counts as stuck.
    pub stall_limit: Duration,
    /// The seed of the order in which locks take turns.
    pub seed: u64,
    /// Set from outside to end the run.
    pub cancel: Arc<AtomicBool>,
}

/// The run that measures candidates in the situation.
pub fn plan(situation: &UseCase, candidates: &[Subject], means: &Means) -> (Request, Vec<Stage>) {
    let base = Request {
        locks: Some(candidates.to_vec()),
        workloads: Vec::new(),
        placement: means.placement.clone(),
        stall_limit: means.stall_limit,
        helper: means.helper.clone(),
        seed: means.seed,
        cancel: Arc::clone(&means.cancel),
        ..Request::of(Extent::Suite)
    };
    let stage = |workload: &str, rounds: usize, round: Duration| {
        let request = Request {
            workloads: WORKLOADS.iter().filter(|info| info.name == workload).copied().collect(),
            threads: Some(vec![situation.threads]),
            work: Some((situation.section_ns, situation.outside_ns)),
            rounds: Some(rounds),
            round: Some(round),
            ..base.clone()
        };
        let mut stages = plan::stages(&request, candidates);
        if workload == RWMIX {
            let writes = situation.reads.writes();
            stages.retain(|stage| stage.params.get(param::WRITES) == Some(&writes));
        }
        stages
    };
    let locks = candidates.len().max(1) as u32;
    if situation.threads == 1 {
        let round = (means.time / (ROUNDS as u32 + 1) / locks).clamp(SHORTEST, SHORTEST * 10);
        let mut stages = stage(UNCONTENDED, ROUNDS, round);
        stages.retain(|stage| stage.alone);
        return (base, stages);
    }

    let mut stages = Vec::new();
    let mut left = means.time;
    if situation.fairness != Need::None && situation.reads == Reads::NONE {
        // Several windows that a thread can miss, and enough for a share.
        let round =
            Duration::from_millis(110).max(share_needs(situation.threads, base.cpus).mul_f64(1.1));
        stages.extend(stage(STARVE, ROUNDS_OF_GAPS, round));
        left = left.saturating_sub(round * (ROUNDS_OF_GAPS as u32 + 1) * locks);
    }
    let round = (left / (ROUNDS as u32 + 1) / locks).max(SHORTEST);
    stages.extend(stage(workload(situation), ROUNDS, round));
    (base, stages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::use_case::tests::plain;

    fn means() -> Means {
        Means {
            time: Duration::from_secs(15),
            helper: Some(Helper { program: "ondeck".into(), arguments: Vec::new() }),
            placement: Placement::default(),
            stall_limit: Duration::from_secs(10),
            seed: 1,
            cancel: Arc::default(),
        }
    }

    #[test]
    fn the_situation_is_measured_in_about_the_time() {
        let candidates: Vec<_> = Subject::all().into_iter().take(6).collect();
        let (_, stages) = plan(&plain(), &candidates, &means());
        let found: Vec<_> =
            stages.iter().map(|stage| (stage.workload.name, stage.threads, stage.work)).collect();
        assert_eq!(found, [("throughput", 8, (100, 500))]);
        let planned: Duration = stages.iter().map(Stage::planned).sum();
        assert!(planned < Duration::from_secs(17), "{planned:?}");
        for place in places(&plain()).iter().take(1) {
            assert!(stages.iter().any(|stage| stage.params == place.params), "{place:?}");
        }
    }

    #[test]
    fn gaps_are_looked_for_where_fairness_is_needed() {
        let some = UseCase { fairness: Need::Some, ..plain() };
        let (_, stages) = plan(&some, &Subject::all()[..2], &means());
        assert!(stages.iter().any(|stage| stage.workload.name == "starve"));
        assert!(stages.iter().any(|stage| stage.params == places(&some)[1].params));
    }

    #[test]
    fn reads_and_writes_are_measured_in_the_mix_that_was_asked_for() {
        let reads = UseCase { reads: "99.9".parse().expect("a mix"), ..plain() };
        let (_, stages) = plan(&reads, &crate::subjects(&reads), &means());
        assert_eq!(stages.len(), 1);
        for stage in &stages {
            assert_eq!((stage.workload.name, stage.params[param::WRITES].as_str()), (RWMIX, "0.1"));
        }
        assert_eq!(stages[0].params, places(&reads)[0].params);
    }

    #[test]
    fn one_thread_is_measured_in_a_process_of_its_own() {
        let one = UseCase { threads: 1, ..plain() };
        let (_, stages) = plan(&one, &Subject::all()[..2], &means());
        assert!(stages.len() == 1 && stages[0].alone);
        assert_eq!(stages[0].params, places(&one)[0].params);
    }
}
