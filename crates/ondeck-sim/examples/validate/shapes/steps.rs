//! folly's SmallLocksBenchmark, `contended` and `contended_simple`: threads in groups, with a lock and a
//! counter for each group, run steps of an empty loop inside and outside.
//!
//! The program always starts at least as many threads as there are CPUs, so all CPUs are busy; no thread is bound.
//! Which threads share a lock is independent of where they run, so it is drawn here: threads are put on CPUs in a
//! regular order, which would put all threads of a lock on one socket.

use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, Line, On, change_all, nanos, with};
use ondeck_sim::engine::{Placement, Sim};

/// A run.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The parameter of the source: the number of threads for each lock, if there are enough CPUs.
    pub threads_param: usize,
    /// Operations of each thread.
    pub operations: u64,
    /// Nanoseconds inside.
    pub section: f64,
    /// Nanoseconds outside.
    pub outside: f64,
    /// `contended_simple`: the section adds to five counters on separate lines, otherwise to one.
    pub simple: bool,
}

struct Group<L> {
    lock: Apart<L>,
    counters: [Apart<Line>; 5],
}

/// Runs it and returns the nanoseconds for an operation of a thread, until the last thread ends.
pub fn run<L: RawLock<Sim>>(on: &On, steps: &Steps) -> f64 {
    let steps = *steps;
    let threads = on.cpu_count().max(steps.threads_param);
    let groups: Vec<_> = (0..threads / steps.threads_param)
        .map(|_| {
            let counters = std::array::from_fn(|_| Apart(Line::default()));
            Rc::new(Group { lock: Apart(L::new()), counters })
        })
        .collect();
    let mut order: Vec<usize> = (0..threads).collect();
    fastrand::Rng::with_seed(on.seed).shuffle(&mut order);
    let ran = on.run(Placement::Spread, threads, |thread| {
        let group = Rc::clone(&groups[order[thread] % groups.len()]);
        move || {
            let context = L::Context::default();
            let counters = if steps.simple { &group.counters[..] } else { &group.counters[..1] };
            for _ in 0..steps.operations {
                with(&group.lock.0, &context, || {
                    if steps.section > 0.0 {
                        Sim::work(steps.section);
                    }
                    change_all(counters);
                });
                Sim::work(steps.outside);
            }
        }
    });
    nanos(ran.time) / steps.operations as f64
}
