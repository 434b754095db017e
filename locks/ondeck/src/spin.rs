//! How a thread waits before it sleeps, and for how long.
//!
//! Nothing here is a constant of one machine. A wake takes 2 to 50 µs, and a cache line takes 25 to
//! 300 ns from one CPU to another. The process measures both while it waits, and the times are
//! multiples of them. For an experiment, [`Polling`] gives each in nanoseconds instead.
//!
//! The environment variable `ONDECK_SPIN` does so without recompiling: `ONDECK_SPIN=0` disables
//! polling, and `ONDECK_SPIN=budget,short,long,watch,tenure` gives the fields of [`Polling`] in
//! this order. A field that is left out or not a number is measured. The variable is read once,
//! before `main`, so a program that changes its own environment changes nothing; it calls
//! [`Polling::install`] instead.
//!
//! If all waiting threads are bound to one CPU, none polls, whatever was set: the owner could not
//! run during a poll. Affinity masks are read about once a second.

use core::time::Duration;

use crate::machine::Estimates;
pub use crate::machine::{MEASURED, Polling};

/// How a thread waits, in ticks: the values that were set, or else measured.
pub(crate) struct Waits {
    /// See [`Polling::budget`].
    pub(crate) polling: usize,
    pub(crate) short: usize,
    pub(crate) long: usize,
    pub(crate) watch: usize,
    /// See [`Polling::tenure`].
    pub(crate) tenure: usize,
    /// How long a wake takes.
    pub(crate) wake: usize,
    /// A thread that was displaced comes back at once if it does so within three transfers of a
    /// cache line: its failed attempt and what surrounds it take two (measured: 1.7 to 2.8 in the
    /// median on an EPYC whose CPUs share a core).
    pub(crate) at_once: usize,
}

impl Waits {
    /// Returns the current values.
    pub(crate) fn now<P: Estimates>() -> Self {
        /// A longer pause would be a sleep that burns a CPU.
        const LONGEST_PAUSE_NANOS: u32 = 1_000_000;
        let set = P::polling();
        let (wake, transfer) = (P::wake_ticks(), P::transfer_ticks());
        let cpus = P::cpus();
        let or = |set: u32, measured: usize| match set {
            MEASURED => measured,
            nanos => P::ticks_in(nanos),
        };
        let pause = |set: u32, measured: usize| match set {
            MEASURED => measured,
            nanos => P::ticks_in(nanos.min(LONGEST_PAUSE_NANOS)),
        };
        // The owner could not run while another thread polls.
        let alone = cpus == 1;
        let long = pause(set.long, P::ticks_in(800) + 24 * transfer);
        Self {
            polling: if alone { 0 } else { or(set.budget, wake) },
            // A slow counter may count no tick in a transfer, but pauses grow even then.
            short: pause(set.short, transfer.max(1)).min(long),
            long,
            watch: if alone { 0 } else { or(set.watch, 2 * wake) },
            tenure: or(set.tenure, 2 * wake),
            wake,
            at_once: 3 * transfer,
        }
    }
}

/// Returns the number of ticks of the platform's counter for which a thread that waits by other
/// means than this crate's locks should poll before it sleeps: [`Polling::budget`], or the measured
/// value. Returns 0 if all threads share one CPU.
///
/// A call takes some nanoseconds.
pub fn polling_ticks<P: Estimates>() -> usize {
    Waits::now::<P>().polling
}

/// Converts ticks to a duration, for a deadline.
pub(crate) fn ticks_as_duration<P: Estimates>(ticks: usize) -> Duration {
    let nanos = ticks as u128 * 1_000_000_000 / u128::from(P::ticks_per_second().max(1));
    Duration::from_nanos(nanos as u64)
}

/// Makes attempts until one succeeds, or for the time of a wake: after a first pause, and then
/// after ever longer ones. Makes at least one. Returns whether one succeeded.
pub(crate) fn poll<P: Estimates>(
    waits: &Waits,
    first_pause: usize,
    mut attempt: impl FnMut() -> bool,
) -> bool {
    /// The limit on the attempts: a clock read may take as long as the whole wait.
    const MOST: u32 = 1_000;
    let begin = P::ticks() as usize;
    let (mut now, mut pause) = (begin, first_pause);
    for _ in 0..P::spins(MOST) {
        if now.wrapping_sub(begin) >= waits.polling {
            break;
        }
        now = wait_for::<P>(now, pause);
        if attempt() {
            return true;
        }
        pause = (2 * pause).min(waits.long);
    }
    attempt()
}

/// Pauses until `is_over` returns true, or for `ticks`. Returns whether it has returned true.
pub(crate) fn pause_until<P: Estimates>(ticks: usize, mut is_over: impl FnMut() -> bool) -> bool {
    let begin = P::ticks() as usize;
    while !is_over() {
        if (P::ticks() as usize).wrapping_sub(begin) >= ticks {
            return false;
        }
        P::pause();
    }
    true
}

/// Waits until `ticks` after `start`. Returns the time at its end.
pub(crate) fn wait_for<P: Estimates>(start: usize, ticks: usize) -> usize {
    loop {
        let now = P::ticks() as usize;
        if now.wrapping_sub(start) >= ticks {
            return now;
        }
        P::pause();
    }
}
