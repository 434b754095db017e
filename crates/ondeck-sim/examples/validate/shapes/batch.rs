//! Tasks of Swift's contention benchmark (synchronization-benchmarks, Benchmarks.swift and MutexBench): each
//! updates a small hash table under one lock, as often as its share of 50,000 says, and ends.
//!
//! A task is run to its end by a thread of a pool; the pool has as many threads as CPUs. No gate: a task may
//! begin when it was made, and tasks are made one after the other. The threads have been woken by the task that makes
//! the others many times before a batch that counts.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, Line, On, nanos, with};
use ondeck_sim::engine::{Placement, Sim};

/// Acquisitions of a batch of the source.
pub const BATCH: u64 = 50_000;

/// Lines of the hash table's values: 128 slots of 8 bytes.
const VALUE_LINES: usize = 16;

/// To make a task and to put it into the queue: half a microsecond, by what 384 tasks of the source take longer
/// than 64.
const TASK: f64 = 500.0;

/// A batch.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Tasks.
    pub tasks: u64,
    /// Acquisitions of all of them.
    pub acquisitions: u64,
    /// Nanoseconds of one update, without its cache lines.
    pub update: f64,
    /// Updates of a section.
    pub updates: Updates,
    /// Nanoseconds of work in a section besides.
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

/// How many updates a section makes.
#[derive(Clone, Copy, Debug)]
pub enum Updates {
    /// Always as many.
    Same(u32),
    /// So many, and with a probability in percent so many instead.
    Now(u32, u32, u32),
}

/// What tasks share. The lock and the table's counter are in one heap block, which is one line.
struct Shared<L> {
    state: Apart<(L, Cell<u64>)>,
    values: Vec<Line>,
    made: Apart<Cell<u64>>,
}

/// Runs a batch; nanoseconds for each acquisition.
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
            // The queue of tasks: the line of its end moves from one thread to the next.
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
            // Keys are scattered over the slots by their hash.
            let slot = counter.get().wrapping_mul(11) as usize % VALUE_LINES;
            shared.values[slot].change();
            Sim::touch(counter.as_ptr().addr(), 8, true);
            counter.set(counter.get() + 1);
        }
    });
}
