//! Skarupke's measurements: 16 threads lock and unlock 16,384 times each, and time each wait, or how long the
//! lock was free before each acquisition.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, On, nanos, with};
use ondeck::platform::Platform;
use ondeck_sim::engine::{Placement, Sim};

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

/// Runs it; milliseconds of the run.
pub fn run<L: RawLock<Sim>>(on: &On, timed: Timed) -> f64 {
    let shared = Rc::new(Apart((L::new(), Cell::new(0_u64))));
    let ran = on.run(Placement::Spread, THREADS, |_| {
        let shared = Rc::clone(&shared);
        move || {
            let context = L::Context::default();
            let (lock, released) = &shared.0;
            for _ in 0..PAIRS {
                // What is timed says nothing here, but reading the clock takes time.
                if timed == Timed::Wait {
                    Sim::ticks();
                }
                with(lock, &context, || {
                    Sim::ticks();
                    if timed == Timed::Idle {
                        Sim::touch(released.as_ptr().addr(), 8, true);
                        Sim::ticks();
                    }
                });
            }
        }
    });
    nanos(ran.time) / 1e6
}
