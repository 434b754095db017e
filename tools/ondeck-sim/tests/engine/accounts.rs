//! Accounts contain all time.

use ondeck::platform::{AtomicInt, Fences, Ordering, Platform, Timestamp};
use ondeck_sim::engine::{End, Job, Ran, Sim, Simulation, Unrest};
use ondeck_sim::machine::{Costs, Policy, Scheduler, Yield};
use ondeck_sim::time::of_nanos;

use super::machine::{free, machine, word, word32};

/// Threads that work, sleep, wake each other, yield, and write one line.
fn busy(threads: u64, turns: u32) -> Vec<Job> {
    let (shared, flag) = (word(0), word32(0));
    let thread = |index: u64| {
        free(move || {
            let mut rng = fastrand::Rng::with_seed(index);
            for _ in 0..turns {
                shared.0.fetch_add(1, Ordering::Relaxed);
                shared.0.store(0, Ordering::Relaxed);
                match rng.u32(..7) {
                    0 => Sim::work(f64::from(rng.u32(..3_000_000))),
                    1 => Sim::yield_now(),
                    2 => {
                        let until = Sim::now().as_nanos() + rng.u64(..100_000);
                        let _ = Sim::futex_wait(&flag.0, 0, Some(Timestamp::from_nanos(until)));
                    }
                    3 => drop(Sim::futex_wake(&raw const flag.0, rng.u32(..3))),
                    4 => Sim::heavy_fence(),
                    5 => Sim::sleep(rng.u64(..2_000_000)),
                    _ => Sim::pause_times(rng.u32(..1_000)),
                }
            }
        })
    };
    (0..threads).map(thread).collect()
}

fn check(costs: &Costs, ran: &Ran, what: &str) {
    let cpu: u64 = ran.usages.iter().map(|usage| usage.cpu).sum();
    assert_eq!(ran.idle + cpu, ran.time * costs.places.len() as u64, "{what}: CPUs");
    for (thread, (usage, spent)) in ran.usages.iter().zip(&ran.spent).enumerate() {
        if ran.stuck.iter().any(|stuck| stuck.thread == thread) {
            let sum = usage.cpu + usage.ready + usage.asleep;
            assert_eq!(sum, ran.time, "{what}: thread {thread}: {usage:?}");
        } else if ran.end == End::Done {
            assert_eq!(usage.cpu, spent.total(), "{what}: thread {thread}: {spent:?}");
        }
    }
}

#[test]
fn times_add_up_under_every_policy_with_and_without_unrest() {
    for policy in [Policy::Eevdf, Policy::RoundRobin] {
        for yields in [Yield::Next, Yield::Last, Yield::Nothing] {
            for seed in 0..2 {
                let mut costs = machine([1, 2, 2, 2]);
                costs.scheduler = Scheduler { policy, yield_to: yields, ..costs.scheduler };
                let unrest = if seed % 2 == 0 {
                    Unrest::none()
                } else {
                    Unrest {
                        one_in: 5,
                        longest_stall: of_nanos(50_000.0),
                        latest_store: of_nanos(500.0),
                        seed,
                    }
                };
                let what = format!("{policy:?}, {yields:?}, seed {seed}");
                let simulation = Simulation { unrest, ..Simulation::new(&costs, seed) };
                let ran = simulation.run(busy(13, 30), Vec::new(), &|| false);
                assert_eq!(ran.end, End::Done, "{what}");
                check(&costs, &ran, &what);
                let unrest = simulation.unrest.clone();
                let limit = ran.time / 3;
                let cut = Simulation { unrest, limit, ..Simulation::new(&costs, seed) };
                let ran = cut.run(busy(13, 30), Vec::new(), &|| false);
                assert_eq!(ran.end, End::TooLong, "{what}");
                check(&costs, &ran, &what);
            }
        }
    }
}
