//! A lock of any kind, compiled into every workload of its kind.

use std::time::Duration;

use ondeck::platform::Native;
use ondeck_zoo::{
    Kind, LockInfo, RawLock, RawRwLock, RwVisitor, Visitor, locks, registry, rwlocks,
};

use super::baseline::{NO_LOCK, NoLock};
use super::{
    Own, Round, RoundFn, Sampled, WorkloadInfo, mutex_rounds, named, rwlock_rounds, uncontended,
};
use crate::any::{AnyMutex, any};
use crate::machine::Machine;
use crate::sample::Pairs;

/// A lock, compiled into every workload of its kind.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What kind of lock it is.
    pub kind: Kind,
    /// The facts of the lock.
    pub info: LockInfo,
    /// Bytes of one lock.
    pub size: usize,
    /// Bytes that each thread brings to it.
    pub context_size: usize,
    /// Its functions, for a mutex of the real machine.
    pub(crate) calls: Option<AnyMutex<Native>>,
    rounds: Vec<(&'static str, RoundFn)>,
    alone: Option<fn(Duration) -> Pairs>,
    empty: fn() -> Self,
}

impl Subject {
    /// The mutex `L` on the machine `M`, whether or not the registry has it.
    pub fn of<M: Machine, L: RawLock<M>>() -> Self {
        Self {
            kind: Kind::Mutex,
            info: L::INFO,
            size: size_of::<L>(),
            context_size: size_of::<L::Context>(),
            calls: M::native(any::<M, L>()),
            rounds: mutex_rounds::<M, L>(),
            alone: Some(|round| uncontended::time_pairs::<M, L>(round, |_| true)),
            empty: Self::of::<M, NoLock>,
        }
    }

    /// The reader-writer lock `L` on the machine `M`, whether or not the registry has it.
    pub fn of_rwlock<M: Machine, L: RawRwLock<M>>() -> Self {
        Self {
            kind: Kind::RwLock,
            info: L::INFO,
            size: size_of::<L>(),
            context_size: size_of::<L::Read>().max(size_of::<L::Write>()),
            calls: None,
            rounds: rwlock_rounds::<M, L>(),
            alone: None,
            empty: Self::of_rwlock::<M, NoLock>,
        }
    }

    /// Every mutex of the registry, in its order.
    pub fn all() -> Vec<Self> {
        let mut subjects = Subjects::default();
        registry::for_each(&mut subjects);
        subjects.0
    }

    /// Every lock of every kind: the mutexes first.
    pub fn of_every_kind() -> Vec<Self> {
        let mut subjects = Subjects(Self::all());
        registry::for_each_rwlock(&mut subjects);
        subjects.0
    }

    /// Every lock of every kind that runs on any machine, on the machine `M`, in the order of
    /// [`of_every_kind`](Self::of_every_kind). Peers, and locks that need a specific kernel, are
    /// omitted.
    pub fn of_every_kind_on<M: Machine>() -> Vec<Self> {
        let mut subjects = Subjects::default();
        locks::for_each_hosted::<M>(&mut subjects);
        rwlocks::for_each_hosted::<M>(&mut subjects);
        subjects.0
    }

    /// The mutex that does nothing, which shows the cost of the harness itself.
    pub fn baseline() -> Self {
        Self::of::<Native, NoLock>()
    }

    /// The lock of the same kind, on the same machine, that does nothing.
    #[must_use]
    pub fn empty(&self) -> Self {
        (self.empty)()
    }

    /// Measures one round of a workload of the lock's kind.
    ///
    /// # Errors
    ///
    /// [`TeamError`](crate::team::TeamError) if the lock gets stuck or the threads cannot be made.
    ///
    /// # Panics
    ///
    /// If no workload of that name exists for locks of this kind (names come from
    /// [`WORKLOADS`](super::WORKLOADS)), if `own` belongs to another workload, or if the lock does
    /// nothing and the threads would race.
    pub fn round(&self, workload: &str, given: &Round, own: &Own) -> Sampled {
        let (_, round) =
            self.rounds.iter().find(|(name, _)| *name == workload).unwrap_or_else(|| {
                panic!("no workload for a lock of the kind {} is named {workload}", self.kind)
            });
        let races = |info: &WorkloadInfo| !info.empty.permits(given.team.threads);
        assert!(
            self.info.name != NO_LOCK || !named(workload).is_some_and(races),
            "without a lock the threads of {workload} would race"
        );
        round(given, own)
    }

    /// Times pairs on the calling thread, for a process that has no other. `None` if the lock is
    /// not a mutex.
    pub fn time_pairs_here(&self, round: Duration) -> Option<Pairs> {
        self.alone.map(|time_pairs| time_pairs(round))
    }
}

/// Collects the locks that it is shown.
#[derive(Debug, Default)]
pub struct Subjects(pub Vec<Subject>);

impl<M: Machine> Visitor<M> for Subjects {
    fn visit<L: RawLock<M>>(&mut self) {
        self.0.push(Subject::of::<M, L>());
    }
}

impl<M: Machine> RwVisitor<M> for Subjects {
    fn visit<L: RawRwLock<M>>(&mut self) {
        self.0.push(Subject::of_rwlock::<M, L>());
    }
}
