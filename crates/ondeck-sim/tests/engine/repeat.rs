//! The same seed gives the same run, whatever ran before and wherever memory is.

use std::cell::Cell;
use std::rc::Rc;

use ondeck::platform::Threads;
use ondeck_sim::engine::time::of_nanos;
use ondeck_sim::engine::{Costs, End, Ran, Sim, Simulation, Unrest};
use ondeck_zoo::{RawLock, Visitor, locks};

use super::machine::{Apart, free, machine};

/// Threads count under the lock.
pub fn count_under<L: RawLock<Sim>>(costs: &Costs, seed: u64, threads: usize, pairs: u64) -> Ran {
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

/// All that a run leaves, but for the addresses of lines.
fn trace(ran: &Ran) -> String {
    let hot: Vec<_> = ran.hot.iter().map(|hot| (hot.in_table, hot.traffic)).collect();
    format!(
        "{} {} {:?} {:?} {hot:?} {:?}",
        ran.time, ran.events, ran.usages, ran.spent, ran.buckets
    )
}

/// Takes memory, and leaves holes of many sizes.
fn stir(seed: u64) -> Vec<Vec<u8>> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut kept: Vec<Vec<u8>> =
        (0..400).map(|_| Vec::with_capacity(rng.usize(1..3_000))).collect();
    kept.retain(|_| rng.bool());
    kept
}

struct Repeat(Costs);

impl Visitor<Sim> for Repeat {
    fn visit<L: RawLock<Sim>>(&mut self) {
        let costs = &self.0;
        let trace = |seed| trace(&count_under::<L>(costs, seed, 12, 15));
        let (first, other) = (trace(1), trace(2));
        let _kept = stir(1);
        assert_eq!(trace(1), first, "{}", L::INFO.name);
        let _more = stir(2);
        let elsewhere = std::thread::scope(|scope| {
            let again = scope.spawn(|| self::trace(&count_under::<L>(costs, 1, 12, 15)));
            again.join().expect("it does not panic")
        });
        assert_eq!(elsewhere, first, "{}", L::INFO.name);
        assert_ne!(other, first, "{}: the seed changes nothing", L::INFO.name);
    }
}

#[test]
fn a_run_repeats_exactly() {
    let mut costs = machine([2, 2, 2, 2]);
    costs.transfer.jitter = 0.2;
    costs.scheduler.slice = of_nanos(60_000.0);
    costs.scheduler.tick = of_nanos(20_000.0);
    locks::for_each_hosted::<Sim>(&mut Repeat(costs));
}
