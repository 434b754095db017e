//! Locks of every kind: workloads detect a lock that breaks its promise, and a plan has no lock of
//! another kind.

use std::sync::Arc;
use std::time::Duration;

use ondeck::platform::{Linux, Platform};
use ondeck_lab::environment::{Placement, realtime_refused};
use ondeck_lab::plan::{self, Request};
use ondeck_lab::run;
use ondeck_lab::team::TeamSetting;
use ondeck_lab::work::Work;
use ondeck_lab::workload::face::Needs;
use ondeck_lab::workload::{Own, Round, Subject, WORKLOADS};
use ondeck_zoo::{CondvarKind, Kind, LockInfo, RawLock, RawRwLock, SequenceCondvar};

use crate::{Forgetful, Log, named, request};

const INFO: LockInfo = LockInfo {
    name: "open",
    condvar: CondvarKind::Without,
    teaches: "what a broken lock looks like",
    ..Forgetful::INFO
};

/// It lets every thread in, for reading and writing.
struct Open;

// SAFETY: deliberately unsound. The guarded data in these workloads is numbers and indices that are
// checked, and no memory is reached through them.
unsafe impl RawLock<Linux> for Open {
    const INFO: LockInfo = LockInfo { condvar: CondvarKind::Generic, ..INFO };
    type Context = ();
    type Condvar = SequenceCondvar<Linux>;

    fn new() -> Self {
        Self
    }
    unsafe fn lock(&self, (): &()) {}
    unsafe fn try_lock(&self, (): &()) -> bool {
        true
    }
    unsafe fn unlock(&self, (): &()) {}
    fn is_idle(&mut self) -> bool {
        true
    }
}

// SAFETY: as above; the guarded data is atomic numbers.
unsafe impl RawRwLock<Linux> for Open {
    const INFO: LockInfo = INFO;
    type Read = ();
    type Write = ();

    fn new() -> Self {
        Self
    }
    unsafe fn read(&self, (): &()) {}
    unsafe fn try_read(&self, (): &()) -> bool {
        true
    }
    unsafe fn unlock_read(&self, (): &()) {}
    unsafe fn write(&self, (): &()) {}
    unsafe fn try_write(&self, (): &()) -> bool {
        true
    }
    unsafe fn unlock_write(&self, (): &()) {}
    fn is_idle(&mut self) -> bool {
        true
    }
}

fn open(kind: Kind) -> Subject {
    match kind {
        Kind::Mutex => Subject::of::<Linux, Open>(),
        Kind::RwLock => Subject::of_rwlock::<Linux, Open>(),
    }
}

/// With a CPU for each, threads soon meet; one round is not always enough.
#[test]
fn a_broken_lock_of_any_kind_is_reported_as_broken() {
    if Linux::cpus() == 1 {
        eprintln!("not tried: one CPU");
        return;
    }
    for workload in WORKLOADS {
        let is_mutex = workload.kind == Kind::Mutex;
        if is_mutex && !["real", "mixed_priority"].contains(&workload.name)
            || workload.needs == Needs::Realtime && realtime_refused().is_some()
        {
            continue;
        }
        // A concurrent write may also produce an index that is out of bounds.
        let kinds: &[&str] = if is_mutex { &["broken", "crashed"] } else { &["broken"] };
        let request = Request {
            round: Some(Duration::from_millis(10)),
            rounds: Some(5_000),
            // A section long enough that threads meet in it.
            work: Some((2_000, 0)),
            threads: Some(vec![if is_mutex { 2 } else { 4 }]),
            ..request(vec![open(workload.kind)], workload.name)
        };
        let stages = plan::stages(&request, &Subject::of_every_kind());
        assert!(!stages.is_empty(), "{}", workload.name);
        for stage in stages {
            let results = run::run(&request, std::slice::from_ref(&stage), &mut Log::default());
            let [failure] = &results.failures[..] else {
                panic!("{} {:?} passed", workload.name, stage.params)
            };
            assert!(kinds.contains(&&*failure.kind), "{failure:?}");
        }
    }
}

#[test]
fn a_workload_measures_locks_of_its_kind_only() {
    let words = ["std".to_owned(), "parking_lot".to_owned()];
    let everything = Subject::of_every_kind();
    let locks = ondeck_lab::select::locks(&everything, &words).expect("they are there");
    for workload in WORKLOADS {
        let request = request(locks.clone(), workload.name);
        for stage in plan::stages(&request, &everything) {
            assert!(
                stage.subjects.iter().all(|lock| lock.kind == workload.kind),
                "{}",
                workload.name
            );
        }
    }
    let mutexes = request(vec![named("std")], "rwmix");
    assert!(plan::stages(&mutexes, &everything).is_empty());
}

#[test]
#[should_panic(expected = "without a lock the threads of throughput would race")]
fn a_lock_that_does_nothing_is_refused_where_threads_would_race() {
    let given = Round {
        team: TeamSetting {
            threads: 2,
            placement: Placement::default(),
            stall_limit: Duration::from_mins(2),
            cancel: Arc::default(),
        },
        length: Duration::from_millis(1),
        section: Work::of_nanos(0),
        outside: Work::of_nanos(0),
        pairs: 0,
        longest_run: Duration::MAX,
    };
    let _ = Subject::baseline().round("throughput", &given, &Own::default());
}
