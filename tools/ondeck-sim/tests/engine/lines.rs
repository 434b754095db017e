//! The time to move a cache line.

use std::cell::{Cell, RefCell};

use ondeck::platform::{AtomicInt, Ordering, Platform};
use ondeck_sim::engine::{Costs, Sim};
use ondeck_sim::machine::StoreBuffer;

use super::machine::{
    CLUSTER, CROSS, RMW, SIBLING, SOCKET, cores, leaked, machine, meet, nanos, now, on, run, word,
};

const HOPS: usize = 1_000;

/// The time of one hop of a word between two CPUs that take it from each other by compare-and-swap.
fn hop(costs: &Costs, cpus: [usize; 2]) -> f64 {
    let shared = word(0);
    let player = |me: usize| {
        on(cpus[me], move || {
            for turn in 0..HOPS {
                let (mine, next) = (2 * turn + me, 2 * turn + me + 1);
                let relaxed = Ordering::Relaxed;
                while shared.0.compare_exchange(mine, next, relaxed, relaxed).is_err() {
                    Sim::spin_again();
                }
            }
        })
    };
    let ran = run(costs, vec![player(0), player(1)]);
    nanos(ran.time) / (2 * HOPS) as f64
}

#[test]
fn a_hop_takes_the_one_way_time_of_the_pair() {
    let costs = machine([2, 2, 2, 2]);
    for (cpus, way) in
        [([0, 8], SIBLING), ([0, 1], CLUSTER), ([0, 2], SOCKET), ([0, 4], CROSS), ([0, 12], CROSS)]
    {
        let hop = hop(&costs, cpus);
        // Siblings share their core's cache; other CPUs share a line whose home learns later that
        // it has arrived.
        let most = 1.3 * way + 2.0 * RMW;
        assert!((way..most).contains(&hop), "{cpus:?}: {hop} ns instead of {way}");
    }
}

#[test]
fn writers_of_a_line_follow_each_other() {
    for count in [2, 4, 8] {
        let shared = word(0);
        let ends = leaked(RefCell::new(Vec::new()));
        let writer = |cpu| {
            on(cpu, move || {
                meet(10_000);
                shared.0.fetch_add(1, Ordering::Relaxed);
                ends.borrow_mut().push(now());
            })
        };
        run(&cores(count), (0..count).map(writer).collect());
        let ends = ends.borrow();
        assert!(ends.windows(2).all(|pair| pair[1] - pair[0] >= CLUSTER as u64), "{ends:?}");
        let all = (ends[count - 1] - ends[0]) as f64;
        assert!(all < 1.4 * CLUSTER * count as f64, "{ends:?}");
    }
}

#[test]
fn readers_of_a_line_share_it() {
    let shared = word(0);
    let ends = leaked(RefCell::new(Vec::new()));
    let reader = |cpu| {
        on(cpu, move || {
            if cpu == 0 {
                shared.0.swap(1, Ordering::Relaxed);
            }
            meet(10_000);
            let before = now();
            for _ in 0..100 {
                shared.0.load(Ordering::Relaxed);
            }
            ends.borrow_mut().push(now() - before);
        })
    };
    let ran = run(&cores(8), (0..8).map(reader).collect());
    // One way for the line, then all CPUs have it: an access is a hit.
    assert!(ends.borrow().iter().all(|&time| time < 100 + 120 + 2 * CLUSTER as u64), "{ends:?}");
    let line = &ran.traffic[0];
    assert_eq!((line.reads, line.writes), (7, 1));
}

#[test]
fn a_copy_is_good_for_as_long_as_the_message_that_takes_it_is_on_its_way() {
    // A reader polls a word while writers take turns with it. A value that it reads without a miss
    // is no newer than the first of those writes.
    let shared = word(0);
    let seen = leaked(RefCell::new(Vec::new()));
    let reader = on(0, move || {
        shared.0.load(Ordering::Relaxed);
        meet(9_900);
        for _ in 0..200 {
            let before = now();
            let value = shared.0.load(Ordering::Relaxed);
            seen.borrow_mut().push((value, now() - before));
        }
    });
    let writer = |cpu| {
        on(cpu, move || {
            shared.0.load(Ordering::Relaxed);
            meet(10_000);
            for _ in 0..4 {
                shared.0.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    run(&cores(5), std::iter::once(reader).chain((1..5).map(writer)).collect());
    let seen = seen.borrow();
    let free = |time: u64| time < 20 + CLUSTER as u64;
    let changes = seen.windows(2).filter(|pair| pair[0].0 != pair[1].0);
    let at_no_cost: Vec<_> = changes.filter(|pair| free(pair[1].1)).collect();
    assert!(at_no_cost.is_empty(), "{at_no_cost:?} of {seen:?}");
    assert_eq!(seen.last().map(|&(value, _)| value), Some(16), "{seen:?}");
}

#[test]
fn a_store_behind_another_one_is_not_seen_for_nothing() {
    // The second store hits, and waits for the first, which misses. The reader's copy of the second
    // word cannot show the store before the line has moved.
    let (far, near) = (word(0), word(0));
    let took = leaked(RefCell::new(Vec::new()));
    let writer = on(0, move || {
        near.0.swap(0, Ordering::Relaxed);
        meet(10_000);
        far.0.store(1, Ordering::Relaxed);
        near.0.store(1, Ordering::Release);
    });
    let owner = on(2, move || {
        far.0.swap(0, Ordering::Relaxed);
    });
    let reader = on(1, move || {
        meet(10_030);
        let mut value = 0;
        while value == 0 {
            let before = now();
            value = near.0.load(Ordering::Acquire);
            took.borrow_mut().push((value, now() - before));
        }
    });
    run(&machine([2, 1, 2, 1]), vec![writer, reader, owner]);
    let took = took.borrow();
    let (_, time) = took.last().expect("it was seen");
    assert!(*time >= CLUSTER as u64, "{took:?}");
}

#[test]
fn loads_do_not_see_what_a_store_buffer_has() {
    let shared = word(0);
    let seen = leaked(RefCell::new(Vec::new()));
    let writer = on(0, move || {
        meet(10_000);
        shared.0.store(1, Ordering::Relaxed);
        assert_eq!(shared.0.load(Ordering::Relaxed), 1);
    });
    let reader = on(2, move || {
        shared.0.swap(0, Ordering::Relaxed);
        meet(9_950);
        while now() < 10_500 {
            let at = now();
            seen.borrow_mut().push((at, shared.0.load(Ordering::Relaxed)));
        }
    });
    run(&machine([2, 1, 2, 1]), vec![writer, reader]);
    let seen = seen.borrow();
    let first = seen.iter().find(|&&(_, value)| value == 1).expect("it becomes visible");
    assert!(first.0 + 20 >= 10_000 + CROSS as u64, "{seen:?}");
    assert!(seen.iter().any(|&(at, value)| at > 10_030 && value == 0), "{seen:?}");
}

#[test]
fn a_full_store_buffer_stops_its_cpu() {
    let time = |entries| {
        let costs = Costs { store_buffer: StoreBuffer { entries }, ..machine([2, 1, 1, 1]) };
        let words: [_; 8] = std::array::from_fn(|_| word(0));
        let took = leaked(Cell::new(0));
        let owner = on(1, move || words.iter().for_each(|word| word.0.store(1, Ordering::SeqCst)));
        let writer = on(0, move || {
            meet(10_000);
            let before = now();
            for word in words {
                word.0.store(2, Ordering::Relaxed);
            }
            took.set(now() - before);
        });
        run(&costs, vec![writer, owner]);
        took.get()
    };
    // All lines move at the same time, so one wait suffices.
    assert!(time(4) >= CROSS as u64 && time(64) < CROSS as u64, "{} {}", time(4), time(64));
    // Without a buffer each store waits for its line.
    assert!(time(0) >= 8 * CROSS as u64, "{}", time(0));
}

#[test]
fn a_thread_is_on_the_numa_node_of_its_socket() {
    let costs = machine([2, 2, 2, 2]);
    let found = leaked(RefCell::new(Vec::new()));
    let asks = |cpu| on(cpu, move || found.borrow_mut().push((cpu, Sim::node())));
    run(&costs, [0, 3, 4, 7, 8, 12].map(asks).into());
    found.borrow_mut().sort_unstable();
    let expected = [(0, 0), (3, 0), (4, 1), (7, 1), (8, 0), (12, 1)];
    assert_eq!(*found.borrow(), expected);
}
