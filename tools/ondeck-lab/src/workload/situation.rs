//! The parts of workloads' situations: threads, work, and the length and number of rounds.
//!
//! A suite must take four minutes on two CPUs, so it measures only what the answers need. It has
//! the ends of a curve and not the middle, which `--full` has; `throughput` is the exception,
//! because locks change places along its curve. A round that measures only a rate takes 40 ms, at
//! which two runs of one binary agree within 15 %. It is longer only if a share, a window or a
//! phase needs more.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use super::{Notify, param};
use crate::sample::share_needs;

pub use crate::results::Extent;

/// A request to a workload: its extent, and the situations that the user has chosen.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How much to measure.
    pub extent: Extent,
    /// The number of CPUs that the machine has for threads.
    pub cpus: usize,
    /// Numbers of threads.
    pub threads: Option<Vec<usize>>,
    /// Critical section and outside work in nanoseconds.
    pub work: Option<(u64, u64)>,
    /// Numbers of cache lines that a section reads and writes.
    pub data: Option<Vec<usize>>,
    /// Capacities of a bounded queue.
    pub capacities: Option<Vec<usize>>,
    /// When threads notify the waiters of a condition.
    pub notify: Option<Vec<Notify>>,
}

/// A stage of a workload. `O` has the settings that no other workload has.
#[derive(Clone, Debug)]
pub struct Situation<O = ()> {
    /// How many threads.
    pub threads: usize,
    /// Work inside and outside of the section, in nanoseconds.
    pub work: (u64, u64),
    /// In a process of one thread.
    pub alone: bool,
    /// Whether it is also measured with the lock that does nothing, if the workload is.
    pub emptied: bool,
    /// Parameters as reports show them: they distinguish the situation from others of the workload.
    pub params: Vec<(&'static str, String)>,
    /// The workload's own settings.
    pub own: O,
}

impl Situation {
    /// A situation that has only a number of threads.
    pub fn plain(threads: usize) -> Self {
        Self { threads, work: ALONE, alone: false, emptied: true, params: Vec::new(), own: () }
    }

    /// Threads that work inside and outside of the section.
    pub fn working(threads: usize, work: (u64, u64)) -> Self {
        let params =
            vec![(param::SECTION, work.0.to_string()), (param::OUTSIDE, work.1.to_string())];
        Self { work, params, ..Self::plain(threads) }
    }
}

impl<O> Situation<O> {
    /// The same with the workload's own settings, and the parameters that name them.
    pub fn with<P>(
        self,
        own: P,
        params: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Situation<P> {
        let Self { threads, work, alone, emptied, params: mut all, .. } = self;
        all.extend(params);
        Situation { threads, work, alone, emptied, params: all, own }
    }
}

/// A workload's own settings, on the way from its situations to its rounds.
#[derive(Clone, Debug)]
pub struct Own(Arc<dyn Any + Send + Sync>);

impl Own {
    /// Wraps the settings of a workload's situation.
    pub fn of<O: Send + Sync + 'static>(own: O) -> Self {
        Self(Arc::new(own))
    }

    /// Returns the wrapped settings.
    ///
    /// # Panics
    ///
    /// If they belong to another workload.
    pub(super) fn get<O: 'static>(&self) -> &O {
        self.0.downcast_ref().expect("a situation is measured by the workload that has it")
    }
}

/// For a workload without own settings.
impl Default for Own {
    fn default() -> Self {
        Self::of(())
    }
}

/// How long and how often a workload is measured in each of its situations.
#[derive(Clone, Copy, Debug)]
pub enum Schedule {
    /// Rounds that end by time.
    Rounds(Rounds),
    /// Runs that end by count.
    Runs(Runs),
}

/// Runs that end by count, repeated until the time of a lock's turn is over.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// How long they are repeated; zero for one run a turn.
    pub turn: Duration,
    /// How many turns.
    pub turns: usize,
    /// The number of runs that suffices.
    pub most: usize,
    /// The time after which a run is cut off, if any: with a lock that collapses a run would take
    /// minutes.
    pub longest: Option<Duration>,
}

/// Section and outside work of the suite, in nanoseconds: the lock alone, a lock in a program, and
/// one in a program that does ten times as much under it.
pub(super) const ALONE: (u64, u64) = (0, 0);
pub(super) const PROGRAM: (u64, u64) = (100, 500);
pub(super) const LONG: (u64, u64) = (1_000, 5_000);

/// The most threads; many systems refuse more.
pub(super) const MOST_THREADS: usize = 4_096;

/// Numbers of threads of a long campaign.
pub(super) const MANY: &[usize] = &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/// In which extents rounds are long enough to measure shares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shares {
    Always,
    FromSuite,
    InFull,
    Never,
}

/// The length and the number of rounds.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    length: Duration,
    /// How many there are.
    pub turns: usize,
    /// Whether rounds are as long as the share needs, if that is longer.
    shares: bool,
}

impl Rounds {
    /// Rounds of a quick run, of a suite and of a full run: the milliseconds of one, and their
    /// number. A quick run sees that it works; a full run has as long and as many as the sources.
    pub(super) fn of(
        asked: &Asked,
        shares: Shares,
        [quick, suite, full]: [(u64, usize); 3],
    ) -> Schedule {
        let (least, (length, turns)) = match asked.extent {
            Extent::Quick => (Shares::Always, quick),
            Extent::Suite => (Shares::FromSuite, suite),
            Extent::Full => (Shares::InFull, full),
        };
        let length = Duration::from_millis(length);
        Schedule::Rounds(Self { length, turns, shares: shares <= least })
    }

    /// Rounds that are too short to measure shares where threads outnumber CPUs.
    #[must_use]
    pub(crate) fn short(self) -> Self {
        Self { shares: false, ..self }
    }

    /// The length of a round with this number of threads and CPUs.
    pub(crate) fn length(self, threads: usize, cpus: usize) -> Duration {
        // A tenth more than the share needs, because a window is never quite as long as intended.
        let needed = share_needs(threads, cpus).mul_f64(1.1);
        if self.shares { self.length.max(needed) } else { self.length }
    }
}

/// The situations of each of `outer` with each of `inner`.
pub(super) fn product<A: Copy, B: Copy, O>(
    outer: &[A],
    inner: &[B],
    of: impl Fn(A, B) -> Situation<O>,
) -> Vec<Situation<O>> {
    let of = &of;
    outer.iter().flat_map(|&one| inner.iter().map(move |&other| of(one, other))).collect()
}

/// Chooses one of three, by the extent.
pub(super) fn by<T>(extent: Extent, quick: T, suite: T, full: T) -> T {
    match extent {
        Extent::Quick => quick,
        Extent::Suite => suite,
        Extent::Full => full,
    }
}

/// The requested numbers of threads, otherwise chosen by the extent.
pub(super) fn counts(
    asked: &Asked,
    quick: &[usize],
    suite: &[usize],
    full: &[usize],
) -> Vec<usize> {
    asked.threads.clone().unwrap_or_else(|| by(asked.extent, quick, suite, full).to_vec())
}

/// The same for workloads whose threads have two roles.
pub(super) fn counts_of_two(
    asked: &Asked,
    quick: &[usize],
    suite: &[usize],
    full: &[usize],
) -> Vec<usize> {
    let mut counts = counts(asked, quick, suite, full);
    for count in &mut counts {
        *count = (*count).max(2);
    }
    counts.dedup();
    counts
}

/// The moments of notification to measure: the requested ones, otherwise the source's own, and both
/// if there is time.
pub(super) fn moments(asked: &Asked) -> Vec<Notify> {
    let both = asked.extent != Extent::Quick;
    let chosen = if both { &Notify::BOTH[..] } else { &Notify::BOTH[..1] };
    asked.notify.clone().unwrap_or_else(|| chosen.to_vec())
}
