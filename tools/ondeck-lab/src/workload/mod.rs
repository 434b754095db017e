//! The workloads: one file each, and their list. To add one, add a file in this folder and a line
//! in the list.
//!
//! A workload is a type with a generic function. Where single pairs are timed it is compiled for
//! every lock, so that the lock's fast path is inlined into the measured loop as it would be into a
//! program. Otherwise it calls the lock through pointers ([`any`](mod@crate::any)).

mod audit;
mod baseline;
mod buffer;
mod data;
pub mod face;
mod gaps;
pub mod guarded;
mod kinds;
mod notify;
pub mod param;
mod phases;
mod prelude;
mod ring;
mod rw_pair;
mod situation;
mod subject;
mod times;

use std::sync::Arc;
use std::time::Duration;

use ondeck::platform::Native;
use ondeck_zoo::{Kind, LockInfo, RawLock, RawRwLock, Waiting};

use crate::any::{AnyMutex, any};
use crate::machine::Machine;
use crate::sample::{self, Quantity, Sample};
use crate::team::{self, Member, Outcome, TeamError, TeamSetting, Until};
use crate::work::Work;

pub(crate) use baseline::NoLock;
pub use baseline::{EmptyLock, NO_LOCK};
use face::{Group, Judged, Needs, Table};
use kinds::{RwWorkload, Workload};
pub use notify::{NOTIFY, Notify};
pub use rwmix::NAME as RWMIX;
pub use situation::{Asked, Extent, Own, Rounds, Runs, Schedule, Situation};
pub use starve::NAME as STARVE;
pub use subject::{Subject, Subjects};
pub use throughput::NAME as THROUGHPUT;
pub use timed_runs::PAIRS_PER_RUN;
pub use uncontended::NAME as UNCONTENDED;

/// The input of a round: its threads, its length, and its work.
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
    /// The time after which a counted run that has not ended is stopped.
    pub longest_run: Duration,
}

impl Round {
    /// Runs `body` on every thread of a team that shares a value, until the round is over. Returns
    /// the value and the outcome.
    fn timed<M: Machine, S: Send + Sync + 'static, T: Send + 'static>(
        &self,
        shared: S,
        body: impl Fn(&mut Member<M>, &S) -> Option<T> + Send + Sync + 'static,
    ) -> Result<(Arc<S>, Outcome<T>), TeamError> {
        let shared = Arc::new(shared);
        let its = Arc::clone(&shared);
        let body = move |member: &mut Member<M>| body(member, &its);
        Ok((shared, team::run(&self.team, Until::Elapsed(self.length), body)?))
    }
}

/// The facts of a workload for lists, plans, verdicts and reports.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadInfo {
    /// Its name in commands and reports.
    pub name: &'static str,
    /// The locks that it measures.
    pub kind: Kind,
    /// Its title on a page.
    pub title: &'static str,
    /// What it measures, in one sentence of a list. `docs/workloads.md` describes it.
    pub about: &'static str,
    /// The locks that a suite measures.
    pub locks: Group,
    /// Its requirement.
    pub needs: Needs,
    /// How it is measured with a lock that does nothing.
    pub empty: EmptyLock,
    /// Whether its threads share data that is counted twice, so that a lock that lets two in fails.
    pub shares_data: bool,
    /// Whether its threads notify others, inside the critical section or after the unlock.
    pub notifies: bool,
    /// The quantities that it reports in every round, in addition to those of all workloads.
    pub quantities: &'static [Quantity],
    /// The quantity that ranks its locks.
    pub judged: Judged,
    /// Its tables in the terminal.
    pub table: Table,
    /// Why it is measured on the real machine only; `None` if it can also be computed for another.
    pub only_real: Option<&'static str>,
}

impl WorkloadInfo {
    /// The facts of most workloads, without texts and tables; a workload's file replaces the facts
    /// that differ.
    const USUAL: Self = Self {
        name: "",
        kind: Kind::Mutex,
        title: "",
        about: "",
        locks: Group::Crowd,
        needs: Needs::Nothing,
        empty: EmptyLock::OneThread,
        shares_data: false,
        notifies: false,
        quantities: &[],
        judged: Judged::By(sample::THROUGHPUT),
        table: Table::Quantities { heading: "", columns: &[], note: "" },
        only_real: None,
    };

    /// Whether its file has all texts for readers.
    const fn has_words(&self) -> bool {
        !(self.name.is_empty() || self.title.is_empty() || self.about.is_empty())
    }
}

/// The workload of that name; `None` for a workload of another program.
pub fn named(name: &str) -> Option<&'static WorkloadInfo> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

/// The known quantity of that name.
pub fn quantity(name: &str) -> Option<Quantity> {
    sample::QUANTITIES.iter().copied().find(|quantity| quantity.name == name)
}

/// A way to measure any mutex that calls it through pointers, and so is compiled once.
trait Called {
    /// The settings of its situations that no other workload has.
    type Own: Send + Sync + 'static;

    const INFO: WorkloadInfo;

    /// Selects from the requested situations, and decides how long it is measured in each.
    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Self::Own>>);

    /// Measures one round on a machine.
    fn round<M: Machine>(given: &Round, own: &Self::Own, lock: AnyMutex<M>) -> Sampled;
}

impl<W: Called> Workload for W {
    type Own = W::Own;

    const INFO: WorkloadInfo = W::INFO;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Self::Own>>) {
        W::situations(asked)
    }

    fn round<M: Machine, L: RawLock<M>>(given: &Round, own: &Self::Own) -> Sampled {
        W::round(given, own, any::<M, L>())
    }
}

/// The mutex if the machine is the real one; otherwise an error with the reason `why`.
fn on_native<M: Machine>(lock: AnyMutex<M>, why: &str) -> Result<AnyMutex<Native>, TeamError> {
    M::native(lock)
        .ok_or_else(|| TeamError::Refused(format!("it is measured on real machines only: {why}")))
}

/// The sample of a round, or why there is none.
pub type Sampled = Result<Sample, TeamError>;

type RoundFn = fn(&Round, &Own) -> Sampled;

/// The situations of a workload in the common form of all workloads.
fn erased<O: Send + Sync + 'static>(
    (schedule, situations): (Schedule, Vec<Situation<O>>),
) -> (Schedule, Vec<Situation<Own>>) {
    let erased = |situation: Situation<O>| {
        let Situation { threads, work, alone, emptied, params, own } = situation;
        Situation { threads, work, alone, emptied, params, own: Own::of(own) }
    };
    (schedule, situations.into_iter().map(erased).collect())
}

macro_rules! workloads {
    ($($kind:ident, $Trait:ident over $bound:path, $rounds:ident {
        $($file:ident: $($Workload:ident),+;)*
    })*) => {
        $($(mod $file;)*)*

        $($($(const _: () = {
            let info = <$file::$Workload as $Trait>::INFO;
            assert!(info.has_words() && matches!(info.kind, Kind::$kind));
        };)+)*)*

        /// Every workload, in the order of a suite.
        pub const WORKLOADS: &[WorkloadInfo] =
            &[$($($(<$file::$Workload as $Trait>::INFO,)+)*)*];

        $(fn $rounds<M: Machine, L: $bound>() -> Vec<(&'static str, RoundFn)> {
            // The unit tests of this crate run no workload: they need not compile each again for
            // each lock.
            if cfg!(test) {
                return Vec::new();
            }
            vec![$($((
                <$file::$Workload as $Trait>::INFO.name,
                (|given, own| <$file::$Workload as $Trait>::round::<M, L>(given, own.get()))
                    as RoundFn,
            ),)+)*]
        })*

        impl WorkloadInfo {
            /// Selects from the requested situations, and decides how long it is measured in each.
            pub fn situations(&self, asked: &Asked) -> (Schedule, Vec<Situation<Own>>) {
                $($($(if self.name == <$file::$Workload as $Trait>::INFO.name {
                    return erased(<$file::$Workload as $Trait>::situations(asked));
                })+)*)*
                unreachable!("every workload is in the list")
            }
        }
    };
}

workloads! {
    Mutex, Workload over RawLock<M>, mutex_rounds {
        uncontended: Uncontended;
        collision: Collision;
        throughput: Throughput;
        timed_runs: Wait, Idle;
        handoff: Handoff;
        capture: Capture;
        starve: Starve;
        long_hold: LongHold;
        oversubscribed: Oversubscribed;
        condvar: Condvar;
        producer_consumer: ProducerConsumer;
        recovery: Recovery;
        chan: Chan;
        bystander: Bystander;
        mixed_priority: MixedPriority;
        real: Real;
    }
    RwLock, RwWorkload over RawRwLock<M>, rwlock_rounds {
        rwmix: RwMix;
        rw_latency: RwLatency;
    }
}

/// Whether threads that wait long enough for the lock sleep in the kernel.
pub fn waiters_sleep(info: &LockInfo) -> bool {
    match info.waiting {
        Waiting::Spins | Waiting::Yields => false,
        Waiting::Sleeps | Waiting::SpinsThenSleeps => true,
    }
}

/// A lock on its own cache lines, so that neighbours in memory do not disturb its measurement.
/// Two lines, because the adjacent-line prefetcher of x86 fetches them in pairs.
#[repr(align(128))]
struct Apart<T>(T);
