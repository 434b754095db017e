//! A lock of any kind, compiled into every workload of its kind.

use std::time::Duration;

use ondeck::platform::Linux;
use ondeck_zoo::sync::{
    BarrierVisitor, OnceVisitor, RawBarrier, RawOnce, RawSemaphore, SemaphoreVisitor,
    for_each_barrier, for_each_once, for_each_semaphore,
};
use ondeck_zoo::{Kind, LockInfo, RawLock, RawRwLock, RwVisitor, Visitor, registry};

use super::baseline::{NoBarrier, NoLock, NoOnce, NoRwLock, NoSemaphore};
use super::{
    Own, Round, RoundFn, barrier_rounds, mutex_rounds, once_rounds, rwlock_rounds,
    semaphore_rounds, uncontended,
};
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
}

impl Subject {
    /// The mutex `L`, whether or not the registry has it.
    pub fn of<L: RawLock<Linux>>() -> Self {
        Self {
            kind: Kind::Mutex,
            info: L::INFO,
            size: size_of::<L>(),
            context_size: size_of::<L::Context>(),
            rounds: mutex_rounds::<L>(),
            alone: Some(|round| uncontended::time_pairs::<L>(round, |_| true)),
        }
    }

    /// The reader-writer lock `L`, whether or not the registry has it.
    pub fn of_rwlock<L: RawRwLock<Linux>>() -> Self {
        let context_size = size_of::<L::Read>().max(size_of::<L::Write>());
        let lock = Self::of_kind::<L>(Kind::RwLock, L::INFO, rwlock_rounds::<L>());
        Self { context_size, ..lock }
    }

    /// The semaphore `S`.
    pub fn of_semaphore<S: RawSemaphore>() -> Self {
        Self::of_kind::<S>(Kind::Semaphore, S::INFO, semaphore_rounds::<S>())
    }

    /// The once `O`.
    pub fn of_once<O: RawOnce>() -> Self {
        Self::of_kind::<O>(Kind::Once, O::INFO, once_rounds::<O>())
    }

    /// The barrier `B`.
    pub fn of_barrier<B: RawBarrier>() -> Self {
        Self::of_kind::<B>(Kind::Barrier, B::INFO, barrier_rounds::<B>())
    }

    fn of_kind<L>(kind: Kind, info: LockInfo, rounds: Vec<(&'static str, RoundFn)>) -> Self {
        Self { kind, info, size: size_of::<L>(), context_size: 0, rounds, alone: None }
    }

    /// Every mutex of the registry, in its order.
    pub fn all() -> Vec<Self> {
        let mut subjects = Collect(Vec::new());
        registry::for_each(&mut subjects);
        subjects.0
    }

    /// Every lock of every kind: the mutexes first.
    pub fn of_every_kind() -> Vec<Self> {
        let mut subjects = Collect(Self::all());
        registry::for_each_rwlock(&mut subjects);
        for_each_semaphore(&mut subjects);
        for_each_once(&mut subjects);
        for_each_barrier(&mut subjects);
        subjects.0
    }

    /// The mutex that does nothing, whose cost is the harness's own.
    pub fn baseline() -> Self {
        Self::of::<NoLock>()
    }

    /// The lock of that kind that does nothing.
    pub(crate) fn baseline_of(kind: Kind) -> Self {
        match kind {
            Kind::Mutex => Self::baseline(),
            Kind::RwLock => Self::of_rwlock::<NoRwLock>(),
            Kind::Semaphore => Self::of_semaphore::<NoSemaphore>(),
            Kind::Once => Self::of_once::<NoOnce>(),
            Kind::Barrier => Self::of_barrier::<NoBarrier>(),
        }
    }

    /// Measures one round of a workload of the lock's kind.
    ///
    /// # Errors
    ///
    /// [`TeamError`] if the lock gets stuck or the threads cannot be made.
    ///
    /// # Panics
    ///
    /// If there is no workload of that name for locks of this kind, names come from
    /// [`WORKLOADS`](super::WORKLOADS); or `own` is another's.
    pub fn round(&self, workload: &str, given: &Round, own: &Own) -> Result<Sample, TeamError> {
        let (_, round) =
            self.rounds.iter().find(|(name, _)| *name == workload).unwrap_or_else(|| {
                panic!("no workload for a lock of the kind {} is named {workload}", self.kind)
            });
        round(given, own)
    }

    /// Times pairs on the calling thread: for a process that has no other. None if the lock is no mutex.
    pub fn time_pairs_here(&self, round: Duration) -> Option<Pairs> {
        self.alone.map(|time_pairs| time_pairs(round))
    }
}

/// Collects the locks that it is shown.
struct Collect(Vec<Subject>);

impl Visitor<Linux> for Collect {
    fn visit<L: RawLock<Linux>>(&mut self) {
        self.0.push(Subject::of::<L>());
    }
}

impl RwVisitor<Linux> for Collect {
    fn visit<L: RawRwLock<Linux>>(&mut self) {
        self.0.push(Subject::of_rwlock::<L>());
    }
}

impl SemaphoreVisitor for Collect {
    fn visit<S: RawSemaphore>(&mut self) {
        self.0.push(Subject::of_semaphore::<S>());
    }
}

impl OnceVisitor for Collect {
    fn visit<O: RawOnce>(&mut self) {
        self.0.push(Subject::of_once::<O>());
    }
}

impl BarrierVisitor for Collect {
    fn visit<B: RawBarrier>(&mut self) {
        self.0.push(Subject::of_barrier::<B>());
    }
}
