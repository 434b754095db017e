//! Heavy fences: their cost for each thread, and the stores that they wait for.

use std::cell::Cell;

use ondeck::platform::{AtomicInt, Fences, Ordering, Platform};
use ondeck_sim::engine::{Doing, Sim, Simulation, Unrest};
use ondeck_sim::time::of_nanos;

use super::machine::{cores, leaked, meet, nanos, now, on, run, word};

#[test]
fn a_heavy_fence_interrupts_each_cpu_that_runs_a_thread() {
    for busy in [0, 1, 3] {
        let took = leaked(Cell::new(0));
        let caller = on(0, move || {
            meet(20_000);
            let before = now();
            Sim::heavy_fence();
            took.set(now() - before);
        });
        let others = (1..=busy).map(|cpu| on(cpu, || Sim::work(100_000.0)));
        let ran = run(&cores(8), std::iter::once(caller).chain(others).collect());
        let clocks = 20 + 2 * 7;
        assert_eq!(took.get(), 500 + 300 * busy as u64 + clocks, "{busy} others");
        for other in &ran.spent[1..] {
            assert!((nanos(other.on(Doing::HeavyFencing)) - 1_500.0).abs() < 1e-3);
            assert!((nanos(other.on(Doing::Working)) - 100_000.0).abs() < 1e-3);
        }
    }
}

#[test]
fn heavy_fences_of_many_cpus_follow_each_other() {
    let caller = |cpu| {
        on(cpu, || {
            meet(20_000);
            Sim::heavy_fence();
            assert!(now() >= 20_500);
        })
    };
    let ran = run(&cores(4), (0..4).map(caller).collect());
    assert!(nanos(ran.time) >= 20_000.0 + 4.0 * 500.0, "{}", nanos(ran.time));
}

#[test]
fn a_heavy_fence_waits_for_stores_of_a_thread_that_has_left_its_cpu() {
    // The thread stores, and sleeps. Its CPU has no thread, and the store is still under way.
    let shared = word(0);
    let leaver = on(1, move || {
        meet(10_000);
        shared.0.store(1, Ordering::Relaxed);
        Sim::yield_now();
        Sim::sleep(10_000);
    });
    let seen = leaked(Cell::new(0));
    let caller = on(0, move || {
        // The store is some microseconds late; the sleep begins with a system call.
        meet(11_500);
        Sim::heavy_fence();
        seen.set(shared.0.load(Ordering::Relaxed));
    });
    let costs = cores(2);
    let unrest = Unrest { latest_store: of_nanos(1e9), seed: 3, ..Unrest::none() };
    let simulation = Simulation { unrest, ..Simulation::new(&costs, 1) };
    simulation.run(vec![leaver, caller], Vec::new(), &|| false);
    assert_eq!(seen.get(), 1);
}
