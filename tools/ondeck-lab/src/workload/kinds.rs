//! Workloads that are compiled for each lock: a trait for each kind of lock, with another bound on
//! its round.

use ondeck_zoo::{RawLock, RawRwLock};

use super::{Asked, Round, Sampled, Schedule, Situation, WorkloadInfo};
use crate::machine::Machine;

macro_rules! kinds {
    ($($(#[$doc:meta])* $Trait:ident: $bound:path;)*) => {$(
        $(#[$doc])*
        pub(super) trait $Trait {
            /// The settings of its situations that no other workload has.
            type Own: Send + Sync + 'static;

            const INFO: WorkloadInfo;

            /// Selects from the requested situations, and decides how long it is measured in each.
            fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Self::Own>>);

            /// Measures one round on a machine.
            fn round<M: Machine, L: $bound>(
                given: &Round,
                own: &Self::Own,
            ) -> Sampled;
        }
    )*};
}

kinds! {
    /// A way to measure any mutex that is compiled for each, because it times single pairs.
    Workload: RawLock<M>;
    /// A way to measure any reader-writer lock.
    RwWorkload: RawRwLock<M>;
}
