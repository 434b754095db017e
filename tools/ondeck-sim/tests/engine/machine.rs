//! Threads that are bound to the CPUs of small machines, and what operations cost there.

use ondeck::platform::{AtomicInt, Platform};
use ondeck_sim::engine::{Costs, Job, Ran, Set, Sim, Simulation, Unrest};
pub use ondeck_sim::machine::small as machine;
use ondeck_sim::time::{Time, of_nanos};

pub type Word = <Sim as Platform>::AtomicUsize;
pub type Word32 = <Sim as Platform>::AtomicU32;

/// A value that shares no cache line with other data.
#[derive(Debug)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

/// A value that the threads of a run share. It is never freed, so that each of them may have a
/// reference.
pub fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub fn word(value: usize) -> &'static Apart<Word> {
    leaked(Apart(Word::new(value)))
}

pub fn word32(value: u32) -> &'static Apart<Word32> {
    leaked(Apart(Word32::new(value)))
}

pub const SIBLING: f64 = 10.0;
pub const CLUSTER: f64 = 40.0;
pub const SOCKET: f64 = 100.0;
pub const CROSS: f64 = 200.0;
pub const RMW: f64 = 5.0;
pub const SWITCH: f64 = 1_000.0;
pub const MIGRATION: f64 = 500.0;
pub const WAKE_LATENCY: f64 = 2_000.0;
pub const SLICE: f64 = 3_000_000.0;

/// One socket with one cluster of this number of cores.
pub fn cores(count: usize) -> Costs {
    machine([1, 1, count, 1])
}

/// A thread that may run anywhere.
pub fn free(body: impl FnOnce() + 'static) -> Job {
    Job { allowed: None, body: Box::new(body) }
}

/// A thread that is bound to one CPU.
pub fn on(cpu: usize, body: impl FnOnce() + 'static) -> Job {
    Job { allowed: Some(Set::of(cpu)), body: Box::new(body) }
}

pub fn run(costs: &Costs, jobs: Vec<Job>) -> Ran {
    Simulation::new(costs, 1).run(jobs, Vec::new(), &|| false)
}

/// Like [`run`], for at most this time.
pub fn run_for(costs: &Costs, nanos: f64, jobs: Vec<Job>) -> Ran {
    let simulation = Simulation { limit: of_nanos(nanos), ..Simulation::new(costs, 1) };
    simulation.run(jobs, Vec::new(), &|| false)
}

/// Like [`run`], with that seed, while threads stand still and stores are late.
pub fn run_disturbed(costs: &Costs, seed: u64, jobs: Vec<Job>) -> Ran {
    let unrest =
        Unrest { one_in: 4, longest_stall: of_nanos(400.0), latest_store: of_nanos(400.0), seed };
    Simulation { unrest, ..Simulation::new(costs, seed) }.run(jobs, Vec::new(), &|| false)
}

/// Virtual time in nanoseconds.
pub fn nanos(time: Time) -> f64 {
    time as f64 / 1_000.0
}

/// Now, in nanoseconds.
pub fn now() -> u64 {
    Sim::now().as_nanos()
}

/// Spins until that time, in nanoseconds: threads that all do so continue together.
pub fn meet(at: u64) {
    while now() < at {
        Sim::pause();
    }
}
