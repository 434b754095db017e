//! Many threads that begin to wait for one mutex at the same moment, on many CPUs.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_sim::engine::time::of_nanos;
use ondeck_sim::engine::{Call, Costs, End, Job, Sim, Simulation};
use ondeck_sim::machine::MachineFile;
use ondeck_zoo::RawLock;
use ondeck_zoo::locks::OndeckMutex;

/// Pairs that `threads` threads have done on a machine after `millis` of virtual time; each does 100 ns inside and 500
/// outside.
fn pairs_of(machine: &str, threads: usize, millis: f64) -> u64 {
    let file = MachineFile::find(machine).expect("a bundled machine");
    let lock = Rc::new(OndeckMutex::<Sim>::new());
    let (pairs, stops) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let jobs = (0..threads)
        .map(|_| {
            let (lock, pairs, stops) = (lock.clone(), pairs.clone(), stops.clone());
            let body = move || {
                while !stops.get() {
                    // SAFETY: the context serves one acquisition at a time.
                    unsafe { lock.lock(&Default::default()) };
                    Sim::work(100.0);
                    // SAFETY: locked above.
                    unsafe { lock.unlock(&Default::default()) };
                    pairs.set(pairs.get() + 1);
                    Sim::work(500.0);
                }
            };
            Job { allowed: None, body: Box::new(body) }
        })
        .collect();
    let done = Rc::new(Cell::new(0));
    let call = {
        let done = done.clone();
        Box::new(move || {
            stops.set(true);
            done.set(pairs.get());
        })
    };
    let costs = Costs::from(file.spec());
    let mut simulation = Simulation::new(&costs, 1);
    simulation.limit = of_nanos(1e9);
    let ran = simulation.run(jobs, vec![Call { at: of_nanos(millis * 1e6), call }], &|| false);
    assert_eq!(ran.end, End::Done);
    done.get()
}

/// Threads that all want to park at once need the bucket's lock. If they sleep for it, each is woken by the one before
/// it, and the mutex is hardly used until the last has parked: 97 pairs in these 2 ms, and 4,482 of few threads.
#[test]
fn a_crowd_parks_at_once() {
    let few = pairs_of("epyc-9454p", 24, 2.0);
    let many = pairs_of("epyc-9454p", 400, 2.0);
    assert!(many > few / 4, "{many} pairs of 400 threads, {few} of 24");
}

/// Most of them have waited for the bucket's lock for so long that they would be overdue before they park. If each had
/// to find its place by its age, the walk would take 50 µs of the bucket's lock: 238 pairs in these 5 ms, and 8,755 of few
/// threads.
#[test]
fn a_crowd_that_waits_for_long_parks_at_the_end() {
    let few = pairs_of("future-256", 24, 5.0);
    let many = pairs_of("future-256", 1_024, 5.0);
    assert!(many > few / 4, "{many} pairs of 1,024 threads, {few} of 24");
}
