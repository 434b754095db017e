//! Many threads that start to wait for one mutex at the same moment, on many CPUs.

use std::cell::{Cell, RefCell};

use ondeck_sim::engine::{Call, End, Job, Sim, Simulation};
use ondeck_sim::machine::MachineFile;
use ondeck_sim::time::of_nanos;
use ondeck_zoo::RawLock;
use ondeck_zoo::locks::OndeckMutex;

use super::machine::leaked;

/// Pairs that `threads` threads complete on a machine in `millis` of virtual time; each works 100
/// ns inside and 500 outside.
fn pairs_of(machine: &str, threads: usize, millis: f64) -> u64 {
    pairs_of_each(machine, threads, millis, (100.0, 500.0)).iter().sum()
}

/// Pairs of each thread, with the given nanoseconds of work inside and outside.
fn pairs_of_each(
    machine: &str,
    threads: usize,
    millis: f64,
    (inside, outside): (f64, f64),
) -> Vec<u64> {
    let file = MachineFile::find(machine).expect("a bundled machine");
    let lock = leaked(OndeckMutex::<Sim>::new());
    let (pairs, stops) = (leaked(RefCell::new(vec![0; threads])), leaked(Cell::new(false)));
    let jobs = (0..threads)
        .map(|thread| {
            let body = move || {
                while !stops.get() {
                    // SAFETY: the context serves one acquisition at a time.
                    unsafe { lock.lock(&Default::default()) };
                    Sim::work(inside);
                    // SAFETY: locked above.
                    unsafe { lock.unlock(&Default::default()) };
                    pairs.borrow_mut()[thread] += 1;
                    Sim::work(outside);
                }
            };
            Job { allowed: None, body: Box::new(body) }
        })
        .collect();
    let done = leaked(RefCell::new(Vec::new()));
    let call = Box::new(move || {
        stops.set(true);
        done.replace(pairs.borrow().clone());
    });
    let costs = file.costs().clone();
    let mut simulation = Simulation::new(&costs, 1);
    simulation.limit = of_nanos(1e9);
    let ran = simulation.run(jobs, vec![Call { at: of_nanos(millis * 1e6), call }], &|| false);
    assert_eq!(ran.end, End::Done);
    done.take()
}

/// All threads that want to park need the bucket's lock at once. If they slept for it, each would
/// be woken by the one before it, and the mutex would be hardly used until the last has parked: 97
/// pairs in these 2 ms, against 4,482 pairs of few threads.
#[test]
fn a_crowd_parks_at_once() {
    let few = pairs_of("epyc-9454p", 24, 2.0);
    let many = pairs_of("epyc-9454p", 400, 2.0);
    assert!(many > few / 4, "{many} pairs of 400 threads, {few} of 24");
}

/// Most of them have waited for the bucket's lock long enough to be overdue before they park. If
/// each searched for its place by its age, the walk would take 50 µs under the bucket's lock: 238
/// pairs in these 5 ms, against 8,755 pairs of few threads.
#[test]
fn a_crowd_that_waits_for_long_parks_at_the_end() {
    let few = pairs_of("future-256", 24, 5.0);
    let many = pairs_of("future-256", 1_024, 5.0);
    assert!(many > few / 4, "{many} pairs of 1,024 threads, {few} of 24");
}

/// One overdue thread is served in the time of 20 wakes. If it were one in a millisecond, 80 of
/// these threads would never have acquired the lock.
#[test]
fn each_of_a_crowd_is_served_soon() {
    let pairs = pairs_of_each("epyc-9454p-64", 128, 40.0, (1_000.0, 5_000.0));
    let unserved = pairs.iter().filter(|&&pairs| pairs == 0).count();
    assert_eq!(unserved, 0, "of {pairs:?}");
}
