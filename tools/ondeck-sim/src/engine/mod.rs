//! The machine in virtual time.
//!
//! | file | what |
//! |---|---|
//! | `world.rs` | the machine while it runs |
//! | `thread.rs` | a simulated thread |
//! | `run.rs` | the loop of its events, and the coroutines of its threads |
//! | `queue.rs` | the events to come |
//! | `memory.rs` | cache lines: which cores have them, when they are free |
//! | `access.rs` | accesses of a thread, and what they cost |
//! | `arbiter.rs` | which access has a line next |
//! | `store_buffer.rs`, `stores.rs` | stores that others do not see yet |
//! | `fences.rs` | full and heavy fences |
//! | `scheduler.rs` | which thread has which CPU |
//! | `futex.rs`, `buckets.rs` | waits in the kernel |
//! | `unrest.rs` | what tests do to threads |
//! | `account.rs` | where time goes |
//! | `atomics.rs`, `platform.rs`, `table.rs`, `estimates.rs` | [`Sim`], the platform for locks |
//! | `ran.rs` | what a run leaves |
//!
//! # Limits of the model
//!
//! Instructions between accesses take no time; only accesses and `work` do. Caches have room for
//! everything: a line leaves a core only when another one wants it. Loads are never reordered.
//! Frequencies do not change. The only interrupts are those of membarrier and of the scheduler.

mod access;
mod account;
mod arbiter;
mod atomics;
mod bits;
mod buckets;
mod estimates;
mod fences;
mod futex;
mod memory;
mod platform;
mod queue;
mod ran;
mod run;
mod scheduler;
mod store_buffer;
mod stores;
mod table;
mod thread;
mod unrest;
mod world;

use fastrand::Rng;

pub use crate::machine::{Costs, Place};
pub use account::{Doing, Spent};
pub use atomics::{SimInt, SimPtr};
pub use bits::Set;
pub use memory::Traffic;
pub use ran::{Ran, Stuck};
pub use run::{Call, End};
pub use thread::{State, Usage};
pub use unrest::Unrest;

use crate::time::{NEVER, Time, of_nanos};
use queue::Event;
use table::Table;
use world::World;

/// The nanoseconds within which threads begin, as if one call had woken them.
const START_SPREAD: f64 = 2_000.0;

/// A simulated machine. Its functions act on the machine whose thread calls them.
///
/// Locks of this platform may be made, inspected and dropped anywhere; simulated threads lock and
/// unlock them. An atomic is used by one machine at a time, and so by one OS thread. It is `Sync`
/// because locks have to be.
#[derive(Clone, Copy, Debug)]
pub struct Sim;

/// See [`Simulation::longer`].
pub type Longer<'a> = dyn Fn(Time) -> Option<Time> + 'a;

/// A run to make: a machine and its conditions.
pub struct Simulation<'a> {
    /// The machine.
    pub costs: &'a Costs,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The disturbances by a test.
    pub unrest: Unrest,
    /// Where threads begin.
    pub placement: Placement,
    /// The time at which a run ends, unless `longer` extends it.
    pub limit: Time,
    /// Called at the limit, with that moment; returns a later limit, or `None`.
    pub longer: Option<&'a Longer<'a>>,
}

/// Where threads begin, as long as there is a core for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// As Linux places new threads: one on each cluster in turn (kernel/sched/fair.c:
    /// sched_balance_find_dst_cpu).
    #[default]
    Spread,
    /// As Linux places threads of a pool that one thread wakes repeatedly: into that thread's
    /// cluster while a core there is idle (the same file: wake_affine, select_idle_sibling).
    /// Sockets that are one cluster get threads in turn, because the waking threads also migrate.
    Together,
}

/// Runs `work` beside a machine without threads, where this OS thread prepares rounds and inspects
/// their results. That machine's time is 0, it has the number of CPUs and the clock rate of
/// `costs`, and locks of ondeck can be used on it.
///
/// `work` may [run](Simulation::run) machines.
///
/// # Panics
///
/// If a simulated thread calls this.
pub fn beside<R>(costs: &Costs, work: impl FnOnce() -> R) -> R {
    let table = Table::new();
    let _used = table::Used::new(&table);
    let mut world = World::new(costs, 0, Unrest::none());
    let _shown = world::Shown::new(&mut world);
    work()
}

/// A simulated thread that has not begun.
pub struct Job {
    /// The CPUs that it may run on; `None` means all.
    pub allowed: Option<Set>,
    /// Its body.
    pub body: Box<dyn FnOnce()>,
}

impl<'a> Simulation<'a> {
    /// On that machine, with that seed, undisturbed and without a limit.
    pub fn new(costs: &'a Costs, seed: u64) -> Self {
        Self {
            costs,
            seed,
            unrest: Unrest::none(),
            placement: Placement::default(),
            limit: NEVER,
            longer: None,
        }
    }

    /// Runs the threads and makes the calls until all threads are done or no event remains.
    ///
    /// `cancelled` is called now and then, and returns whether the run must stop at once.
    ///
    /// # Panics
    ///
    /// If a thread panics, if a thread may run on no CPU of the machine, or if a simulated thread
    /// calls this.
    pub fn run(&self, jobs: Vec<Job>, calls: Vec<Call>, cancelled: &dyn Fn() -> bool) -> Ran {
        let table = Table::new();
        let mut world = World::new(self.costs, self.seed, self.unrest.clone());
        let mut rng = Rng::with_seed(self.seed ^ 0x5EED);
        let cpus = order(self.costs, jobs.len(), self.placement);
        let mut bodies = Vec::with_capacity(jobs.len());
        let all: Set = (0..self.costs.places.len()).collect();
        for (index, job) in jobs.into_iter().enumerate() {
            let allowed = job.allowed.map(|allowed| allowed.and(&all));
            let cpu = first_cpu(&cpus, index, allowed);
            let number = world.add_thread(cpu, allowed, rng.u64(..));
            world.cpus[cpu].ready.push(number);
            if !world.cpus[cpu].arriving {
                world.cpus[cpu].arriving = true;
                let at = rng.u64(..of_nanos(START_SPREAD));
                world.queue.push(at, Event::Arrive { cpu: cpu as u32 });
            }
            bodies.push(job.body);
        }
        let used = table::Used::new(&table);
        let end = run::run(&mut world, bodies, calls, (self.limit, self.longer), cancelled);
        drop(used);
        Ran::of(&mut world, end)
    }
}

/// CPUs in the order in which threads are placed on them: by the placement, cores before their
/// siblings, and the first socket alone while a quarter of its cores suffices, as Linux places new
/// threads.
fn order(costs: &Costs, threads: usize, placement: Placement) -> Vec<usize> {
    let places = &costs.places;
    let first_cores = places.iter().filter(|place| place.socket == places[0].socket).count();
    let keeps_to_first = threads <= first_cores.div_ceil(4);
    let mut ranked: Vec<_> = places
        .iter()
        .enumerate()
        .map(|(cpu, place)| {
            let second = place.sibling.is_some_and(|sibling| sibling < cpu);
            let before = |other: &&Place| other.cluster == place.cluster;
            let rank = places[..cpu].iter().filter(before).count();
            let away = keeps_to_first && place.socket != places[0].socket;
            // Linux prefers the fast cores of a hybrid processor (kernel/sched/topology.c:
            // asymmetric packing).
            let slower =
                costs.classes.iter().filter(|other| other.speed > costs.classes[place.class].speed);
            let within = |other: &Place| other.socket == place.socket;
            let shares_socket =
                places.iter().any(|other| within(other) && other.cluster != place.cluster);
            let turn = if placement == Placement::Together && shares_socket {
                (place.cluster, rank)
            } else {
                (rank, place.cluster)
            };
            ((away, second, slower.count(), turn), cpu)
        })
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, cpu)| cpu).collect()
}

fn first_cpu(cpus: &[usize], index: usize, allowed: Option<Set>) -> usize {
    let may: Vec<usize> = cpus
        .iter()
        .copied()
        .filter(|&cpu| allowed.is_none_or(|allowed| allowed.has(cpu)))
        .collect();
    assert!(!may.is_empty(), "thread {index} may run on none of the {} CPUs", cpus.len());
    may[index % may.len()]
}
