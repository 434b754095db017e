//! The laboratory on another machine than the real one: each workload measures there, but those that say why not.
//!
//! The machine here has real threads, and differs from Linux in what the laboratory has to ask it for: the
//! number of CPUs, and its part of a team's life.

mod elsewhere {
    pub mod machine;
}

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::results::Failure;
use ondeck_lab::run::{self, Observer};
use ondeck_lab::team::TeamError;
use ondeck_lab::work::Work;
use ondeck_lab::workload::face::Needs;
use ondeck_lab::workload::{NO_LOCK, Own, Round, Subject, WORKLOADS, WorkloadInfo};
use ondeck_zoo::Origin;

use elsewhere::machine::{CPUS, Elsewhere, calls};

/// Held by the tests that count what the machine was asked for.
static COUNTED: Mutex<()> = Mutex::new(());

fn counted() -> MutexGuard<'static, ()> {
    COUNTED.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Silent;

impl Observer for Silent {
    fn turn(&mut self, _: &Stage, _: &str, _: Duration) {}
    fn failed(&mut self, _: &Failure) {}
}

/// This project's own lock of each kind.
fn own_locks() -> Vec<Subject> {
    let all = Subject::of_every_kind_on::<Elsewhere>();
    all.into_iter().filter(|lock| lock.info.origin == Origin::Own).collect()
}

fn request(workload: &WorkloadInfo) -> Request {
    Request {
        cpus: CPUS,
        simulated: true,
        locks: Some(own_locks()),
        workloads: vec![*workload],
        round: Some(Duration::from_millis(5)),
        rounds: Some(1),
        work: Some((0, 0)),
        ..Request::of(Extent::Quick)
    }
}

#[test]
fn every_workload_measures_there_or_says_why_not() {
    let _counted = counted();
    for workload in WORKLOADS {
        let mut request = request(workload);
        // As few threads as it can have: this is about the machine.
        request.threads = Some(vec![if workload.needs == Needs::SleepingWaiters { 1 } else { 2 }]);
        let stages = plan::stages(&request, &[]);
        if let Some(why) = workload.only_real {
            assert!(stages.is_empty(), "{}", workload.name);
            assert!(!why.is_empty());
            continue;
        }
        let before = calls();
        let results = run::run(&request, &stages, &mut Silent);
        assert!(results.failures.is_empty(), "{}: {:?}", workload.name, results.failures);
        let cells: usize = stages.iter().map(|stage| stage.subjects.len()).sum();
        assert_eq!(results.series.len(), cells, "{}", workload.name);
        for series in &results.series {
            assert!(!series.metrics.is_empty(), "{}", workload.name);
        }
        let after = calls();
        assert!(after.teams > before.teams, "{}: the machine made no team", workload.name);
        // A machine of virtual time would not see its data otherwise; atomics of its own it sees.
        let unseen = ["once", "semaphore", "barrier"];
        if workload.shares_data && !unseen.contains(&workload.name) {
            assert!(after.touches > before.touches, "{}: no data was touched", workload.name);
        }
    }
}

#[test]
fn the_empty_lock_of_a_plan_is_on_the_same_machine() {
    let _counted = counted();
    let throughput = WORKLOADS.iter().find(|info| info.name == "throughput").expect("it is");
    let request = Request { threads: Some(vec![1]), ..request(throughput) };
    let stages = plan::stages(&request, &[]);
    let baselines = plan::baselines(&stages, Extent::Quick);
    assert_eq!(baselines.len(), 1);
    assert_eq!(baselines[0].subjects[0].info.name, NO_LOCK);
    let before = calls();
    let results = run::run(&request, &baselines, &mut Silent);
    assert!(results.failures.is_empty() && results.baselines[0].n > 0, "{results:?}");
    assert!(calls().teams > before.teams, "it was measured on another machine");
}

#[test]
fn plans_go_by_the_cpus_of_the_machine() {
    let named = |name: &str| WORKLOADS.iter().find(|info| info.name == name).expect(name);
    for (workload, times) in [("many_locks", 2), ("bystander", 1)] {
        let threads = |cpus: usize| -> Vec<usize> {
            let request = Request { cpus, extent: Extent::Suite, ..request(named(workload)) };
            plan::stages(&request, &[]).iter().map(|stage| stage.threads).collect()
        };
        let more = if workload == "bystander" { 2 } else { 0 };
        for cpus in [3, 96] {
            let counts = threads(cpus);
            assert!(!counts.is_empty(), "{workload}");
            assert!(counts.iter().all(|&count| count == times * cpus + more), "{counts:?}");
        }
    }
}

#[test]
fn a_workload_about_the_real_machine_is_refused_with_its_reason() {
    let lock = own_locks().remove(0);
    let given = Round {
        team: elsewhere::machine::setting(2),
        length: Duration::from_millis(1),
        section: Work::of_nanos(0),
        outside: Work::of_nanos(0),
        pairs: 1,
        longest_run: Duration::MAX,
    };
    let error = lock.round("mixed_priority", &given, &Own::of(())).expect_err("no such machine");
    assert!(matches!(error, TeamError::Refused(_)), "{error:?}");
    assert!(error.to_string().contains("realtime policies"), "{error}");
}
