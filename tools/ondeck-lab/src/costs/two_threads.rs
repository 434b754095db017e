//! Costs that only show between two threads on known CPUs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use ondeck::platform::{Native, Platform};

use super::{Timing, per_operation};
use crate::clock::TickScale;
use crate::cpus::{first, second};
use crate::system;

type Word = <Native as Platform>::AtomicU32;

fn bind(cpu: usize) -> Result<(), String> {
    system::pin(cpu)
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, String> {
    Builder::new()
        .spawn_scoped(scope, work)
        .map_err(|error| format!("a measuring thread could not be made: {error}"))
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    thread.join().unwrap_or_else(|_| Err("a measuring thread panicked".to_owned()))
}

/// Runs the work on a new thread that is bound to that CPU; the caller stays on its own.
pub(super) fn on_cpu<T: Send>(
    cpu: usize,
    work: impl FnOnce() -> Result<T, String> + Send,
) -> Result<T, String> {
    thread::scope(|scope| {
        joined(spawn(scope, || {
            bind(cpu)?;
            work()
        })?)
    })
}

/// Measures on the CPU `here` while a thread on the CPU `there` repeats `meanwhile`.
pub(super) fn beside(
    here: usize,
    there: usize,
    meanwhile: impl Fn() + Send + Sync,
    measure: impl FnOnce() -> f64 + Send,
) -> Timing {
    on_cpu(here, || {
        let over = AtomicBool::new(false);
        let (tell, bound) = mpsc::channel();
        thread::scope(|scope| {
            let (over, meanwhile) = (&over, &meanwhile);
            let other = spawn(scope, move || {
                let done = bind(there);
                // The receiver waits for nothing else.
                let _ = tell.send(done.is_ok());
                while done.is_ok() && !over.load(Ordering::Relaxed) {
                    meanwhile();
                }
                done
            })?;
            let nanos = if bound.recv() == Ok(true) { measure() } else { 0.0 };
            over.store(true, Ordering::Relaxed);
            joined(other).map(|()| nanos)
        })
    })
}

/// A sched_yield while a thread that never waits shares the CPU.
pub(super) fn yield_to_hog() -> Timing {
    /// A yield may cost a whole time slice.
    const YIELDS: u32 = 3;
    beside(first(), first(), std::hint::spin_loop, || {
        let start = Native::ticks();
        for _ in 0..YIELDS {
            Native::yield_now();
        }
        TickScale::get().between(start, Native::ticks()) / f64::from(YIELDS)
    })
}

/// Runs `measure` while another thread of the process runs on another CPU.
pub(super) fn beside_running(measure: impl Fn() -> f64 + Send) -> Timing {
    beside(first(), second()?, std::hint::spin_loop, measure)
}

/// The round trip of a line: written on one CPU, seen and written on another, seen again on the
/// first.
pub(super) fn line_round_trip() -> Timing {
    const ANSWERED: u32 = u32::MAX;
    let word = Word::new(0);
    let answer = || {
        if word.load(Ordering::Acquire) == 1 {
            word.store(ANSWERED, Ordering::Release);
        }
    };
    beside(first(), second()?, answer, || {
        let trip = || {
            word.store(1, Ordering::Release);
            while word.load(Ordering::Acquire) != ANSWERED {
                std::hint::spin_loop();
            }
        };
        trip();
        per_operation(trip)
    })
}

/// From one thread's futex wake to the other thread running, on average.
///
/// With two CPUs, each thread delays its wake until the other is certainly asleep. On one CPU the
/// other thread sleeps because this one runs.
pub(super) fn futex_wake_to_run(other_cpu: bool) -> Timing {
    const TRIPS: u32 = 100;
    /// A thread needs some microseconds until it sleeps; this is ten times as long.
    const ASLEEP_AFTER: Duration = Duration::from_micros(50);
    let (partner, delay) =
        if other_cpu { (second()?, ASLEEP_AFTER) } else { (first(), Duration::ZERO) };
    let wakes = wakes(partner, delay, TRIPS)?;
    // Turn 0 begins without a wake, and its first time is practically zero.
    Ok(wakes.iter().map(|wake| wake.to_run).sum::<f64>() / wakes.len().max(1) as f64)
}

/// One futex wake, in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct Wake {
    /// From before the wake until the woken thread runs; 0 for the first turn, which began without
    /// a wake.
    pub(super) to_run: f64,
    /// The call that wakes the other thread at the turn's end.
    pub(super) call: f64,
}

/// Two threads, on the first CPU and on the CPU `partner`, wake each other in turn, `trips` times
/// each. Each waits for `delay` before it wakes the other.
pub(super) fn wakes(partner: usize, delay: Duration, trips: u32) -> Result<Vec<Wake>, String> {
    let shared = Turns { turn: Word::new(0), woken_at: AtomicU64::new(0) };
    let turns = |mine| -> Vec<_> { (0..trips).map(|_| shared.take_turn(mine, delay)).collect() };
    on_cpu(first(), || {
        thread::scope(|scope| {
            let answering = spawn(scope, || {
                let bound = bind(partner);
                // A failed binding changes nothing here: the other side waits for every turn.
                let wakes = turns(1);
                bound.map(|()| wakes)
            })?;
            let mut wakes = turns(0);
            wakes.extend(joined(answering)?);
            Ok(wakes)
        })
    })
}

/// Which thread has the turn, and when it received it.
struct Turns {
    turn: Word,
    woken_at: AtomicU64,
}

impl Turns {
    /// Sleeps until it is `mine`'s turn, then passes the turn on.
    fn take_turn(&self, mine: u32, delay: Duration) -> Wake {
        while self.turn.load(Ordering::Acquire) != mine {
            // The loop rereads the word, whatever ended the wait.
            let _ = Native::futex_wait(&self.turn, 1 - mine, None);
        }
        let now = Native::ticks();
        let scale = TickScale::get();
        let woken_at = self.woken_at.load(Ordering::Relaxed);
        let to_run = if woken_at == 0 { 0.0 } else { scale.between(woken_at, now) };
        let wait = Instant::now();
        while wait.elapsed() < delay {
            std::hint::spin_loop();
        }
        let start = Native::ticks();
        // Published by the store of the turn below.
        self.woken_at.store(start, Ordering::Relaxed);
        self.turn.store(1 - mine, Ordering::Release);
        Native::futex_wake(&raw const self.turn, 1);
        Wake { to_run, call: scale.between(start, Native::ticks()) }
    }
}
