//! What the situations of timed workloads are made of: threads, work, and how long and how often a
//! round is.
//!
//! A suite is to take four minutes on two CPUs, so it measures what the answers need and no more:
//! the ends of a curve and not its middle, which `--full` has, but for `throughput`, where locks change
//! places along it; rounds of 40 ms where nothing but a rate is taken, which two runs of one binary
//! agree on within 15 %, and longer ones only where a share, a window or a phase asks for it.

use std::time::Duration;

use super::{Extent, Request};
use crate::sample::share_needs;

/// Section and outside work of the suite, in nanoseconds: the lock alone, a lock in a program, and one in a
/// program that does ten times as much under it.
pub(super) const ALONE: (u64, u64) = (0, 0);
pub(super) const PROGRAM: (u64, u64) = (100, 500);
pub(super) const LONG: (u64, u64) = (1_000, 5_000);

/// What tells the stages of a workload apart.
pub(super) struct Situation {
    pub(super) threads: usize,
    pub(super) work: (u64, u64),
    pub(super) capacity: usize,
    pub(super) variant: &'static str,
    pub(super) params: Vec<(&'static str, String)>,
}

/// How long a round is, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Rounds {
    length: Duration,
    pub(super) turns: usize,
    /// Rounds are as long as the share needs, if that is longer.
    shares: bool,
}

impl Rounds {
    pub(super) fn of_millis(length: u64, turns: usize) -> Self {
        Self { length: Duration::from_millis(length), turns, shares: true }
    }

    /// Rounds that are too short to tell shares by where threads outnumber CPUs.
    pub(super) fn short(self) -> Self {
        Self { shares: false, ..self }
    }

    pub(super) fn length(self, threads: usize) -> Duration {
        // A tenth more than the share needs, because a window is never quite as long as meant.
        let needed = share_needs(threads).mul_f64(1.1);
        if self.shares { self.length.max(needed) } else { self.length }
    }
}

/// One of three, by the extent.
pub(super) fn by<T>(extent: Extent, quick: T, suite: T, full: T) -> T {
    match extent {
        Extent::Quick => quick,
        Extent::Suite => suite,
        Extent::Full => full,
    }
}

/// The numbers of threads: those asked for, else by the extent.
pub(super) fn counts(
    request: &Request,
    quick: &[usize],
    suite: &[usize],
    full: &[usize],
) -> Vec<usize> {
    request.threads.clone().unwrap_or_else(|| by(request.extent, quick, suite, full).to_vec())
}

/// The same for workloads whose threads have two roles.
pub(super) fn counts_of_two(
    request: &Request,
    quick: &[usize],
    suite: &[usize],
    full: &[usize],
) -> Vec<usize> {
    let mut counts = counts(request, quick, suite, full);
    for count in &mut counts {
        *count = (*count).max(2);
    }
    counts.dedup();
    counts
}

pub(super) fn working(threads: usize, work: (u64, u64)) -> Situation {
    let params = vec![("section_ns", work.0.to_string()), ("outside_ns", work.1.to_string())];
    Situation { threads, work, capacity: 0, variant: "", params }
}

pub(super) fn plain(threads: usize) -> Situation {
    Situation { threads, work: ALONE, capacity: 0, variant: "", params: Vec::new() }
}

pub(super) const MANY: &[usize] = &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
