//! `uncontended`: one thread locks and unlocks, nobody else wants the lock.
//!
//! Whether the process has other threads matters: C libraries leave out atomics while there is
//! only one. A lab has many, so that case is measured in a process of its own, see
//! [`crate::alone`].

use std::hint::black_box;
use std::time::{Duration, Instant};

use ondeck::platform::{Linux, Platform};
use ondeck_zoo::RawLock;
use serde::{Deserialize, Serialize};

use super::{Apart, Situation, Workload, WorkloadInfo};
use crate::clock::{self, TickScale};
use crate::sample::{PAIR, Sample};
use crate::team::{self, TeamError, Until};
use crate::usage::Usage;

/// Pairs between two readings of the clock: enough that reading it does not count.
const BATCH: u64 = 1_000;

pub(super) struct Uncontended;

impl Workload for Uncontended {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "uncontended",
        about: "Cost of one lock and unlock when nobody else wants the lock",
        source: "Malte Skarupke, Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let round = situation.round;
        let mut outcome =
            team::run(&situation.team, Until::Finished(Duration::MAX), move |member| {
                if !member.start() {
                    return Pairs::default();
                }
                let pairs = time_pairs::<L>(round);
                member.done(pairs.pairs);
                pairs
            })?;
        // One thread has the lock all the time it runs: its own time is the window.
        outcome.window = outcome.results.first().map_or(outcome.window, |pairs| pairs.elapsed);
        let mut sample = Sample::of_outcome(&outcome);
        if let Some(pairs) = outcome.results.first() {
            sample.values.insert(0, (PAIR, pairs.median_nanos));
        }
        Ok(sample)
    }
}

/// What timing pairs on one thread found.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Pairs {
    /// The median over batches of 1,000 pairs, in nanoseconds for one pair. A batch that was
    /// interrupted does not move it.
    pub median_nanos: f64,
    /// How many pairs there were.
    pub pairs: u64,
    /// How long they took together.
    pub elapsed: Duration,
    /// CPU time that the kernel charged for them.
    pub cpu: Duration,
    /// Voluntary context switches meanwhile.
    pub voluntary: u64,
    /// Involuntary context switches meanwhile.
    pub involuntary: u64,
}

impl Pairs {
    /// `total` divided by the number of pairs.
    pub fn usage_per_pair(&self, total: f64) -> f64 {
        total / self.pairs.max(1) as f64
    }
}

/// Locks and unlocks a lock of its own on the calling thread for about `round`.
pub(super) fn time_pairs<L: RawLock<Linux>>(round: Duration) -> Pairs {
    let lock = Apart(L::new());
    // The optimizer must not know that nobody else sees the lock.
    let lock = black_box(&lock);
    let context = L::Context::default();
    let scale = TickScale::get();
    let usage = Usage::of_this_thread();
    let start = Instant::now();
    let mut batches = Vec::with_capacity(4_096);
    while start.elapsed() < round || batches.is_empty() {
        let before = Linux::ticks();
        for _ in 0..BATCH {
            // SAFETY: the context stays here until the unlock and serves this acquisition alone.
            unsafe {
                lock.0.lock(&context);
                lock.0.unlock(&context);
            }
            clock::opaque();
        }
        batches.push(Linux::ticks() - before);
    }
    let elapsed = start.elapsed();
    let usage = Usage::of_this_thread().since(usage);
    let pairs = BATCH * batches.len() as u64;
    let middle = batches.len() / 2;
    let (_, &mut median, _) = batches.select_nth_unstable(middle);
    Pairs {
        median_nanos: scale.nanos(median) / BATCH as f64,
        pairs,
        elapsed,
        cpu: usage.cpu,
        voluntary: usage.voluntary,
        involuntary: usage.involuntary,
    }
}
