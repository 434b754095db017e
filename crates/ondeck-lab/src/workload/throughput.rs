//! `throughput`: every thread locks, works inside, unlocks, works outside, again and again.

use std::sync::Arc;

use ondeck::platform::{Linux, Platform};
use ondeck_zoo::RawLock;

use super::situation::{ALONE, LONG, MANY, MOST_THREADS, PROGRAM, Rounds, counts};
use super::{Apart, Asked, EmptyLock, Round, Schedule, Situation, Workload, WorkloadInfo};
use crate::sample::Sample;
use crate::team::{self, TeamError, Until};

pub(super) struct Throughput;

impl Workload for Throughput {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "throughput",
        about: "Pairs a second of all threads, with work inside and outside",
        source: "the runtime's ChanContended benchmark in Go's issue 68578, without the channel",
        empty: EmptyLock::OneThread,
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::by(
            asked.extent,
            Rounds::of_millis(20, 2),
            Rounds::of_millis(40, 3),
            Rounds::of_millis(1_000, 11),
        );
        let works = asked.work.map_or(vec![ALONE, PROGRAM, LONG], |work| vec![work]);
        let mut situations = Vec::new();
        for work in works {
            let quick: &[usize] = if work == ALONE { &[1, 2, 8] } else { &[2] };
            let counts = counts(asked, quick, &doublings(), MANY);
            situations.extend(counts.into_iter().map(|threads| Situation::working(threads, work)));
        }
        (rounds, situations)
    }

    fn round<L: RawLock<Linux>>(given: &Round, (): &()) -> Result<Sample, TeamError> {
        round::<L>(given)
    }
}

/// 1, 2, 4 and so on, to 32 or four times as many threads as CPUs; more are for `oversubscribed`.
fn doublings() -> Vec<usize> {
    let most = (4 * Linux::cpus()).clamp(32, MOST_THREADS);
    std::iter::successors(Some(1), |count| Some(2 * count))
        .take_while(|count| *count <= most)
        .collect()
}

/// A round of this workload and of those that differ from it in their situations only.
pub(super) fn round<L: RawLock<Linux>>(given: &Round) -> Result<Sample, TeamError> {
    let lock = Arc::new(Apart(L::new()));
    let (section, outside) = (given.section, given.outside);
    let outcome = team::run(&given.team, Until::Elapsed(given.length), move |member| {
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
