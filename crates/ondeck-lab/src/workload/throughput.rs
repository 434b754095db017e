//! `throughput`: every thread locks, works inside, unlocks, works outside, again and again.

use std::sync::Arc;

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::{Apart, EmptyLock, Situation, Workload, WorkloadInfo};
use crate::sample::Sample;
use crate::team::{self, TeamError, Until};

pub(super) struct Throughput;

impl Workload for Throughput {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "throughput",
        about: "Pairs a second of all threads, with work inside and outside",
        source: "the runtime's ChanContended benchmark in Go's issue 68578, without the channel",
        counted: false,
        empty: EmptyLock::OneThread,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        round::<L>(situation)
    }
}

/// A round of this workload and of those that differ from it in their situations only.
pub(super) fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
    let lock = Arc::new(Apart(L::new()));
    let (section, outside) = (situation.section, situation.outside);
    let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
        let context = L::Context::default();
        let lock = &lock.0;
        if !member.start() {
            return;
        }
        let mut pairs = 0;
        while !member.stopped() {
            // SAFETY: the context stays here until the unlock and serves this acquisition
            // alone.
            unsafe { lock.lock(&context) };
            section.perform();
            // SAFETY: locked above with this context.
            unsafe { lock.unlock(&context) };
            pairs += 1;
            member.done(pairs);
            outside.perform();
        }
    })?;
    Ok(Sample::of_outcome(&outcome))
}
