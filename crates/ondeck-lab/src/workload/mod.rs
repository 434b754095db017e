//! The workloads: one file each, and the list of them. Adding one is a file in this folder and a line in
//! the list.
//!
//! A workload is a type with a generic function, compiled once for every lock, so that a lock's
//! fast path is inlined into the loop that measures it as it would be into a program.

mod audit;
mod baseline;
mod buffer;
pub mod face;
mod guarded;
mod notify;
pub mod param;
mod phases;
mod ring;
mod situation;

use std::time::Duration;

use ondeck::platform::Linux;
use ondeck_zoo::{LockInfo, RawLock, Visitor, Waiting, registry};

use crate::sample::{self, Pairs, Quantity, Sample};
use crate::team::{TeamError, TeamSetting};
use crate::work::Work;

pub use baseline::{EmptyLock, NO_LOCK, NoLock};
use face::{Group, Judged, Needs, Plot, Shelf, Table};
pub use notify::{NOTIFY, Notify};
pub use situation::{Asked, Extent, Own, Rounds, Runs, Schedule, Situation};
pub use starve::NAME as STARVE;
pub use throughput::NAME as THROUGHPUT;
pub use timed_runs::PAIRS_PER_RUN;
pub use uncontended::NAME as UNCONTENDED;

/// What a round is given: its threads, how long it is, and its work.
#[derive(Clone, Debug)]
pub struct Round {
    /// How many threads, where, and when they count as stuck.
    pub team: TeamSetting,
    /// Its length, for workloads that are timed.
    pub length: Duration,
    /// Work inside the critical section.
    pub section: Work,
    /// Work between an unlock and the next lock.
    pub outside: Work,
    /// Pairs of each thread in a run, for workloads that are counted.
    pub pairs: u32,
    /// When a counted run is stopped although it is not at its end.
    pub longest_run: Duration,
}

/// The facts of a workload: what lists, plans, verdicts and reports have to know of it.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadInfo {
    /// Its name in commands and reports.
    pub name: &'static str,
    /// What a page calls it.
    pub title: &'static str,
    /// What it measures, in one sentence of a list.
    pub about: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// What it is, for the reader of a page.
    pub lead: &'static str,
    /// What its figures do not tell.
    pub cannot_show: &'static str,
    /// The locks that a suite measures.
    pub locks: Group,
    /// What it cannot do without.
    pub needs: Needs,
    /// How it is measured with a lock that does nothing.
    pub empty: EmptyLock,
    /// Its threads share data that is counted twice, and a lock that lets two in fails.
    pub shares_data: bool,
    /// Its threads notify others, inside the critical section or after the unlock.
    pub notifies: bool,
    /// The worst of what it measures is traced behind the measurements.
    pub traced: bool,
    /// What it reports in every round, beside what all workloads do.
    pub quantities: &'static [Quantity],
    /// What its locks are ranked by.
    pub judged: Judged,
    /// Where its tables stand in the terminal.
    pub shelf: Shelf,
    /// Its tables in the terminal.
    pub table: Table,
    /// Its plots on the page.
    pub plot: Plot,
}

impl WorkloadInfo {
    /// The facts of most workloads, without words and tables: a workload's file says what it has in their place.
    const USUAL: Self = Self {
        name: "",
        title: "",
        about: "",
        source: "",
        lead: "",
        cannot_show: "",
        locks: Group::Crowd,
        needs: Needs::Nothing,
        empty: EmptyLock::OneThread,
        shares_data: false,
        notifies: false,
        traced: false,
        quantities: &[],
        judged: Judged::By(sample::THROUGHPUT),
        shelf: Shelf::Basics,
        table: Table::Quantities { heading: "", columns: &[], note: "" },
        plot: Plot::Threads,
    };

    /// Whether its file has words for all that readers are told.
    const fn has_words(&self) -> bool {
        !(self.name.is_empty()
            || self.title.is_empty()
            || self.about.is_empty()
            || self.source.is_empty()
            || self.lead.is_empty()
            || self.cannot_show.is_empty())
    }
}

/// The workload of that name; none if another program had it.
pub fn named(name: &str) -> Option<&'static WorkloadInfo> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

/// What is known of a quantity of that name.
pub fn quantity(name: &str) -> Option<Quantity> {
    let own = WORKLOADS.iter().flat_map(|workload| workload.quantities);
    sample::QUANTITIES.iter().chain(own).copied().find(|quantity| quantity.name == name)
}

/// A way to measure any lock.
trait Workload {
    /// What its situations have that no other workload's do.
    type Own: Send + Sync + 'static;

    const INFO: WorkloadInfo;

    /// Its situations, of those that are asked for, and how long it is measured in each.
    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Self::Own>>);

    /// Measures one round.
    fn round<L: RawLock<Linux>>(given: &Round, own: &Self::Own) -> Result<Sample, TeamError>;
}

/// A lock, compiled into every workload.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The facts of the lock.
    pub info: LockInfo,
    /// Bytes of one lock.
    pub size: usize,
    /// Bytes that each thread brings to it.
    pub context_size: usize,
    rounds: Vec<(&'static str, RoundFn)>,
    alone: fn(Duration) -> Pairs,
}

type RoundFn = fn(&Round, &Own) -> Result<Sample, TeamError>;

/// The situations of a workload as all workloads have them.
fn situations_of<W: Workload>(asked: &Asked) -> (Schedule, Vec<Situation<Own>>) {
    let (schedule, situations) = W::situations(asked);
    let erased = |situation: Situation<W::Own>| {
        let Situation { threads, work, alone, emptied, params, own } = situation;
        Situation { threads, work, alone, emptied, params, own: Own::of(own) }
    };
    (schedule, situations.into_iter().map(erased).collect())
}

fn round_of<W: Workload, L: RawLock<Linux>>(given: &Round, own: &Own) -> Result<Sample, TeamError> {
    W::round::<L>(given, own.get())
}

macro_rules! workloads {
    ($($file:ident: $($Workload:ident),+;)*) => {
        $(mod $file;)*

        $($(const _: () = assert!(<$file::$Workload as Workload>::INFO.has_words());)+)*

        /// Every workload, in the order of a suite.
        pub const WORKLOADS: &[WorkloadInfo] = &[$($(<$file::$Workload as Workload>::INFO),+),*];

        fn rounds_of<L: RawLock<Linux>>() -> Vec<(&'static str, RoundFn)> {
            vec![$($((
                <$file::$Workload as Workload>::INFO.name,
                round_of::<$file::$Workload, L> as RoundFn,
            )),+),*]
        }

        impl WorkloadInfo {
            /// The situations of those that are asked for, and how long it is measured in each.
            pub fn situations(&self, asked: &Asked) -> (Schedule, Vec<Situation<Own>>) {
                $($(if self.name == <$file::$Workload as Workload>::INFO.name {
                    return situations_of::<$file::$Workload>(asked);
                })+)*
                unreachable!("every workload is in the list")
            }
        }
    };
}

workloads! {
    uncontended: Uncontended;
    collision: Collision;
    throughput: Throughput;
    timed_runs: Wait, Idle;
    handoff: Handoff;
    capture: Capture;
    starve: Starve;
    oversubscribed: Oversubscribed;
    condvar: Condvar;
    producer_consumer: ProducerConsumer;
    recovery: Recovery;
    chan: Chan;
    bystander: Bystander;
    background: Background;
    many_locks: ManyLocks;
    mixed_priority: MixedPriority;
    real: Real;
}

impl Subject {
    /// The lock `L`, whether or not the registry has it.
    pub fn of<L: RawLock<Linux>>() -> Self {
        Self {
            info: L::INFO,
            size: size_of::<L>(),
            context_size: size_of::<L::Context>(),
            rounds: rounds_of::<L>(),
            alone: |round| uncontended::time_pairs::<L>(round, |_| true),
        }
    }

    /// Every lock of the registry, in its order.
    pub fn all() -> Vec<Self> {
        struct Collect(Vec<Subject>);
        impl Visitor<Linux> for Collect {
            fn visit<L: RawLock<Linux>>(&mut self) {
                self.0.push(Subject::of::<L>());
            }
        }
        let mut subjects = Collect(Vec::new());
        registry::for_each(&mut subjects);
        subjects.0
    }

    /// The lock that does nothing, whose cost is the harness's own.
    pub fn baseline() -> Self {
        Self::of::<NoLock>()
    }

    /// Measures one round of a workload.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the lock gets stuck or the threads cannot be made.
    ///
    /// # Panics
    ///
    /// If there is no workload of that name, names come from [`WORKLOADS`]; or `own` is another's.
    pub fn round(&self, workload: &str, given: &Round, own: &Own) -> Result<Sample, TeamError> {
        let (_, round) = self
            .rounds
            .iter()
            .find(|(name, _)| *name == workload)
            .unwrap_or_else(|| panic!("no workload is named {workload}"));
        round(given, own)
    }

    /// Times pairs on the calling thread: for a process that has no other.
    pub fn time_pairs_here(&self, round: Duration) -> Pairs {
        (self.alone)(round)
    }
}

/// Whether threads that wait long enough for the lock sleep in the kernel.
pub fn waiters_sleep(info: &LockInfo) -> bool {
    match info.waiting {
        Waiting::Spins | Waiting::Yields => false,
        Waiting::Sleeps | Waiting::SpinsThenSleeps => true,
    }
}

/// A lock on cache lines of its own, so that neighbours in memory do not disturb its measurement.
/// Two lines, because the adjacent-line prefetcher of x86 fetches them in pairs.
#[repr(align(128))]
struct Apart<T>(T);
