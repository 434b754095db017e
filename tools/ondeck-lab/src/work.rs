//! Work of a given length that touches no shared memory.
//!
//! Work is counted in turns of arithmetic, not in time: a thread that is switched out in the middle
//! still has to finish its work when it runs again, as with real work.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Duration;

use crate::clock::TickScale;
use ondeck::platform::{Native, Platform};

/// A piece of work; performing it takes about its nominal time on an undisturbed CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    nanos: u64,
    turns: u64,
}

impl Work {
    /// Work that takes about `nanos` nanoseconds. The first call calibrates, some milliseconds.
    pub fn of_nanos(nanos: u64) -> Self {
        if nanos == 0 {
            return Self { nanos, turns: 0 };
        }
        Self { nanos, turns: ((nanos as f64 / nanos_per_turn()).round() as u64).max(1) }
    }

    /// Its nominal time in nanoseconds, which it takes exactly on a machine of virtual time.
    #[inline]
    pub fn nanos(self) -> u64 {
        self.nanos
    }

    /// Does the work on the real machine. Empty work costs a comparison; any other is a call.
    #[inline]
    pub fn perform(self) {
        if self.turns != 0 {
            turn(self.turns);
        }
    }

    /// Its nominal time as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.nanos)
    }
}

/// The loop of all work, one copy for all locks. If the loop that measures each lock had its own
/// copy, its alignment would differ from lock to lock; the same lock was then a fifth faster in one
/// build than in the next.
#[inline(never)]
fn turn(turns: u64) {
    // Each step depends on the one before, stays in registers, and cannot be folded into a formula:
    // some cycles a turn on every CPU.
    let mut value = turns;
    for _ in 0..turns {
        value = (value ^ (value >> 29)).wrapping_mul(0x5851_F42D_4C95_7F2D);
    }
    black_box(value);
}

fn nanos_per_turn() -> f64 {
    static NANOS: OnceLock<f64> = OnceLock::new();
    *NANOS.get_or_init(|| {
        const TURNS: u64 = 100_000;
        let scale = TickScale::get();
        // The fastest of several: interruptions only ever make it slower.
        (0..15)
            .map(|_| {
                let start = Native::ticks();
                Work { nanos: 0, turns: TURNS }.perform();
                scale.between(start, Native::ticks()) / TURNS as f64
            })
            .fold(f64::INFINITY, f64::min)
            .max(0.01)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_work_is_no_turn_and_more_work_is_more_turns() {
        assert_eq!(Work::of_nanos(0).turns, 0);
        assert!(Work::of_nanos(1).turns >= 1);
        let (short, long) = (Work::of_nanos(100), Work::of_nanos(10_000));
        assert!(long.turns >= 50 * short.turns, "{short:?} {long:?}");
        long.perform();
    }
}
