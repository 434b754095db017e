//! The behaviours that the machine's memory allows and forbids: those of x86 (Sewell and others,
//! "x86-TSO: A Rigorous and Usable Programmer's Model for x86 Multiprocessors", 2010). Allowed
//! behaviours have to occur.

use std::cell::Cell;
use std::collections::BTreeSet;

use ondeck::platform::{AtomicInt, Fences, Ordering, Platform};
use ondeck_sim::engine::Sim;

use super::machine::{Apart, Word, leaked, machine, meet, on, run_disturbed};

const SEEDS: u64 = 300;

struct Vars {
    x: Apart<Word>,
    y: Apart<Word>,
    read: [Cell<usize>; 4],
}

impl Vars {
    fn read(&self, place: usize, word: &Apart<Word>) {
        self.read[place].set(word.0.load(Ordering::Acquire));
    }
}

fn set(word: &Apart<Word>, value: usize) {
    word.0.store(value, Ordering::Release);
}

/// The values read, and the final value of `x`, over many seeds.
fn outcomes(threads: &'static [fn(&Vars)]) -> BTreeSet<[usize; 5]> {
    let costs = machine([2, 1, 2, 1]);
    let mut seen = BTreeSet::new();
    for seed in 0..SEEDS {
        let vars = leaked(Vars {
            x: Apart(Word::new(0)),
            y: Apart(Word::new(0)),
            read: Default::default(),
        });
        let thread = |(cpu, thread): (usize, &'static fn(&Vars))| {
            on(cpu, move || {
                // Some CPUs have copies of the lines, and threads begin at different times.
                let mut rng = fastrand::Rng::with_seed(seed * 8 + cpu as u64);
                if rng.bool() {
                    vars.x.0.load(Ordering::Relaxed);
                }
                if rng.bool() {
                    vars.y.0.load(Ordering::Relaxed);
                }
                meet(5_000);
                Sim::work(f64::from(rng.u32(..400)));
                thread(vars);
            })
        };
        run_disturbed(&costs, seed, threads.iter().enumerate().map(thread).collect());
        let [a, b, c, d] = vars.read.each_ref().map(Cell::get);
        seen.insert([a, b, c, d, vars.x.0.load(Ordering::Relaxed)]);
    }
    seen
}

/// The values of the first two reads.
fn pairs(seen: &BTreeSet<[usize; 5]>) -> BTreeSet<(usize, usize)> {
    seen.iter().map(|&[a, b, ..]| (a, b)).collect()
}

/// As in SB: each thread stores to its own variable, runs the given fence, and reads the other's.
macro_rules! store_buffering {
    ($one:expr, $other:expr) => {{
        const THREADS: &[fn(&Vars)] = &[
            |vars| {
                set(&vars.x, 1);
                let () = $one;
                vars.read(0, &vars.y);
            },
            |vars| {
                set(&vars.y, 1);
                let () = $other;
                vars.read(1, &vars.x);
            },
        ];
        pairs(&outcomes(THREADS))
    }};
}

#[test]
fn stores_are_buffered_without_fences() {
    let all = BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(store_buffering!((), ()), all);
    // One fence does not suffice, nor do weaker ones, nor two light ones.
    assert_eq!(store_buffering!(Sim::fence(Ordering::SeqCst), ()), all);
    assert_eq!(store_buffering!(Sim::fence(Ordering::AcqRel), Sim::fence(Ordering::AcqRel)), all);
    assert_eq!(store_buffering!(Sim::light_fence(), Sim::light_fence()), all);
}

#[test]
fn fences_order_stores_before_loads() {
    let ordered = BTreeSet::from([(0, 1), (1, 0), (1, 1)]);
    assert_eq!(
        store_buffering!(Sim::fence(Ordering::SeqCst), Sim::fence(Ordering::SeqCst)),
        ordered
    );
    let asymmetric = store_buffering!(Sim::light_fence(), Sim::heavy_fence());
    assert!(!asymmetric.contains(&(0, 0)), "{asymmetric:?}");
    assert!(asymmetric.len() > 1, "{asymmetric:?}");
}

#[test]
fn read_modify_writes_and_ordered_stores_are_fences() {
    const EXCHANGED: &[fn(&Vars)] = &[
        |vars| {
            vars.x.0.swap(1, Ordering::Relaxed);
            vars.read(0, &vars.y);
        },
        |vars| {
            vars.y.0.store(1, Ordering::SeqCst);
            vars.read(1, &vars.x);
        },
    ];
    let seen = pairs(&outcomes(EXCHANGED));
    assert_eq!(seen, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn messages_are_passed_in_order() {
    const THREADS: &[fn(&Vars)] = &[
        |vars| {
            set(&vars.x, 1);
            set(&vars.y, 1);
        },
        |vars| {
            vars.read(0, &vars.y);
            vars.read(1, &vars.x);
        },
    ];
    assert_eq!(pairs(&outcomes(THREADS)), BTreeSet::from([(0, 0), (0, 1), (1, 1)]));
}

#[test]
fn loads_are_not_delayed_behind_stores() {
    const THREADS: &[fn(&Vars)] = &[
        |vars| {
            vars.read(0, &vars.y);
            set(&vars.x, 1);
        },
        |vars| {
            vars.read(1, &vars.x);
            set(&vars.y, 1);
        },
    ];
    assert_eq!(pairs(&outcomes(THREADS)), BTreeSet::from([(0, 0), (0, 1), (1, 0)]));
}

#[test]
fn a_word_never_goes_back() {
    const THREADS: &[fn(&Vars)] = &[
        |vars| {
            set(&vars.x, 1);
            set(&vars.x, 2);
        },
        |vars| {
            vars.read(0, &vars.x);
            vars.read(1, &vars.x);
        },
        |vars| {
            vars.read(2, &vars.x);
            vars.read(3, &vars.x);
        },
    ];
    let seen = outcomes(THREADS);
    assert!(seen.iter().all(|&[a, b, c, d, last]| a <= b && c <= d && last == 2), "{seen:?}");
    let between = |&[a, b, c, d, _]: &[usize; 5]| (a, b) == (1, 2) || (c, d) == (1, 2);
    assert!(pairs(&seen).contains(&(0, 2)) && seen.iter().any(between), "{seen:?}");
}

#[test]
fn a_thread_reads_its_own_stores() {
    const THREADS: &[fn(&Vars)] = &[
        |vars| {
            set(&vars.x, 1);
            vars.read(0, &vars.x);
            vars.read(1, &vars.y);
        },
        |vars| {
            set(&vars.y, 1);
            vars.read(2, &vars.y);
            vars.read(3, &vars.x);
        },
    ];
    let seen = outcomes(THREADS);
    assert!(seen.iter().all(|&[a, _, c, _, _]| a == 1 && c == 1), "{seen:?}");
    // Each thread sees its own store before the other's, which no single order of the stores
    // allows.
    assert!(seen.contains(&[1, 0, 1, 0, 1]), "{seen:?}");
}

#[test]
fn all_readers_see_one_order_of_independent_stores() {
    const THREADS: &[fn(&Vars)] = &[
        |vars| set(&vars.x, 1),
        |vars| set(&vars.y, 1),
        |vars| {
            vars.read(0, &vars.x);
            vars.read(1, &vars.y);
        },
        |vars| {
            vars.read(2, &vars.y);
            vars.read(3, &vars.x);
        },
    ];
    let seen = outcomes(THREADS);
    assert!(!seen.contains(&[1, 0, 1, 0, 1]), "{seen:?}");
    assert!(seen.contains(&[1, 0, 0, 0, 1]) && seen.contains(&[0, 0, 1, 0, 1]), "{seen:?}");
}

#[test]
fn a_read_modify_write_is_before_or_behind_a_store() {
    const THREADS: &[fn(&Vars)] = &[
        |vars| set(&vars.x, 10),
        |vars| vars.read[0].set(vars.x.0.fetch_add(1, Ordering::Relaxed)),
    ];
    let ends: BTreeSet<_> = outcomes(THREADS).iter().map(|&[a, .., last]| (a, last)).collect();
    assert_eq!(ends, BTreeSet::from([(0, 10), (10, 11)]));
}
