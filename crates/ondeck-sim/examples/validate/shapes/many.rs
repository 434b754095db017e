//! matklad's lock-bench: 32 threads share some locks. Each thread makes 10,000 operations: the next random
//! number picks a lock, which guards a counter on its own line.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, On, nanos, with};
use ondeck_sim::engine::{Placement, Sim};

const THREADS: usize = 32;

/// Operations of each thread.
const OPERATIONS: u64 = 10_000;

/// The time to draw a number and compute the remainder.
const DRAW: f64 = 8.0;

/// The number of locks.
#[derive(Clone, Copy, Debug)]
pub struct Many {
    pub locks: usize,
}

/// Runs a round and returns its milliseconds.
pub fn run<L: RawLock<Sim>>(on: &On, many: Many) -> f64 {
    let locks: Rc<Vec<_>> =
        Rc::new((0..many.locks).map(|_| Apart((L::new(), Cell::new(0_u64)))).collect());
    let ran = on.run(Placement::Spread, THREADS, |thread| {
        let locks = Rc::clone(&locks);
        let mut random = fastrand::Rng::with_seed(on.seed.wrapping_mul(31) + thread as u64);
        move || {
            let context = L::Context::default();
            for _ in 0..OPERATIONS {
                let (lock, counter) = &locks[random.usize(..locks.len())].0;
                with(lock, &context, || {
                    Sim::touch(counter.as_ptr().addr(), 8, true);
                    counter.set(counter.get() + 1);
                });
                Sim::work(DRAW);
            }
        }
    });
    nanos(ran.time) / 1e6
}
