//! Where threads are placed on a machine.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use ondeck::platform::Threads;
use ondeck_sim::engine::{Costs, Job, Placement, Sim, Simulation};
use ondeck_sim::machine::MachineFile;

#[test]
fn threads_that_are_put_together_share_a_cluster_while_they_fit() {
    let costs = Costs::from(MachineFile::find("epyc-9454p-64").expect("it is compiled in").spec());
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
