//! `oversubscribed`: `throughput` with many more threads than CPUs.

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::throughput::Throughput;
use super::{Situation, Workload, WorkloadInfo};
use crate::sample::Sample;
use crate::team::TeamError;

pub(super) struct Oversubscribed;

impl Workload for Oversubscribed {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "oversubscribed",
        about: "Pairs a second and their cost, 4 to 32 threads a CPU",
        source: "Malte Skarupke, Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        Throughput::round::<L>(situation)
    }
}
