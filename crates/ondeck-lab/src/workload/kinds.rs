//! Workloads of locks that are not mutexes: a trait for each kind. Each is like
//! [`Workload`](super::Workload), with another bound on its round.

use ondeck_zoo::RawRwLock;
use ondeck_zoo::sync::{RawBarrier, RawOnce, RawSemaphore};

use super::{Asked, Round, Schedule, Situation, WorkloadInfo};
use crate::machine::Machine;
use crate::sample::Sample;
use crate::team::TeamError;

macro_rules! kinds {
    ($($(#[$doc:meta])* $Trait:ident: $bound:path;)*) => {$(
        $(#[$doc])*
        pub(super) trait $Trait {
            /// The settings of its situations that no other workload has.
            type Own: Send + Sync + 'static;

            const INFO: WorkloadInfo;

            /// Selects from the requested situations, and decides how long it is measured in each.
            fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Self::Own>>);

            /// Measures one round.
            fn round<M: Machine, L: $bound>(
                given: &Round,
                own: &Self::Own,
            ) -> Result<Sample, TeamError>;
        }
    )*};
}

kinds! {
    /// A way to measure any reader-writer lock.
    RwWorkload: RawRwLock<M>;
    /// A way to measure any semaphore.
    SemaphoreWorkload: RawSemaphore<M>;
    /// A way to measure any once.
    OnceWorkload: RawOnce<M>;
    /// A way to measure any barrier.
    BarrierWorkload: RawBarrier<M>;
}
