//! `starve`: does every thread get the lock now and then while all of them want it?
//!
//! Everybody hammers with a section of 100 ns. What counts is the thread that is worst off: the
//! longest time between two of its acquisitions, and its share of all.

use std::sync::Arc;

use ondeck::platform::{Linux, Platform};
use ondeck_zoo::RawLock;

use super::{Apart, Situation, Workload, WorkloadInfo};
use crate::clock::TickScale;
use crate::sample::{LONGEST, Sample};
use crate::team::{self, TeamError, Until};

pub(super) struct Starve;

impl Workload for Starve {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "starve",
        about: "The longest that a thread goes without a lock that all want",
        source: "this project; the question is that of the comments on Malte Skarupke's text",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let lock = Arc::new(Apart(L::new()));
        let (section, outside) = (situation.section, situation.outside);
        let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
            let context = L::Context::default();
            let lock = &lock.0;
            if !member.start() {
                return 0;
            }
            let mut last = Linux::ticks();
            let (mut pairs, mut longest) = (0, 0);
            while !member.stopped() {
                // SAFETY: the context stays here until the unlock and serves this acquisition
                // alone.
                unsafe { lock.lock(&context) };
                let now = Linux::ticks();
                section.perform();
                // SAFETY: locked above with this context.
                unsafe { lock.unlock(&context) };
                longest = now.saturating_sub(last).max(longest);
                last = now;
                pairs += 1;
                member.done(pairs);
                outside.perform();
            }
            longest
        })?;
        let longest = outcome.results.iter().copied().max().unwrap_or(0);
        let mut sample = Sample::of_outcome(&outcome);
        sample.values.push((LONGEST, TickScale::get().nanos(longest) / 1e6));
        Ok(sample)
    }
}
