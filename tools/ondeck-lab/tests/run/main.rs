//! Whole small runs: locks that work, a lock that hangs, an interruption.

mod kinds;
mod pages;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ondeck::platform::{AtomicInt, Linux, Ordering, Platform};
use ondeck_lab::environment::realtime_refused;
use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::results::Failure;
use ondeck_lab::run::{self, Observer, Results};
use ondeck_lab::workload::face::Needs;
use ondeck_lab::workload::{Subject, WORKLOADS};
use ondeck_zoo::{
    CondvarKind, Fairness, Kind, LockInfo, Origin, RawCondvar, RawLock, SequenceCondvar, Waiting,
};

/// A spinlock that forgets its 500th unlock: all threads wait for ever after.
struct Forgetful {
    word: <Linux as Platform>::AtomicU8,
    unlocks: <Linux as Platform>::AtomicU32,
}

// SAFETY: it excludes; it only does not always unlock.
unsafe impl RawLock<Linux> for Forgetful {
    const INFO: LockInfo = LockInfo {
        name: "forgetful",
        origin: Origin::Literature,
        waiting: Waiting::Spins,
        fairness: Fairness::Barging,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "this test",
        teaches: "what a hang looks like",
    };
    type Context = ();
    type Condvar = SequenceCondvar<Linux>;

    fn new() -> Self {
        Self { word: AtomicInt::new(0), unlocks: AtomicInt::new(0) }
    }
    unsafe fn lock(&self, (): &()) {
        while Linux::test_and_set(&self.word, Ordering::Acquire) {
            Linux::pause();
        }
    }
    unsafe fn try_lock(&self, (): &()) -> bool {
        !Linux::test_and_set(&self.word, Ordering::Acquire)
    }
    unsafe fn unlock(&self, (): &()) {
        if self.unlocks.fetch_add(1, Ordering::Relaxed) != 500 {
            self.word.store(0, Ordering::Release);
        }
    }
    fn is_idle(&mut self) -> bool {
        self.word.load(Ordering::Relaxed) == 0
    }
}

#[derive(Default)]
struct Log {
    turns: Vec<(String, String)>,
    failures: Vec<Failure>,
    cancel_after: Option<(usize, Arc<AtomicBool>)>,
}

impl Observer for Log {
    fn turn(&mut self, stage: &Stage, lock: &str, _behind: Duration) {
        self.turns.push((stage.workload.name.to_owned(), lock.to_owned()));
        if let Some((most, cancel)) = &self.cancel_after
            && self.turns.len() > *most
        {
            cancel.store(true, Ordering::Relaxed);
        }
    }
    fn failed(&mut self, failure: &Failure) {
        self.failures.push(failure.clone());
    }
}

fn request(locks: Vec<Subject>, workload: &str) -> Request {
    Request {
        locks: Some(locks),
        workloads: WORKLOADS.iter().copied().filter(|info| info.name == workload).collect(),
        threads: Some(vec![2]),
        round: Some(Duration::from_millis(5)),
        rounds: Some(3),
        work: Some((0, 0)),
        // Threads of the lowest priority make little progress where other programs run.
        stall_limit: Duration::from_secs(30),
        ..Request::of(Extent::Quick)
    }
}

fn named(name: &str) -> Subject {
    Subject::of_every_kind().into_iter().find(|subject| subject.info.name == name).expect(name)
}

#[test]
fn every_workload_measures_every_quantity_it_promises() {
    for workload in WORKLOADS {
        if workload.needs == Needs::Realtime
            && let Some(refusal) = realtime_refused()
        {
            eprintln!("{} not tried: {}", workload.name, refusal.reason);
            continue;
        }
        let (first, second) = match workload.kind {
            // No thread is ever parked at a spinlock.
            Kind::Mutex if workload.needs == Needs::SleepingWaiters => ("std", "parking_lot"),
            Kind::Mutex => ("std", "spinlock"),
            Kind::RwLock => ("std_rwlock", "counter_rwlock"),
        };
        let names = || workload.quantities.iter().map(|quantity| quantity.name);
        // Where other programs have the CPUs for whole rounds, some quantity has no figure.
        let is_idle = |results: &Results| {
            let of = |name| results.series.iter().find(|it| it.lock == first)?.metric(name);
            of("throughput").is_none_or(|metric| metric.max == 0.0)
                || names().chain(["cpu_per_op"]).any(|name| of(name).is_none())
        };
        let mut round = Duration::from_millis(20);
        let (stages, results) = loop {
            let locks = vec![named(first), named(second)];
            let request = Request { round: Some(round), ..request(locks, workload.name) };
            let stages = plan::stages(&request, &Subject::all());
            let results = run::run(&request, &stages, &mut Log::default());
            if !is_idle(&results) || round > Duration::from_secs(1) {
                break (stages, results);
            }
            round *= 10;
        };
        assert!(results.failures.is_empty(), "{:?}", results.failures);
        let series = results.series.iter().find(|series| series.lock == first).expect(first);
        for quantity in
            ["throughput", "cpu_per_op", "voluntary_switches", "involuntary_switches", "running"]
        {
            let metric = series
                .metric(quantity)
                .unwrap_or_else(|| panic!("{} of {}", quantity, workload.name));
            // A round in which other programs had all CPUs has no operation whose price could be
            // said.
            let least = if quantity == "cpu_per_op" { 1 } else { 3 };
            assert!(
                (least..=3).contains(&metric.n) && metric.samples.len() == metric.n,
                "{} of {}: {} rounds",
                quantity,
                workload.name,
                metric.n
            );
            assert!(metric.p25 <= metric.median && metric.median <= metric.p75);
        }
        assert!(
            series.metric("throughput").is_some_and(|metric| metric.max > 0.0),
            "{}",
            workload.name
        );
        for quantity in names() {
            let metric = series
                .metric(quantity)
                .unwrap_or_else(|| panic!("{} of {}", quantity, workload.name));
            // On a busy machine a round may leave a ratio out, because some thread did nothing.
            assert!(
                (1..=3).contains(&metric.n) && metric.min >= 0.0,
                "{quantity} of {}: {metric:?}",
                workload.name
            );
        }
        let counted = stages.iter().any(|stage| stage.counted.is_some());
        let times_are_kept = counted || ["handoff", "long_hold"].contains(&workload.name);
        assert_eq!(series.distribution.is_some(), times_are_kept, "{}", workload.name);
        if let Some(times) = &series.distribution
            && counted
        {
            // The first acquisition of an `idle` run has no earlier unlock.
            let firsts = if workload.name == "idle" { 3 } else { 0 };
            assert_eq!(times.count, 3 * 2 * u64::from(plan::PAIRS_PER_RUN) - firsts);
        }
    }
}

/// Items, jobs, numbers and acquisitions are counted under the lock and by the threads; a workload
/// fails if the two counts differ.
#[test]
fn nothing_is_lost_between_threads() {
    let sharing = WORKLOADS.iter().filter(|workload| workload.shares_data);
    for workload in sharing {
        let locks: Vec<Subject> = match workload.kind {
            Kind::Mutex => ["std", "glibc", "spinlock", "parking_lot"].map(named).to_vec(),
            Kind::RwLock => ["ondeck_rwlock", "std_rwlock", "glibc_rwlock"].map(named).to_vec(),
        };
        let (workload, count) = (workload.name, locks.len());
        let request = Request {
            threads: Some(vec![2, 5]),
            round: Some(Duration::from_millis(10)),
            // A busy machine makes five spinning threads slow.
            stall_limit: Duration::from_mins(1),
            ..request(locks, workload)
        };
        let stages = plan::stages(&request, &Subject::all());
        let results = run::run(&request, &stages, &mut Log::default());
        assert!(results.failures.is_empty(), "{:?}", results.failures);
        assert_eq!(results.series.len(), count * stages.len(), "{workload}");
        for series in &results.series {
            assert!(!series.partial, "{workload} of {}", series.lock);
        }
    }
}

/// There are as many streaks as changes of the owner, and a lone thread never waits.
#[test]
fn one_thread_has_one_streak_and_is_passed_by_nobody() {
    let request = Request {
        threads: Some(vec![1]),
        ..request(vec![named("std"), named("spinlock")], "capture")
    };
    let results = run::run(&request, &plan::stages(&request, &Subject::all()), &mut Log::default());
    for series in &results.series {
        let value = |name: &str| series.metric(name).map(|metric| metric.max);
        assert_eq!(value("passed_max"), Some(0.0));
        assert!(value("streak_p50") >= Some(1.0) && value("streak_p50") == value("streak_max"));
    }
}

#[test]
fn workloads_with_two_roles_have_a_thread_for_either() {
    for workload in ["condvar", "producer_consumer", "recovery"] {
        let request =
            Request { threads: Some(vec![1, 2]), ..request(vec![named("std")], workload) };
        let stages = plan::stages(&request, &Subject::all());
        assert!(stages.iter().all(|stage| stage.threads == 2), "{workload}");
    }
}

/// A condition variable whose notifications reach no thread.
struct Deaf;

// SAFETY: deliberately unsound as a condition variable: every signal is lost. The lock is never
// reacquired because no wait ends, so exclusion holds.
unsafe impl RawCondvar<Linux, DeafLock> for Deaf {
    fn new() -> Self {
        Self
    }
    unsafe fn wait(&self, lock: &DeafLock, (): &()) {
        // SAFETY: the caller holds the lock.
        unsafe { lock.unlock(&()) };
        loop {
            std::thread::park();
        }
    }
    fn notify_one(&self) {}
    fn notify_all(&self) {}
}

/// A spinlock that belongs to [`Deaf`].
struct DeafLock(<Linux as Platform>::AtomicU8);

// SAFETY: one thread at a time finds the word 0.
unsafe impl RawLock<Linux> for DeafLock {
    const INFO: LockInfo = LockInfo {
        name: "deaf",
        condvar: CondvarKind::Own,
        teaches: "what a lost signal looks like",
        ..Forgetful::INFO
    };
    type Context = ();
    type Condvar = Deaf;

    fn new() -> Self {
        Self(AtomicInt::new(0))
    }
    unsafe fn lock(&self, (): &()) {
        while Linux::test_and_set(&self.0, Ordering::Acquire) {
            Linux::pause();
        }
    }
    unsafe fn try_lock(&self, (): &()) -> bool {
        !Linux::test_and_set(&self.0, Ordering::Acquire)
    }
    unsafe fn unlock(&self, (): &()) {
        self.0.store(0, Ordering::Release);
    }
    fn is_idle(&mut self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn a_condition_variable_that_loses_signals_is_reported_as_a_deadlock() {
    let request = Request {
        round: Some(Duration::from_mins(1)),
        stall_limit: Duration::from_millis(400),
        ..request(vec![Subject::of::<Linux, DeafLock>()], "producer_consumer")
    };
    let results = run::run(&request, &plan::stages(&request, &Subject::all()), &mut Log::default());
    let [failure] = &results.failures[..] else { panic!("{:?}", results.failures) };
    assert_eq!((&*failure.kind, failure.thread_states.len()), ("deadlock", 2));
}

#[test]
fn a_lock_that_hangs_is_reported_and_the_others_are_measured() {
    let request = Request {
        stall_limit: Duration::from_secs(2),
        ..request(vec![Subject::of::<Linux, Forgetful>(), named("std")], "throughput")
    };
    let stages = plan::stages(&request, &Subject::all());
    let mut log = Log::default();
    let results = run::run(&request, &stages, &mut log);

    let [failure] = &results.failures[..] else { panic!("{:?}", results.failures) };
    assert_eq!(
        (&*failure.kind, failure.lock.as_str(), failure.workload.as_str(), failure.threads),
        ("deadlock", "forgetful", "throughput", 2)
    );
    // On a busy machine one thread may have seen the end of the round before the other's 500th
    // unlock.
    assert!((1..=2).contains(&failure.thread_states.len()), "{failure:?}");
    assert!(failure.thread_states.iter().all(|state| state.contains("running")), "{failure:?}");
    assert_eq!(log.failures, results.failures);

    let healthy =
        results.series.iter().find(|series| series.lock == "std").expect("std was measured");
    assert_eq!(healthy.metric("throughput").map(|metric| metric.n), Some(3));
    assert!(!healthy.partial);
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    let request = request(vec![named("std")], "throughput");
    let stages = plan::stages(&request, &Subject::all());
    // The warm-up and one round complete; the second round is dropped.
    let mut log = Log { cancel_after: Some((2, Arc::clone(&request.cancel))), ..Log::default() };
    let results = run::run(&request, &stages, &mut log);
    assert!(results.cancelled);
    let series = &results.series[0];
    assert!(series.partial);
    assert_eq!(series.metric("throughput").map(|metric| metric.n), Some(1));
}

#[test]
fn locks_take_turns_in_an_order_that_the_seed_decides() {
    let order = |seed: u64| {
        let mut request = request(
            vec![named("std"), named("spinlock"), named("mcs"), named("glibc")],
            "uncontended",
        );
        request.seed = seed;
        let mut log = Log::default();
        run::run(&request, &plan::stages(&request, &Subject::all()), &mut log);
        log.turns
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn a_workload_without_a_baseline_says_why() {
    let request = request(vec![named("std")], "condvar");
    let stages = plan::baselines(&plan::stages(&request, &Subject::all()), request.extent);
    assert_eq!(stages.iter().map(|stage| stage.subjects.len()).sum::<usize>(), 0);
    let results = run::run(&request, &stages, &mut Log::default());
    assert_eq!(results.baselines.len(), stages.len());
    let missing = results.baselines[0].missing.as_deref();
    assert!(missing.is_some_and(|reason| reason.contains("share data")), "{missing:?}");
}
