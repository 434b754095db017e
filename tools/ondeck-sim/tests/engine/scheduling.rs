//! Which thread runs on which CPU, and for how long.

use std::cell::RefCell;

use ondeck::platform::{AtomicInt, Ordering, Platform, Threads};
use ondeck_sim::engine::{End, Job, Set, Sim, Simulation, Unrest};
use ondeck_sim::machine::{Costs, Policy, Scheduler, Yield};
use ondeck_sim::time::of_nanos;

use super::machine::{
    MIGRATION, SLICE, SWITCH, WAKE_LATENCY, cores, free, leaked, machine, nanos, now, on, run,
    run_for, word, word32,
};

const POLICIES: [Policy; 2] = [Policy::Eevdf, Policy::RoundRobin];

fn with(costs: Costs, policy: Policy, yields: Yield) -> Costs {
    let scheduler = Scheduler { policy, yield_to: yields, ..costs.scheduler };
    Costs { scheduler, ..costs }
}

/// Threads that never sleep.
fn spinners(count: usize) -> Vec<Job> {
    (0..count).map(|_| free(|| Sim::work(1e12))).collect()
}

/// The order in which threads took their turns, without repetitions.
type Order = &'static RefCell<Vec<usize>>;

fn note(order: Order, thread: usize) {
    let mut order = order.borrow_mut();
    if order.last() != Some(&thread) {
        order.push(thread);
    }
}

/// Threads of one CPU that work for the given time, in pieces.
fn in_pieces(order: Order, threads: usize, nanos: f64) -> Vec<Job> {
    let thread = |index| {
        on(0, move || {
            for _ in 0..100 {
                note(order, index);
                Sim::work(nanos / 100.0);
            }
        })
    };
    (0..threads).map(thread).collect()
}

#[test]
fn threads_that_want_one_cpu_have_equal_parts_of_it() {
    for policy in POLICIES {
        let ran = run_for(&with(cores(1), policy, Yield::Next), 1e9, spinners(5));
        for usage in &ran.usages {
            let part = usage.cpu as f64 / ran.time as f64;
            assert!((0.18..0.22).contains(&part), "{policy:?}: {part}");
        }
    }
}

#[test]
fn slices_end_at_ticks_and_only_where_another_thread_waits() {
    let order = leaked(RefCell::default());
    let ran =
        run(&with(cores(1), Policy::RoundRobin, Yield::Next), in_pieces(order, 3, 2.5 * SLICE));
    let order = order.borrow();
    assert_eq!(*order, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(ran.usages.iter().map(|usage| usage.involuntary).sum::<u64>(), 6);
    let alone = run(&cores(1), vec![free(|| Sim::work(10.0 * SLICE))]);
    assert_eq!(alone.usages[0].involuntary, 0);
    assert!((nanos(alone.time) - 10.0 * SLICE - SWITCH).abs() < 3_000.0, "{}", nanos(alone.time));
}

#[test]
fn a_thread_that_slept_for_long_has_no_claim_to_all_that_time() {
    let sleeper = on(0, || {
        Sim::sleep(1_000_000_000);
        Sim::work(1e12);
    });
    let jobs = vec![on(0, || Sim::work(1e12)), sleeper];
    let ran = run_for(&cores(1), 2e9, jobs);
    let part = ran.usages[1].cpu as f64 / (ran.time as f64 / 2.0);
    assert!((0.45..0.55).contains(&part), "{part}");
}

#[test]
fn no_thread_starves_among_threads_that_sleep_and_wake() {
    let often = || {
        free(|| {
            loop {
                Sim::work(200_000.0);
                Sim::sleep(20_000);
            }
        })
    };
    let jobs = (0..6).map(|_| often()).chain(spinners(2)).collect();
    let ran = run_for(&cores(2), 5e8, jobs);
    for (thread, usage) in ran.usages.iter().enumerate() {
        let part = usage.cpu as f64 / ran.time as f64;
        assert!((0.12..0.45).contains(&part), "thread {thread}: {part} of a CPU");
    }
}

#[test]
fn a_yield_lets_others_run_as_the_machine_says() {
    let turns = |policy, yields| {
        let order = leaked(RefCell::default());
        let thread = |index| {
            on(0, move || {
                for _ in 0..3 {
                    note(order, index);
                    Sim::yield_now();
                }
            })
        };
        let ran = run(&with(cores(1), policy, yields), (0..3).map(thread).collect());
        assert_eq!(ran.end, End::Done);
        order.borrow().clone()
    };
    for policy in POLICIES {
        assert_eq!(turns(policy, Yield::Nothing), [0, 1, 2], "{policy:?}");
        assert_eq!(turns(policy, Yield::Last), [0, 1, 2, 0, 1, 2, 0, 1, 2], "{policy:?}");
        let next = turns(policy, Yield::Next);
        assert!(next.windows(2).all(|pair| pair[0] != pair[1]) && next.len() > 5, "{next:?}");
    }
}

#[test]
fn a_woken_thread_preempts_one_that_had_much_more() {
    let late = |policy| {
        let delay = leaked(RefCell::new(0));
        let sleeper = on(0, move || {
            let before = now();
            Sim::sleep(20_000_000);
            *delay.borrow_mut() = now() - before - 20_000_000;
        });
        let costs = with(cores(1), policy, Yield::Next);
        run_for(&costs, 1e9, vec![sleeper, on(0, || Sim::work(1e12))]);
        delay.take()
    };
    let slack = 50_000;
    let fair = late(Policy::Eevdf);
    assert!((slack..slack + 10_000).contains(&fair), "{fair}");
    let round_robin = late(Policy::RoundRobin);
    assert!((slack + 10_000..slack + 1_100_000).contains(&round_robin), "{round_robin}");
}

#[test]
fn a_woken_thread_goes_to_an_idle_cpu_near_the_one_it_had() {
    // A thread that never leaves CPU 0 occupies it; of 8 cores in two clusters those of the first
    // are near.
    for policy in POLICIES {
        let cpus = leaked(RefCell::new(Vec::new()));
        let sleeper = free(move || {
            let before = now();
            Sim::sleep(100_000);
            cpus.borrow_mut().push((Sim::cpu(), now() - before));
        });
        let taker = on(0, || {
            Sim::sleep(10_000);
            Sim::work(1_000_000.0);
        });
        let costs = with(machine([1, 2, 4, 1]), policy, Yield::Next);
        let ran = run(&costs, vec![sleeper, taker]);
        let (cpu, at) = cpus.borrow()[0];
        assert!((1..4).contains(&cpu), "{policy:?}: {cpu}");
        assert_eq!(ran.usages[0].migrations, 1);
        let woken = 100_000.0 + 50_000.0;
        let late = at as f64 - woken;
        let least = WAKE_LATENCY + SWITCH + MIGRATION;
        assert!((least..least + 1_000.0).contains(&late), "{policy:?}: {late}");
    }
}

#[test]
fn an_idle_cpu_takes_longer_the_longer_it_was_idle() {
    let delay = |sleep: u64| {
        let delay = leaked(RefCell::new(0));
        let sleeper = free(move || {
            let before = now();
            Sim::sleep(sleep);
            *delay.borrow_mut() = now() - before - sleep;
        });
        run(&cores(1), vec![sleeper]);
        delay.take()
    };
    assert!((50_000..60_000).contains(&delay(100_000)), "{}", delay(100_000));
    assert!((100_000..110_000).contains(&delay(2_000_000)), "{}", delay(2_000_000));
}

#[test]
fn a_thread_stays_on_the_cpus_that_it_may_have() {
    for policy in POLICIES {
        let allowed: Set = [1, 2].into_iter().collect();
        let job = |_| Job {
            allowed: Some(allowed),
            body: Box::new(|| {
                for _ in 0..200 {
                    Sim::work(100_000.0);
                    Sim::sleep(10_000);
                    assert!((1..=2).contains(&Sim::cpu()));
                    assert_eq!(Sim::cpus(), 2);
                }
            }),
        };
        let jobs = (0..3).map(job).chain(spinners(1)).collect();
        let ran = run_for(&with(cores(4), policy, Yield::Next), 60e6, jobs);
        assert!(ran.usages[..3].iter().any(|usage| usage.migrations > 0), "{policy:?}");
    }
}

#[test]
fn threads_that_wait_are_moved_to_cpus_that_get_idle() {
    // All threads begin on two CPUs; the other two become idle at once.
    for policy in POLICIES {
        let mut jobs: Vec<_> = (0..2).map(|cpu| on(2 + cpu, || Sim::work(10_000.0))).collect();
        jobs.extend((0..4).map(|_| free(|| Sim::work(50_000_000.0))));
        let ran = run(&with(cores(4), policy, Yield::Next), jobs);
        assert_eq!(ran.end, End::Done);
        assert!(nanos(ran.time) < 60e6, "{policy:?}: {} ns", nanos(ran.time));
    }
}

/// Virtual run times of two CPUs differ by what their threads have run. A thread that is moved has
/// no part of that.
#[test]
fn a_thread_that_is_moved_gets_an_equal_part_of_its_new_cpu() {
    // The first CPU runs two threads for a while, the second one for as long; then that one sleeps,
    // and its CPU takes a waiting thread.
    let other = on(1, || {
        Sim::work(1e9);
        Sim::sleep(10_000_000);
        Sim::work(1e12);
    });
    let jobs = vec![on(0, || Sim::work(1e12)), other, free(|| Sim::work(1e12))];
    let taken = run_for(&cores(2), 2e9, jobs);
    assert!(taken.usages[2].migrations > 0);
    let part = (nanos(taken.usages[1].cpu) - 1e9) / 1e9;
    assert!((0.4..0.6).contains(&part), "{part}");
}

#[test]
fn a_thread_keeps_its_cpu_in_the_middle_of_an_access() {
    // Slices of half a microsecond and accesses of half a microsecond.
    let mut costs = machine([2, 1, 1, 1]);
    costs.transfer.cross_socket = of_nanos(500.0);
    costs.scheduler =
        Scheduler { slice: of_nanos(500.0), tick: of_nanos(100.0), ..costs.scheduler };
    let shared = word(0);
    let adder = |cpu| {
        on(cpu, move || {
            for _ in 0..200 {
                shared.0.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let unrest = Unrest { one_in: 7, longest_stall: of_nanos(300.0), seed: 5, ..Unrest::none() };
    let simulation = Simulation { unrest, ..Simulation::new(&costs, 1) };
    let ran = simulation.run((0..4).map(|thread| adder(thread % 2)).collect(), vec![], &|| false);
    assert_eq!((ran.end, shared.0.load(Ordering::Relaxed)), (End::Done, 800));
    assert!(ran.usages.iter().all(|usage| usage.involuntary > 4), "{:?}", ran.usages);
}

#[test]
fn more_threads_than_rows_and_cpus_finish() {
    let flag = word32(0);
    let thread = |_| {
        free(move || {
            for _ in 0..3 {
                Sim::work(1_000.0);
                Sim::yield_now();
                let _ = Sim::futex_wait(&flag.0, 1, None);
            }
        })
    };
    let ran = run(&machine([2, 4, 16, 2]), (0..700).map(thread).collect());
    assert_eq!(ran.end, End::Done);
}

#[test]
fn hyper_threads_of_a_core_share_its_speed() {
    let time = |cpus: [usize; 2]| {
        let jobs = cpus.map(|cpu| on(cpu, || Sim::work(1e6))).into();
        nanos(run(&machine([1, 1, 2, 2]), jobs).time)
    };
    assert!(time([0, 1]) < 1.02e6 && time([0, 2]) > 1.98e6, "{} {}", time([0, 1]), time([0, 2]));
}
