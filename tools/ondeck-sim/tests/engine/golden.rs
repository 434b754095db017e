//! The exact numbers of some runs: `tests/data/engine.txt`.
//!
//! They change with the engine and with the locks, and with nothing else: not with the build, the
//! address space, or earlier runs. After an intended change rewrite the file with
//! `ONDECK_GOLDEN=write cargo test`, and review the differences. A lock that is not yet in the file
//! is simulated and counted like the others.
//!
//! Locks whose waiters link nodes on the stack are left out: the compiler chooses where such a node
//! begins within its line, so this differs between builds.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;

use ondeck::platform::Threads;
use ondeck_sim::engine::{End, Ran, Sim, Simulation, Unrest};
use ondeck_sim::machine::{Costs, Policy, Scheduler, Yield};
use ondeck_sim::time::of_nanos;
use ondeck_zoo::{RawLock, Visitor, locks};

use super::machine::{Apart, free, machine};

const PAIRS: u64 = 12;

/// Threads count under the lock.
fn count_under<L: RawLock<Sim>>(costs: &Costs, seed: u64, threads: usize, pairs: u64) -> Ran {
    let lock = Rc::new(Apart(L::new()));
    let count = Rc::new(Cell::new(0));
    let thread = |_| {
        let (lock, count) = (lock.clone(), count.clone());
        free(move || {
            let context = Apart(L::Context::default());
            for _ in 0..pairs {
                // SAFETY: the context stays here and serves this acquisition alone.
                unsafe { lock.0.lock(&context.0) };
                let before = count.get();
                Sim::work(300.0);
                if Sim::once_in(50) {
                    Sim::work(30_000.0);
                }
                count.set(before + 1);
                // SAFETY: acquired above with this context.
                unsafe { lock.0.unlock(&context.0) };
                Sim::work(500.0);
            }
        })
    };
    let unrest = Unrest { one_in: 50, longest_stall: of_nanos(5_000.0), seed, ..Unrest::none() };
    let simulation = Simulation { unrest, ..Simulation::new(costs, seed) };
    let ran = simulation.run((0..threads).map(thread).collect(), Vec::new(), &|| false);
    assert_eq!(ran.end, End::Done, "{}", L::INFO.name);
    assert_eq!(count.get(), threads as u64 * pairs, "{}", L::INFO.name);
    ran
}

struct Table {
    machines: Vec<(&'static str, Costs, usize)>,
    text: String,
}

impl Visitor<Sim> for Table {
    fn visit<L: RawLock<Sim>>(&mut self) {
        let name = L::INFO.name;
        if name == ON_STACKS {
            return;
        }
        for (machine, costs, threads) in &self.machines {
            for seed in 1..=2 {
                let ran = count_under::<L>(costs, seed, *threads, PAIRS);
                let (pairs, events, end) = (*threads as u64 * PAIRS, ran.events, ran.time);
                writeln!(self.text, "{name:24} {machine:8} {seed:4} {pairs:6} {events:8} {end:14}")
                    .expect("a string takes what is written");
            }
        }
    }
}

/// Its waiters have nodes on their stacks, at places that the caller does not choose.
const ON_STACKS: &str = "ondeck";

fn machines() -> Vec<(&'static str, Costs, usize)> {
    let mut large = machine([2, 2, 4, 2]);
    large.transfer.jitter = 0.15;
    let mut small = machine([1, 1, 4, 1]);
    // Threads that spin for a thread without a CPU make many steps in a long slice.
    let (slice, tick) = (of_nanos(60_000.0), of_nanos(20_000.0));
    let scheduler = Scheduler { slice, tick, ..small.scheduler };
    large.scheduler = scheduler;
    small.scheduler = Scheduler { policy: Policy::RoundRobin, yield_to: Yield::Last, ..scheduler };
    vec![("large", large, 20), ("small", small, 9)]
}

#[test]
fn the_numbers_are_those_of_the_golden_file() {
    let head = format!(
        "{:24} {:8} {:>4} {:>6} {:>8} {:>14}\n",
        "lock", "machine", "seed", "pairs", "events", "end in ps"
    );
    let mut table = Table { machines: machines(), text: head };
    locks::for_each_hosted::<Sim>(&mut table);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/engine.txt");
    if std::env::var_os("ONDECK_GOLDEN").is_some() {
        std::fs::write(&path, &table.text).expect("the folder is there");
        return;
    }
    let expected = std::fs::read_to_string(&path).expect("a golden file");
    let found: HashSet<_> = table.text.lines().collect();
    for line in expected.lines() {
        assert!(found.contains(line), "tests/data/engine.txt says otherwise: {line}");
    }
}
