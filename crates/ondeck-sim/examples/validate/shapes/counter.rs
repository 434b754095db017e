//! Skarupke's measurements: 16 threads lock and unlock 16,384 times each, and time each wait, or the time
//! before each acquisition in which the lock was free. The longest counts.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, On, nanos, with};
use ondeck::platform::Platform;
use ondeck_sim::engine::{Placement, Sim};

const THREADS: usize = 16;

/// Pairs of each.
const PAIRS: usize = 16_384;

/// The measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// From the call of lock to its return.
    Wait,
    /// From an unlock to the next acquisition.
    Idle,
}

/// The times of a run, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The run itself.
    pub length: f64,
    /// The longest time in it.
    pub longest: f64,
}

pub fn run<L: RawLock<Sim>>(on: &On, timed: Timed) -> Times {
    let shared = Rc::new(Apart((L::new(), Cell::new(0_u64))));
    let longest = Rc::new(Cell::new(0));
    let ran = on.run(Placement::Spread, THREADS, |_| {
        let (shared, longest) = (Rc::clone(&shared), Rc::clone(&longest));
        move || {
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
                        Sim::touch(released.as_ptr().addr(), 8, true);
                        if released.get() != 0 {
                            time = after.saturating_sub(released.get());
                        }
                        released.set(Sim::ticks());
                    }
                });
                longest.set(longest.get().max(time));
            }
        }
    });
    let longest = longest.get() as f64 * 1e3 / on.costs.clock.tsc_hertz() as f64;
    Times { length: nanos(ran.time) / 1e6, longest }
}
