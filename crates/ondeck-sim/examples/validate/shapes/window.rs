//! Threads that lock, work, unlock and work until the time is over: parking_lot's benchmark of mutexes, the
//! laboratory's `throughput`, and programs whose locks are compared only by their order.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, Line, On, change_all, with};
use ondeck_sim::engine::{Call, Sim, Simulation};
use ondeck_sim::time::of_nanos;

/// A run.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub threads: usize,
    /// Nanoseconds inside.
    pub section: f64,
    /// Nanoseconds outside.
    pub outside: f64,
    /// The section changes a number on the lock's own line.
    pub beside: bool,
    /// Further lines that the section changes.
    pub lines: usize,
    /// Nanoseconds of the run, of which the first fifth is not counted.
    pub length: f64,
}

struct Shared<L> {
    lock: Apart<(L, Cell<u64>)>,
    lines: Vec<Apart<Line>>,
    pairs: Cell<u64>,
}

/// Runs it and returns the pairs of all threads in a second.
pub fn run<L: RawLock<Sim>>(on: &On, window: &Window) -> f64 {
    let window = *window;
    let shared = Rc::new(Shared {
        lock: Apart((L::new(), Cell::new(0))),
        lines: (0..window.lines).map(|_| Apart(Line::default())).collect(),
        pairs: Cell::new(0),
    });
    let jobs = on.jobs(window.threads, |_| {
        let shared = Rc::clone(&shared);
        move || {
            let context = L::Context::default();
            let (lock, number) = &shared.lock.0;
            while shared.pairs.get() != u64::MAX {
                with(lock, &context, || {
                    if window.section > 0.0 {
                        Sim::work(window.section);
                    }
                    if window.beside {
                        Sim::touch(number.as_ptr().addr(), 8, true);
                    }
                    change_all(&shared.lines);
                });
                shared.pairs.set(shared.pairs.get() + 1);
                if window.outside > 0.0 {
                    Sim::work(window.outside);
                }
            }
        }
    });
    let before = Rc::new(Cell::new(0));
    let (seen, counted) = (Rc::clone(&before), Rc::clone(&shared));
    let call = Box::new(move || seen.set(counted.pairs.get()));
    let mut simulation = Simulation::new(on.costs, on.seed);
    simulation.limit = of_nanos(window.length);
    simulation.run(jobs, vec![Call { at: of_nanos(window.length / 5.0), call }], &|| false);
    (shared.pairs.get() - before.get()) as f64 * 1e9 / (window.length * 0.8)
}
