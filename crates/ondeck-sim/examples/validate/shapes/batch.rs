//! Tasks of Swift's contention benchmark (synchronization-benchmarks, Benchmarks.swift and MutexBench). Each
//! task updates a small hash table under one lock, makes its share of 50,000 updates, and ends.
//!
//! A thread of a pool runs a task to its end; the pool has as many threads as CPUs. There is no gate: a task may
//! begin as soon as it was made, and tasks are made one after the other. Before the first batch that counts, the task
//! that makes the others has woken the threads many times.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, Line, On, nanos, with};
use ondeck_sim::engine::{Placement, Sim};

/// Acquisitions of a batch of the source.
pub const BATCH: u64 = 50_000;

/// Lines of the hash table's values: 128 slots of 8 bytes.
const VALUE_LINES: usize = 16;

/// The time to make and enqueue a task: half a microsecond, derived from the difference between 384 and 64
/// tasks of the source.
const TASK: f64 = 500.0;

#[derive(Clone, Copy, Debug)]
pub struct Batch {
    pub tasks: u64,
    /// Acquisitions of all of them.
    pub acquisitions: u64,
    /// Nanoseconds of one update, without its cache lines.
    pub update: f64,
    /// Updates of a section.
    pub updates: Updates,
    /// Nanoseconds of other work in a section.
    pub section: f64,
    /// Nanoseconds of work between an unlock and the next lock.
    pub outside: f64,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            tasks: 1,
            acquisitions: BATCH,
            update: 0.0,
            updates: Updates::Same(1),
            section: 0.0,
            outside: 0.0,
        }
    }
}

/// The number of updates in a section.
#[derive(Clone, Copy, Debug)]
pub enum Updates {
    /// Always this number.
    Same(u32),
    /// The first number; with the given probability in percent, the other one.
    Now(u32, u32, u32),
}

/// State that tasks share. The lock and the table's counter are in one heap block, which is one line.
struct Shared<L> {
    state: Apart<(L, Cell<u64>)>,
    values: Vec<Line>,
    made: Apart<Cell<u64>>,
}

/// Runs a batch and returns the nanoseconds for each acquisition.
pub fn run<L: RawLock<Sim>>(on: &On, batch: &Batch) -> f64 {
    let shared = Rc::new(Shared {
        state: Apart((L::new(), Cell::new(0))),
        values: (0..VALUE_LINES).map(|_| Line::default()).collect(),
        made: Apart(Cell::new(0)),
    });
    let threads = on.cpu_count().min(batch.tasks as usize);
    let share = batch.acquisitions / batch.tasks;
    let batch = *batch;
    let ran = on.run(Placement::Together, threads, |thread| {
        let shared = Rc::clone(&shared);
        let mut random = fastrand::Rng::with_seed(on.seed ^ (thread as u64) << 32);
        move || {
            let context = L::Context::default();
            // The queue of tasks: the line of its end moves from thread to thread.
            Sim::touch(shared.made.0.as_ptr().addr(), 8, true);
            while shared.made.0.get() < batch.tasks {
                shared.made.0.set(shared.made.0.get() + 1);
                Sim::work(TASK);
                for _ in 0..share {
                    section(&shared, &context, &batch, &mut random);
                    if batch.outside > 0.0 {
                        Sim::work(batch.outside);
                    }
                }
                Sim::touch(shared.made.0.as_ptr().addr(), 8, true);
            }
        }
    });
    nanos(ran.time) / (batch.tasks * share) as f64
}

fn section<L: RawLock<Sim>>(
    shared: &Shared<L>,
    context: &L::Context,
    batch: &Batch,
    random: &mut fastrand::Rng,
) {
    let (lock, counter) = &shared.state.0;
    with(lock, context, || {
        let updates = match batch.updates {
            Updates::Same(updates) => updates,
            Updates::Now(often, percent, seldom) => {
                if random.u32(..100) < percent {
                    seldom
                } else {
                    often
                }
            }
        };
        if batch.section > 0.0 {
            Sim::work(batch.section);
        }
        for _ in 0..updates {
            Sim::touch(counter.as_ptr().addr(), 8, false);
            Sim::work(batch.update);
            // The hash scatters keys over the slots.
            let slot = counter.get().wrapping_mul(11) as usize % VALUE_LINES;
            shared.values[slot].change();
            Sim::touch(counter.as_ptr().addr(), 8, true);
            counter.set(counter.get() + 1);
        }
    });
}
