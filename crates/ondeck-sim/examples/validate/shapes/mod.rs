//! The published programs on the simulated machine: one workload for each, written after the code of the
//! source as the head of its table describes it.
//!
//! A shape is generic over the lock. It runs its threads on a machine and returns the source's figure in the
//! source's unit.

pub mod batch;
pub mod channel;
pub mod counter;
pub mod many;
pub mod steps;
pub mod window;

use std::cell::Cell;

use ondeck_zoo::RawLock;

use ondeck_sim::engine::{Costs, End, Job, Placement, Ran, Set, Sim, Simulation};
use ondeck_sim::time::Time;

/// A value that shares no cache line with other data.
#[repr(align(128))]
pub struct Apart<T>(pub T);

/// A cache line of plain data; by default one that no core has yet.
#[derive(Default)]
#[repr(align(64))]
pub struct Line(Cell<u64>);

impl Line {
    /// The running thread reads and writes it.
    pub fn change(&self) {
        Sim::touch(self.0.as_ptr().addr(), size_of::<u64>(), true);
        self.0.set(self.0.get() + 1);
    }
}

/// The running thread reads and writes all of these at the same time, as a core can.
pub fn change_all(lines: &[Apart<Line>]) {
    let addresses: Vec<usize> = lines.iter().map(|line| line.0.0.as_ptr().addr()).collect();
    Sim::touch_together(&addresses);
    for line in lines {
        line.0.0.set(line.0.0.get() + 1);
    }
}

/// Runs a section with the lock.
pub fn with<L: RawLock<Sim>>(lock: &L, context: &L::Context, section: impl FnOnce()) {
    // SAFETY: the context stays where it is until the unlock, and each thread has its own. The thread does not
    // have the lock: sections of these workloads are not nested.
    unsafe { lock.lock(context) };
    section();
    // SAFETY: locked above with this context.
    unsafe { lock.unlock(context) };
}

/// The conditions under which a shape runs.
#[derive(Clone, Copy)]
pub struct On<'a> {
    /// The machine.
    pub costs: &'a Costs,
    /// The CPUs that the program may use; `None` means all.
    pub cpus: Option<Set>,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl On<'_> {
    /// How many CPUs the program may use.
    pub fn cpu_count(&self) -> usize {
        self.cpus.map_or(self.costs.places.len(), |cpus| cpus.len())
    }

    /// Runs threads until all are done, each with its number; the placement decides where they begin.
    ///
    /// # Panics
    ///
    /// If the threads do not end: then the lock or the shape is wrong.
    pub fn run<F: FnOnce() + 'static>(
        &self,
        placement: Placement,
        threads: usize,
        body: impl FnMut(usize) -> F,
    ) -> Ran {
        let mut simulation = Simulation::new(self.costs, self.seed);
        simulation.placement = placement;
        let ran = simulation.run(self.jobs(threads, body), Vec::new(), &|| false);
        assert_eq!(ran.end, End::Done, "threads are left: {:?}", ran.stuck.first());
        ran
    }

    fn jobs<F: FnOnce() + 'static>(
        &self,
        threads: usize,
        mut body: impl FnMut(usize) -> F,
    ) -> Vec<Job> {
        let job = |thread| Job { allowed: self.cpus, body: Box::new(body(thread)) };
        (0..threads).map(job).collect()
    }
}

/// As nanoseconds.
fn nanos(time: Time) -> f64 {
    time as f64 / 1_000.0
}
