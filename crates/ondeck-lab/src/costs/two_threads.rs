//! Costs that only show between two threads on known CPUs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::platform::{Linux, Platform};

use super::{Timing, per_operation};
use crate::clock::TickScale;

type Word = <Linux as Platform>::AtomicU32;

const ONE_CPU: &str = "this process may use only one CPU";

/// The first usable CPU, and the second if there is one.
fn cpus() -> (usize, Option<usize>) {
    let usable = Linux::affinity();
    (usable.first().copied().unwrap_or(0), usable.get(1).copied())
}

fn bind(cpu: usize) -> Result<(), String> {
    Linux::set_affinity(&[cpu]).map_err(|error| error.to_string())
}

fn joined<T>(result: thread::Result<Result<T, String>>) -> Result<T, String> {
    result.unwrap_or_else(|_| Err("a measuring thread panicked".to_owned()))
}

/// A sched_yield while a thread that never waits shares the CPU.
pub(super) fn yield_to_hog() -> Timing {
    /// A yield may cost a whole time slice.
    const YIELDS: u32 = 3;
    let (cpu, _) = cpus();
    let (over, running) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let bound = bind(cpu);
            running.store(true, Ordering::Release);
            while bound.is_ok() && !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let timing = joined(
            scope
                .spawn(|| {
                    bind(cpu)?;
                    while !running.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                    let start = Linux::ticks();
                    for _ in 0..YIELDS {
                        Linux::yield_now();
                    }
                    Ok(TickScale::get().between(start, Linux::ticks()) / f64::from(YIELDS))
                })
                .join(),
        );
        over.store(true, Ordering::Relaxed);
        timing
    })
}

/// `measure` on one CPU while another thread of the process runs on a second.
pub(super) fn beside_running_sibling(measure: impl Fn() -> f64 + Sync) -> Timing {
    let (first, Some(second)) = cpus() else { return Err(ONE_CPU.to_owned()) };
    let (over, running) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let bound = bind(second);
            running.store(true, Ordering::Release);
            while bound.is_ok() && !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let timing = joined(
            scope
                .spawn(|| {
                    bind(first)?;
                    while !running.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                    Ok(measure())
                })
                .join(),
        );
        over.store(true, Ordering::Relaxed);
        timing
    })
}

/// From one thread's futex wake to the other thread running.
///
/// Two threads wake each other in turn. Between CPUs each waits a while before it wakes, so that
/// the other is asleep by then; on one CPU the other sleeps because this one runs.
pub(super) fn futex_handover(other_cpu: bool) -> Timing {
    const TRIPS: u32 = 100;
    /// Falling asleep takes some microseconds; ten times that.
    const ASLEEP_AFTER: Duration = Duration::from_micros(50);
    let (first, second) = cpus();
    let partner = match (other_cpu, second) {
        (true, Some(second)) => second,
        (true, None) => return Err(ONE_CPU.to_owned()),
        (false, _) => first,
    };
    let delay = if other_cpu { ASLEEP_AFTER } else { Duration::ZERO };
    let shared = Arc::new(Handover { turn: Word::new(0), woken_at: AtomicU64::new(0) });
    let side = |cpu: usize, mine: u32| {
        let shared = Arc::clone(&shared);
        move || {
            let bound = bind(cpu);
            let mut nanos = 0.0;
            for _ in 0..TRIPS {
                nanos += shared.take_turn(mine, delay);
            }
            bound.map(|()| nanos / f64::from(TRIPS))
        }
    };
    let answering = thread::spawn(side(partner, 1));
    let asking = thread::spawn(side(first, 0));
    let (asking, answering) = (joined(asking.join())?, joined(answering.join())?);
    // Turn 0 begins without a wake: its first time is as good as nothing.
    Ok(f64::midpoint(asking, answering))
}

/// Whose turn it is, and when the turn was given.
struct Handover {
    turn: Word,
    woken_at: AtomicU64,
}

impl Handover {
    /// Sleeps until it is `mine`'s turn, then passes it on; returns how long the wake took to
    /// arrive, in nanoseconds.
    fn take_turn(&self, mine: u32, delay: Duration) -> f64 {
        while self.turn.load(Ordering::Acquire) != mine {
            // Whatever ended the wait, the word is looked at again.
            let _ = Linux::futex_wait(&self.turn, 1 - mine, None);
        }
        let now = Linux::ticks();
        let woken_at = self.woken_at.load(Ordering::Relaxed);
        let nanos = if woken_at == 0 { 0.0 } else { TickScale::get().between(woken_at, now) };
        let wait = Instant::now();
        while wait.elapsed() < delay {
            std::hint::spin_loop();
        }
        // Published by the store of the turn below.
        self.woken_at.store(Linux::ticks(), Ordering::Relaxed);
        self.turn.store(1 - mine, Ordering::Release);
        Linux::futex_wake(&raw const self.turn, 1);
        nanos
    }
}

/// A line written on one CPU, seen and written on another, seen again on the first.
pub(super) fn line_round_trip() -> Timing {
    const ANSWERED: u32 = u32::MAX;
    let (first, Some(second)) = cpus() else { return Err(ONE_CPU.to_owned()) };
    let word = Word::new(0);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let bound = bind(second);
            while !over.load(Ordering::Relaxed) {
                if word.load(Ordering::Acquire) == 1 {
                    word.store(ANSWERED, Ordering::Release);
                }
            }
            bound
        });
        let timing = joined(
            scope
                .spawn(|| {
                    bind(first)?;
                    let trip = || {
                        word.store(1, Ordering::Release);
                        while word.load(Ordering::Acquire) != ANSWERED {
                            std::hint::spin_loop();
                        }
                    };
                    trip();
                    Ok(per_operation(trip))
                })
                .join(),
        );
        over.store(true, Ordering::Relaxed);
        joined(answering.join())?;
        timing
    })
}
