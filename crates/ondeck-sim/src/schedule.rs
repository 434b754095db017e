//! Schedules: a small machine and the disturbances of its threads, all derived from one seed.

use std::fmt;

use fastrand::Rng;

use crate::engine::Unrest;
use crate::machine::{Costs, Idle, Policy, Scheduler, Yield, small};
use crate::time::{Time, of_nanos};

/// The kind of disturbances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Threads stand still or lose their CPU anywhere.
    Anywhere,
    /// They do so right after their writes.
    BehindWrites,
    /// A few threads stand still for long at places chosen in advance.
    AFewPlaces,
    /// Stores are late.
    LateStores,
    /// Woken threads get no CPU for a slice.
    LateWakes,
    /// All of it.
    Everything,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Anywhere,
        Self::BehindWrites,
        Self::AFewPlaces,
        Self::LateStores,
        Self::LateWakes,
        Self::Everything,
    ];
}

/// A machine, and the disturbances of its threads.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The seed of everything here.
    pub seed: u64,
    /// The kind of disturbances.
    pub kind: Kind,
    /// The machine.
    pub costs: Costs,
    /// The disturbances in numbers.
    pub unrest: Unrest,
    /// A run that takes longer is taken to wait for ever.
    pub limit: Time,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cpus, policy) = (self.costs.places.len(), self.costs.scheduler.policy);
        write!(f, "seed {}, {:?}, {cpus} CPUs, {policy:?}", self.seed, self.kind)
    }
}

/// Long enough for everything that ends.
const LIMIT: f64 = 1e8;

impl Schedule {
    /// The schedule of that seed.
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let kind = Kind::ALL[(seed % Kind::ALL.len() as u64) as usize];
        let all = kind == Kind::Everything;
        let mut unrest = Unrest {
            seed: rng.u64(..),
            longest_stall: of_nanos([300.0, 3_000.0, 60_000.0][rng.usize(..3)]),
            no_deadlines: true,
            ..Unrest::none()
        };
        if all || kind == Kind::Anywhere {
            unrest.one_in = [6, 20, 100][rng.usize(..3)];
        }
        if all || kind == Kind::BehindWrites {
            unrest.behind_writes = [2, 4, 12][rng.usize(..3)];
        }
        if all || kind == Kind::AFewPlaces {
            // Runs have some hundreds to some thousands of accesses.
            let accesses = 1 << rng.u32(6..13);
            let places = 1 + rng.u64(..4);
            unrest.changes = (0..places).map(|_| rng.u64(..accesses)).collect();
            unrest.change = of_nanos([5_000.0, 100_000.0, 2_000_000.0][rng.usize(..3)]);
        }
        if all || kind == Kind::LateStores {
            unrest.latest_store = of_nanos([200.0, 2_000.0, 10_000.0][rng.usize(..3)]);
            // So that some loads soon follow a store and others do not.
            unrest.one_in = unrest.one_in.max(40);
        }
        if all || kind == Kind::LateWakes {
            unrest.late_wakes = 1 + rng.u32(..4);
            unrest.late_wake = of_nanos(300_000.0);
            unrest.one_in = unrest.one_in.max(60);
        }
        // A thread that spins for another that waits for the same CPU gives up the CPU only where slices end.
        let policy =
            [Policy::Eevdf, Policy::Eevdf, Policy::RoundRobin, Policy::Windows][rng.usize(..4)];
        let shape =
            [[1, 1, 1, 1], [1, 1, 2, 1], [2, 1, 1, 1], [1, 2, 1, 2], [2, 1, 2, 1], [1, 1, 8, 1]];
        let costs = small_machine(shape[rng.usize(..shape.len())], policy);
        Self { seed, kind, costs, unrest, limit: of_nanos(LIMIT) }
    }
}

/// A machine of that shape with short slices.
fn small_machine(shape: [usize; 4], policy: Policy) -> Costs {
    let nanos = of_nanos;
    let mut costs = small(shape);
    (costs.classes[0].pause, costs.classes[0].smt_speed) = (nanos(15.0), 0.6);
    costs.transfer.jitter = 0.3;
    costs.store_buffer.entries = 40;
    (costs.futex_buckets, costs.futex.wake) = (4, nanos(500.0));
    costs.scheduler = Scheduler {
        policy,
        slice: nanos(20_000.0),
        tick: nanos(5_000.0),
        wakeup_granularity: nanos(5_000.0),
        sleeper_credit: nanos(20_000.0),
        yield_to: Yield::Last,
        balance_interval: nanos(100_000.0),
        ..costs.scheduler
    };
    costs.idle[1] = Idle { after: nanos(100_000.0), exit: nanos(20_000.0) };
    costs
}
