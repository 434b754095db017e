//! The comparison with published tables: what is compared, and that the engine's arbitration is what it needs.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ondeck::platform::Threads;
use ondeck_sim::engine::{Costs, Job, Placement, Sim, Simulation};
use ondeck_sim::machine::MachineFile;
use ondeck_sim::validate::case::{Bench, Cpus};
use ondeck_sim::validate::shapes::On;
use ondeck_sim::validate::shapes::batch::Batch;
use ondeck_sim::validate::subject::{Shape, Subject};
use ondeck_sim::validate::{Extent, ValidateError, run};

#[test]
fn a_table_that_there_is_not_and_no_seed_are_refused() {
    let quiet = |_: usize, _: usize| {};
    let error = run(&["gone"], 1, Extent::Full, &quiet).expect_err("there is no such table");
    assert_eq!(error, ValidateError::NoTable("gone".into()));
    assert!(error.to_string().contains("`gone`; there are go, sync-bench"), "{error}");
    assert_eq!(run(&["go"], 0, Extent::Full, &quiet).expect_err("no seed"), ValidateError::NoSeeds);
}

#[test]
fn each_number_of_a_table_is_simulated_and_fitted_ones_count_for_nothing() {
    let told = AtomicUsize::new(0);
    let progress = |_: usize, of: usize| {
        assert_eq!(of, 6);
        told.fetch_add(1, Ordering::Relaxed);
    };
    let validation = run(&["go"], 1, Extent::Threads(3), &progress).expect("a table");
    assert_eq!(told.into_inner(), 6);
    let verdict = &validation.verdicts[0];
    assert!(verdict.missing.is_empty(), "{:?}", verdict.missing);
    let fitted: Vec<_> = verdict.points.iter().map(|point| (point.threads, point.fitted)).collect();
    let one = [(1, true), (2, false), (3, false)];
    assert_eq!(fitted, [one, one].concat());
    let predicted = verdict.points.iter().filter(|point| !point.fitted);
    let mut errors: Vec<f64> = predicted.map(|point| point.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let middle = f64::midpoint(errors[1], errors[2]);
    assert!(verdict.median_error.is_some_and(|error| (error - middle).abs() < 1e-9));
}

#[test]
fn every_lock_of_the_tables_is_in_the_zoo() {
    // Two threads of each table are enough to name its locks, but for tables that begin with more.
    let quiet = |_: usize, _: usize| {};
    for table in ["lab", "folly"] {
        let validation = run(&[table], 1, Extent::Threads(1), &quiet).expect("a table");
        let verdict = &validation.verdicts[0];
        assert!(verdict.missing.is_empty(), "{table}: {:?}", verdict.missing);
        assert!(!verdict.points.is_empty(), "{table}");
    }
}

#[test]
fn a_waiter_that_polls_seldom_takes_the_lock_from_an_owner_that_wants_it_again() {
    // Were the owner always first at the line, the waiter would sleep, and both would go through the kernel.
    let costs = Costs::from(MachineFile::find("i5-12500").expect("it is compiled in").spec());
    let subject = Subject::named("swift_optimal_v2").expect("a lock of the zoo");
    let time = |tasks| {
        let batch = Batch { tasks, update: 12.0, outside: 4.0, ..Batch::default() };
        subject.measure(&On { costs: &costs, cpus: None, seed: 1 }, &Shape::Batch(batch))
    };
    // Virtual time: the same in every run.
    let (alone, both) = (time(1), time(2));
    assert!(both < 1.5 * alone, "{both} ns with two tasks, {alone} ns with one");
}

#[test]
fn nodes_of_a_machine_are_used_with_both_cpus_of_their_cores() {
    let bench = Bench::with("opteron-6272x4", Cpus::FirstClusters(2));
    let costs = bench.costs();
    let allowed = bench.allowed(&costs).expect("not all CPUs");
    assert_eq!(allowed.len(), 16);
    assert!(allowed.iter().all(|cpu| costs.places[cpu].cluster < 2));
}

#[test]
fn threads_that_are_put_together_share_a_cluster_while_they_fit() {
    let costs = Bench::of("epyc-9454p-64").costs();
    let clusters = |placement, threads: usize| {
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let jobs = (0..threads).map(|_| {
            let (seen, places) = (Arc::clone(&seen), costs.places.clone());
            let body = move || {
                Sim::work(10.0);
                let cluster = places[Sim::cpu() as usize].cluster;
                seen.lock().expect("no thread panics with it").insert(cluster);
            };
            Job { allowed: None, body: Box::new(body) }
        });
        let mut simulation = Simulation::new(&costs, 1);
        simulation.placement = placement;
        simulation.run(jobs.collect(), Vec::new(), &|| false);
        seen.lock().expect("no thread panics with it").len()
    };
    assert_eq!(clusters(Placement::Spread, 8), 8);
    assert_eq!(clusters(Placement::Together, 8), 1);
    assert_eq!(clusters(Placement::Together, 9), 2);
}
