//! Whether two CPUs are two cores: the rate of unshared work of two threads, divided by the rate of
//! one.
//!
//! The host of a virtual machine may put two of its CPUs on one core, in turns or as hyper-threads,
//! for minutes at a time. Then threads take turns instead of running at the same time. No kernel
//! statistic shows it.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpus::{first, second};
use crate::system;
use crate::usage::Usage;

/// The length of a window, and the number of windows with one thread and with two: 48 ms together.
const WINDOW: Duration = Duration::from_millis(8);
const WINDOWS: usize = 3;

/// At this ratio or above the CPUs are two cores; at the second ratio or below they are one.
const TWO: f64 = 1.7;
const ONE: f64 = 1.3;

/// Pure work of two threads on two CPUs, divided by that of one thread: about 2 if they are two
/// cores, about 1 or less if the host gives them one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PureWork {
    /// Before the run.
    pub before: f64,
    /// After it; absent if the run was cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}

/// What two CPUs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cores {
    /// A core each.
    Two,
    /// One core, which they share.
    One,
    /// Neither: other guests of the host compete for cores, or the state changed.
    Unclear,
}

impl PureWork {
    /// Measures, in some 50 ms, before a run on this number of usable CPUs; `None` for one CPU.
    pub fn before(usable_cpus: usize) -> Option<Self> {
        (usable_cpus > 1).then(ratio)?.map(|before| Self { before, after: None })
    }

    /// Measures again, after the run.
    pub fn look_again(&mut self) {
        self.after = ratio();
    }

    /// What the CPUs were before and after the run.
    pub fn cores(&self) -> BTreeSet<Cores> {
        [Some(self.before), self.after].into_iter().flatten().map(Cores::of).collect()
    }

    /// The line about the CPUs in tables and pages.
    pub fn line(&self) -> String {
        format!("CPUs: {}", self.words())
    }

    /// Both measurements in words.
    pub fn words(&self) -> String {
        let Self { before, after } = *self;
        let (first, last) = (Cores::of(before), Cores::of(after.unwrap_or(before)));
        let cores = if first == last {
            first.word().to_owned()
        } else {
            format!("{}, then {}", first.word(), last.word())
        };
        let after = after.map_or_else(String::new, |after| format!(", {after:.2} afterwards"));
        format!("{cores} (pure work {before:.2} times one thread's{after})")
    }
}

impl Cores {
    fn of(ratio: f64) -> Self {
        match ratio {
            TWO.. => Self::Two,
            ..=ONE => Self::One,
            _ => Self::Unclear,
        }
    }

    /// Its name in lines and warnings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Two => "two cores",
            Self::One => "one core shared",
            Self::Unclear => "unclear",
        }
    }
}

/// The ratio of the best windows: other programs only ever lower a rate.
fn ratio() -> Option<f64> {
    let (one, other) = (first(), second().ok()?);
    let (mut alone, mut both) = (0.0_f64, 0.0_f64);
    for _ in 0..WINDOWS {
        alone = alone.max(rate(&[one])?);
        both = both.max(rate(&[one, other])?);
    }
    (alone > 0.0).then(|| both / alone)
}

/// Pieces of work a second, of one thread on each of these CPUs; `None` if the system refuses a
/// thread.
fn rate(cpus: &[usize]) -> Option<f64> {
    let start = Barrier::new(cpus.len());
    thread::scope(|scope| {
        let begin = |&cpu: &usize| {
            let start = &start;
            let work = move || {
                // Where no thread can be bound, the scheduler places each.
                _ = system::pin(cpu);
                start.wait();
                pieces_a_second()
            };
            thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let threads: Vec<_> = cpus.iter().map(begin).collect();
        threads.into_iter().map(|thread| thread?.join().ok()).sum()
    })
}

/// Counts only the time in which the thread had a CPU of this machine: other programs here say
/// nothing about cores.
fn pieces_a_second() -> f64 {
    let (start, before) = (Instant::now(), Usage::of_this_thread());
    let mut values = std::array::from_fn(|index| index as u64 + 1);
    let mut pieces = 0.0;
    while start.elapsed() < WINDOW {
        piece(&mut values);
        pieces += 1.0;
    }
    black_box(values);
    let waited = Usage::of_this_thread().since(before).queued.unwrap_or_default();
    pieces / start.elapsed().saturating_sub(waited).as_secs_f64().max(1e-6)
}

/// A piece of some microseconds. Its independent chains keep the core's multiplier busy, which a
/// single hyper-thread can saturate, so two hyper-threads of one core do half as much each.
fn piece(values: &mut [u64; 8]) {
    for _ in 0..1_000 {
        for value in &mut *values {
            // Uses the whole product: no vector instruction computes it, and vectors would leave
            // the multiplier idle.
            let product = u128::from(*value) * 0x9E37_79B9_7F4A_7C15;
            *value = (product as u64) ^ ((product >> 64) as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_the_state_and_its_change() {
        let words = |before, after| PureWork { before, after }.words();
        assert_eq!(words(1.97, None), "two cores (pure work 1.97 times one thread's)");
        assert_eq!(
            words(0.98, Some(1.02)),
            "one core shared (pure work 0.98 times one thread's, 1.02 afterwards)"
        );
        assert_eq!(
            words(1.97, Some(1.5)),
            "two cores, then unclear (pure work 1.97 times one thread's, 1.50 afterwards)"
        );
        let changed = PureWork { before: 1.97, after: Some(1.02) };
        assert_eq!(changed.cores(), [Cores::Two, Cores::One].into());
    }

    #[test]
    fn a_ratio_is_found_on_two_cpus_only() {
        let cpus = system::usable_cpus().len();
        let found = PureWork::before(cpus);
        assert_eq!(found.is_some(), cpus > 1, "{found:?}");
        assert!(found.is_none_or(|work| work.before > 0.1), "{found:?}");
        assert_eq!(PureWork::before(1), None);
    }
}
