//! Small machines with round numbers, and threads that are bound to their CPUs.

use std::rc::Rc;

use ondeck::platform::{AtomicInt, Platform};
use ondeck_sim::engine::costs::{
    Class, Clock, Costs, Futex, Idle, Membarrier, Place, Policy, Scheduler, Transfer, Yield,
};
use ondeck_sim::engine::time::{Time, of_nanos};
use ondeck_sim::engine::{Job, Ran, Set, Sim, Simulation, Unrest};

pub type Word = <Sim as Platform>::AtomicUsize;
pub type Word32 = <Sim as Platform>::AtomicU32;

/// Something on lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

pub fn word(value: usize) -> Rc<Apart<Word>> {
    Rc::new(Apart(Word::new(value)))
}

pub fn word32(value: u32) -> Rc<Apart<Word32>> {
    Rc::new(Apart(Word32::new(value)))
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

/// A machine of that shape: see [`Place::all_of`].
pub fn machine(shape: [usize; 4]) -> Costs {
    let nanos = of_nanos;
    Costs {
        places: Place::all_of(shape),
        cpu_of_core: (0..shape[..3].iter().product()).collect(),
        classes: vec![Class {
            pause: nanos(10.0),
            hit: nanos(1.0),
            rmw: nanos(RMW),
            fence: nanos(8.0),
            tsc_read: nanos(7.0),
            speed: 1.0,
            smt_speed: 0.5,
        }],
        transfer: Transfer {
            smt_sibling: nanos(SIBLING),
            same_cluster: nanos(CLUSTER),
            same_socket: nanos(SOCKET),
            cross_socket: nanos(CROSS),
            memory: nanos(90.0),
            invalidate: nanos(2.0),
            read_occupancy: nanos(3.0),
            jitter: 0.0,
            turnaround: 0.25,
        },
        store_buffer: 4,
        futex: Futex {
            entry: nanos(100.0),
            buckets: 16,
            bucket_hold: nanos(50.0),
            wake: nanos(700.0),
            timer_slack: nanos(50_000.0),
        },
        membarrier: Membarrier {
            base: nanos(500.0),
            per_cpu: nanos(300.0),
            interrupted: nanos(1_500.0),
        },
        scheduler: Scheduler {
            policy: Policy::Fair,
            slice: nanos(SLICE),
            tick: nanos(1_000_000.0),
            wakeup_granularity: nanos(1_000_000.0),
            sleeper_credit: nanos(SLICE),
            switch: nanos(SWITCH),
            migration: nanos(MIGRATION),
            wake_latency: nanos(WAKE_LATENCY),
            yields: Yield::Next,
            yield_cost: nanos(300.0),
            balance_interval: nanos(4_000_000.0),
        },
        idle: vec![
            Idle { after: 0, exit: 0 },
            Idle { after: nanos(1_000_000.0), exit: nanos(50_000.0) },
        ],
        clock: Clock { tsc_hertz: 2_000_000_000, monotonic_read: nanos(20.0) },
    }
}

/// One socket with one cluster of so many cores.
pub fn cores(count: usize) -> Costs {
    machine([1, 1, count, 1])
}

/// A thread that may run anywhere.
pub fn free(body: impl FnOnce() + 'static) -> Job {
    Job { allowed: None, body: Box::new(body) }
}

/// A thread of one CPU.
pub fn on(cpu: usize, body: impl FnOnce() + 'static) -> Job {
    Job { allowed: Some(Set::of(cpu)), body: Box::new(body) }
}

pub fn run(costs: &Costs, jobs: Vec<Job>) -> Ran {
    Simulation::new(costs, 1).run(jobs, Vec::new(), &|| false)
}

/// As [`run`], for so long at most.
pub fn run_for(costs: &Costs, nanos: f64, jobs: Vec<Job>) -> Ran {
    let simulation = Simulation { limit: of_nanos(nanos), ..Simulation::new(costs, 1) };
    simulation.run(jobs, Vec::new(), &|| false)
}

/// As [`run`], with that seed, while threads stand still and stores are late.
pub fn run_disturbed(costs: &Costs, seed: u64, jobs: Vec<Job>) -> Ran {
    let unrest = Unrest {
        one_in: 4,
        longest_stall: of_nanos(400.0),
        latest_store: of_nanos(400.0),
        seed,
        ..Unrest::none()
    };
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

/// Spins until that time, in nanoseconds: threads that all do so go on together.
pub fn meet(at: u64) {
    while now() < at {
        Sim::pause();
    }
}
