//! The cost of a wake for the thread that makes it, and the delay of the woken thread by the idle
//! time of its CPU.

use std::time::Duration;

use super::super::Timing;
use super::super::two_threads::{self, Wake};
use crate::cpus;
use crate::summary::Spread;

/// Wakes of a thread on another CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Wakes {
    /// The duration of the system call that wakes one parked thread, in nanoseconds.
    pub call: f64,
    /// Between the quartiles of the time until a thread ran, on a CPU that was idle for 5 µs.
    pub spread: f64,
    /// Pairs of the time that the CPU was idle and the time from the start of that call until the
    /// woken thread ran, in nanoseconds; shortest idle time first.
    pub to_run: Vec<(f64, f64)>,
}

/// Measures between the first CPU and one on another core.
pub(super) fn measure(cancelled: impl Fn() -> bool) -> Result<Wakes, String> {
    /// Idle times around the residencies of idle states, and the number of measurements of each:
    /// half a second in all.
    const IDLE: [(Duration, u32); 6] = [
        (Duration::from_micros(5), 200),
        (Duration::from_micros(20), 200),
        (Duration::from_micros(100), 200),
        (Duration::from_micros(500), 100),
        (Duration::from_millis(2), 40),
        (Duration::from_millis(10), 10),
    ];
    let other = cpus::second()?;
    let mut wakes = Wakes { call: 0.0, spread: 0.0, to_run: Vec::new() };
    for (idle, trips) in IDLE {
        if cancelled() {
            return Err("interrupted".to_owned());
        }
        let measured = two_threads::wakes(other, idle, trips)?;
        let calls: Vec<_> = measured.iter().map(|wake| wake.call).collect();
        if wakes.to_run.is_empty() {
            wakes.call = Spread::of(&calls).p25;
            let all = times(&measured);
            wakes.spread = all.p75 - all.p25;
        }
        wakes.to_run.push((idle.as_secs_f64() * 1e9, usual(&measured)));
    }
    Ok(wakes)
}

/// From a wake to the woken thread running on the same CPU.
pub(super) fn to_run_here() -> Timing {
    let measured = two_threads::wakes(cpus::first(), Duration::ZERO, 100)?;
    Ok(usual(&measured))
}

/// The time that most woken threads took to run: the lower quartile, because some wakes find the
/// CPU taken by another program.
fn usual(wakes: &[Wake]) -> f64 {
    times(wakes).p25
}

fn times(wakes: &[Wake]) -> Spread {
    let times: Vec<_> = wakes.iter().map(|wake| wake.to_run).filter(|time| *time > 0.0).collect();
    Spread::of(&times)
}
