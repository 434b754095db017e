//! Where threads are placed on a machine.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use ondeck::platform::Threads;
use ondeck_sim::engine::{Job, Placement, Set, Sim, Simulation};
use ondeck_sim::machine::{MAX_CPUS, MachineFile};

#[test]
fn a_set_of_cpus_has_what_was_put_in() {
    let numbers = [0, 63, 64, 200, MAX_CPUS - 1];
    let mut set: Set = numbers.into_iter().collect();
    assert_eq!(set.iter().collect::<Vec<_>>(), numbers);
    assert_eq!(set.len(), 5);
    set.remove(64);
    assert!(!set.has(64) && set.has(63) && set.has(200));
    assert_eq!(set.and(&Set::of(63)), Set::of(63));
    assert!(Set::EMPTY.is_empty() && !set.is_empty());
}

#[test]
fn threads_that_are_put_together_share_a_cluster_while_they_fit() {
    let costs = MachineFile::find("epyc-9454p-64").expect("it is compiled in").costs().clone();
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
