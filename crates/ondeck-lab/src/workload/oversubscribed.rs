//! `oversubscribed`: throughput with several times as many threads as CPUs.
//!
//! The owner of the lock, or the waiter that is next, may be off its CPU for as long as all others
//! want to run. A lock shows here whether its waiters let the others run, and whether it depends on
//! one particular thread to go on.

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::{EmptyLock, Situation, Workload, WorkloadInfo, throughput};
use crate::sample::Sample;
use crate::team::TeamError;

pub(super) struct Oversubscribed;

impl Workload for Oversubscribed {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "oversubscribed",
        about: "Throughput with 4 to 32 times as many threads as CPUs",
        source: "the runtime's ChanContended benchmark in Go's issue 68578, with more threads than \
                 CPUs",
        counted: false,
        empty: EmptyLock::OneThread,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        throughput::round::<L>(situation)
    }
}
