//! A lock of any kind, compiled into every workload of its kind.

use std::time::Duration;

use ondeck::platform::Native;
use ondeck_zoo::sync::{
    BarrierVisitor, OnceVisitor, RawBarrier, RawOnce, RawSemaphore, SemaphoreVisitor,
    for_each_barrier, for_each_hosted_barrier, for_each_hosted_once, for_each_hosted_semaphore,
    for_each_once, for_each_semaphore,
};
use ondeck_zoo::{
    Kind, LockInfo, RawLock, RawRwLock, RwVisitor, Visitor, locks, registry, rwlocks,
};

use super::baseline::{NO_LOCK, NoBarrier, NoLock, NoOnce, NoRwLock, NoSemaphore};
use super::{
    Own, Round, RoundFn, WorkloadInfo, barrier_rounds, mutex_rounds, named, once_rounds,
    rwlock_rounds, semaphore_rounds, uncontended,
};
use crate::machine::Machine;
use crate::sample::{Pairs, Sample};
use crate::team::TeamError;

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
            rounds: mutex_rounds::<M, L>(),
            alone: Some(|round| uncontended::time_pairs::<M, L>(round, |_| true)),
            empty: Self::of::<M, NoLock>,
        }
    }

    /// The reader-writer lock `L` on the machine `M`, whether or not the registry has it.
    pub fn of_rwlock<M: Machine, L: RawRwLock<M>>() -> Self {
        let context_size = size_of::<L::Read>().max(size_of::<L::Write>());
        let rounds = rwlock_rounds::<M, L>();
        let lock =
            Self::of_kind::<L>(Kind::RwLock, L::INFO, rounds, Self::of_rwlock::<M, NoRwLock>);
        Self { context_size, ..lock }
    }

    /// The semaphore `S` on the machine `M`.
    pub fn of_semaphore<M: Machine, S: RawSemaphore<M>>() -> Self {
        Self::of_kind::<S>(
            Kind::Semaphore,
            S::INFO,
            semaphore_rounds::<M, S>(),
            Self::of_semaphore::<M, NoSemaphore>,
        )
    }

    /// The once `O` on the machine `M`.
    pub fn of_once<M: Machine, O: RawOnce<M>>() -> Self {
        Self::of_kind::<O>(Kind::Once, O::INFO, once_rounds::<M, O>(), Self::of_once::<M, NoOnce>)
    }

    /// The barrier `B` on the machine `M`.
    pub fn of_barrier<M: Machine, B: RawBarrier<M>>() -> Self {
        Self::of_kind::<B>(
            Kind::Barrier,
            B::INFO,
            barrier_rounds::<M, B>(),
            Self::of_barrier::<M, NoBarrier>,
        )
    }

    fn of_kind<L>(
        kind: Kind,
        info: LockInfo,
        rounds: Vec<(&'static str, RoundFn)>,
        empty: fn() -> Self,
    ) -> Self {
        Self { kind, info, size: size_of::<L>(), context_size: 0, rounds, alone: None, empty }
    }

    /// Every mutex of the registry, in its order; mutexes of the museum only in builds with the feature `museum`.
    pub fn all() -> Vec<Self> {
        let mut subjects = Subjects::default();
        registry::for_each(&mut subjects);
        subjects.0
    }

    /// Every lock of every kind: the mutexes first.
    pub fn of_every_kind() -> Vec<Self> {
        let mut subjects = Subjects(Self::all());
        registry::for_each_rwlock(&mut subjects);
        for_each_semaphore(&mut subjects);
        for_each_once(&mut subjects);
        for_each_barrier(&mut subjects);
        subjects.0
    }

    /// Every lock of every kind that runs on any machine, on the machine `M`, in the order of
    /// [`of_every_kind`](Self::of_every_kind). Peers, and locks that need a specific kernel, are omitted.
    pub fn of_every_kind_on<M: Machine>() -> Vec<Self> {
        let mut subjects = Subjects::default();
        locks::for_each_hosted::<M>(&mut subjects);
        rwlocks::for_each_hosted::<M>(&mut subjects);
        for_each_hosted_semaphore::<M>(&mut subjects);
        for_each_hosted_once::<M>(&mut subjects);
        for_each_hosted_barrier::<M>(&mut subjects);
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
    /// [`TeamError`] if the lock gets stuck or the threads cannot be made.
    ///
    /// # Panics
    ///
    /// If no workload of that name exists for locks of this kind (names come from [`WORKLOADS`](super::WORKLOADS)),
    /// if `own` belongs to another workload, or if the lock does nothing and the threads would race.
    pub fn round(&self, workload: &str, given: &Round, own: &Own) -> Result<Sample, TeamError> {
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

    /// Times pairs on the calling thread, for a process that has no other. `None` if the lock is not a mutex.
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

    // Each lock would be compiled into every workload, for each machine.
    #[cfg(not(feature = "museum"))]
    fn visit_museum<L: RawLock<M>>(&mut self) {}
}

impl<M: Machine> RwVisitor<M> for Subjects {
    fn visit<L: RawRwLock<M>>(&mut self) {
        self.0.push(Subject::of_rwlock::<M, L>());
    }
}

impl<M: Machine> SemaphoreVisitor<M> for Subjects {
    fn visit<S: RawSemaphore<M>>(&mut self) {
        self.0.push(Subject::of_semaphore::<M, S>());
    }
}

impl<M: Machine> OnceVisitor<M> for Subjects {
    fn visit<O: RawOnce<M>>(&mut self) {
        self.0.push(Subject::of_once::<M, O>());
    }
}

impl<M: Machine> BarrierVisitor<M> for Subjects {
    fn visit<B: RawBarrier<M>>(&mut self) {
        self.0.push(Subject::of_barrier::<M, B>());
    }
}
