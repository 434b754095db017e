//! Skarupke's measurements: 16 threads lock and unlock 16,384 times each, and time each wait, or how long the
//! lock was free before each acquisition. The longest counts.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, On, nanos, with};
use ondeck::platform::Platform;
use ondeck_sim::engine::Sim;

/// Threads.
const THREADS: usize = 16;

/// Pairs of each.
const PAIRS: usize = 16_384;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// From the call of lock to its return.
    Wait,
    /// From an unlock to the next acquisition.
    Idle,
}

/// Length of a run and its longest time, in milliseconds.
pub fn run<L: RawLock<Sim>>(on: &On, timed: &Timed) -> (f64, f64) {
    let timed = *timed;
    let shared = Rc::new(Apart((L::new(), Cell::new(0))));
    let longest = Rc::new(Cell::new(0));
    let bodies = (0..THREADS)
        .map(|_| {
            let (shared, longest) = (Rc::clone(&shared), Rc::clone(&longest));
            let body = move || {
                let context = L::Context::default();
                let (lock, released) = &shared.0;
                for _ in 0..PAIRS {
                    let before = if timed == Timed::Wait { Sim::ticks() } else { 0 };
                    let mut time = 0;
                    with(lock, &context, || {
                        let after = Sim::ticks();
                        if timed == Timed::Wait {
                            time = after - before;
                        } else {
                            let at: &Cell<u64> = released;
                            Sim::touch(at.as_ptr().addr(), 8, true);
                            if at.get() != 0 {
                                time = after.saturating_sub(at.get());
                            }
                            at.set(Sim::ticks());
                        }
                    });
                    longest.set(longest.get().max(time));
                }
            };
            Box::new(body) as Box<dyn FnOnce()>
        })
        .collect();
    let ran = on.run(bodies);
    let longest = longest.get() as f64 * 1e3 / on.costs.clock.tsc_hertz as f64;
    (nanos(ran.time) / 1e6, longest)
}
