//! The workload `collision`, in a separate test because its crowd keeps the CPUs busy.

use std::time::Duration;

use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::results::Failure;
use ondeck_lab::run::{self, Observer};
use ondeck_lab::workload::{Subject, WORKLOADS};

struct Nobody;

impl Observer for Nobody {
    fn turn(&mut self, _stage: &Stage, _lock: &str, _behind: Duration) {}
    fn failed(&mut self, _failure: &Failure) {}
}

fn named(name: &str) -> Subject {
    Subject::all().into_iter().find(|subject| subject.info.name == name).expect(name)
}

fn request(locks: &[&str], threads: &[usize]) -> Request {
    Request {
        locks: Some(locks.iter().map(|name| named(name)).collect()),
        workloads: WORKLOADS.iter().copied().filter(|info| info.name == "collision").collect(),
        threads: Some(threads.to_vec()),
        round: Some(Duration::from_millis(2)),
        rounds: Some(1),
        stall_limit: Duration::from_mins(1),
        ..Request::of(Extent::Quick)
    }
}

#[test]
fn where_no_thread_is_ever_parked_it_is_said_and_one_thread_is_measured() {
    let request = request(&["spinlock", "std"], &[1, 3]);
    let mut stages = plan::stages(&request, &Subject::all());
    // The plan knows that, and would leave it out.
    assert_eq!(stages.iter().map(|stage| stage.subjects.len()).collect::<Vec<_>>(), [2, 1]);
    stages[1].subjects.push(named("spinlock"));
    let results = run::run(&request, &stages, &mut Nobody);
    let [failure] = &results.failures[..] else { panic!("{:?}", results.failures) };
    assert_eq!(
        (&*failure.kind, failure.lock.as_str(), failure.threads),
        ("refused", "spinlock", 3)
    );
    let measured = |lock: &str| -> Vec<usize> {
        let of = results.series.iter().filter(|series| series.lock == lock);
        of.map(|series| series.threads).collect()
    };
    assert_eq!((measured("spinlock"), measured("std")), (vec![1], vec![1, 3]));
}

/// A crowd has small stacks, reaches its lock, and leaves it.
#[test]
fn a_crowd_is_parked_and_gets_out_again() {
    let locks = ["ondeck", "std", "parking_lot", "usync", "glibc", "glibc_pi", "go_spinbit"];
    let request = request(&locks, &[301]);
    let results = run::run(&request, &plan::stages(&request, &Subject::all()), &mut Nobody);
    assert!(results.failures.is_empty(), "{:?}", results.failures);
    assert_eq!(results.series.len(), locks.len());
}
