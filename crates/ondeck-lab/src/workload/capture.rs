//! `capture`: how long one thread keeps getting the lock while others want it.
//!
//! Everybody hammers. A streak is how many acquisitions in a row one thread makes; a starvation is
//! how many acquisitions of others pass between two of the same thread. Both are recorded by the
//! owner, under the lock, when the lock has changed hands.

use std::cell::UnsafeCell;
use std::sync::Arc;

use hdrhistogram::Histogram;
use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::{Apart, Situation, Workload, WorkloadInfo};
use crate::sample::{self, Sample, histogram};
use crate::team::{self, TeamError, Until};

pub(super) struct Capture;

impl Workload for Capture {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "capture",
        about: "Acquisitions in a row by one thread, others passed over",
        source: "Rhys Hiltner, the benchmark MutexCapture of Go's runtime, for issue 68578",
        counted: false,
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let record = Record::new(situation.team.threads);
        let shared = Arc::new(Shared { lock: Apart(L::new()), record: UnsafeCell::new(record) });
        let (section, outside) = (situation.section, situation.outside);
        let worker = Arc::clone(&shared);
        let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
            let context = L::Context::default();
            if !member.start() {
                return;
            }
            let mut pairs = 0;
            while !member.stopped() {
                // SAFETY: the context stays here until the unlock and serves this acquisition
                // alone; the record is touched between lock and unlock only.
                unsafe {
                    worker.lock.0.lock(&context);
                    (*worker.record.get()).acquired(member.index);
                    section.perform();
                    worker.lock.0.unlock(&context);
                }
                pairs += 1;
                member.done(pairs);
                outside.perform();
            }
        })?;
        let mut sample = Sample::of_outcome(&outcome);
        // SAFETY: all threads have ended.
        let record = unsafe { &mut *shared.record.get() };
        record.end_streak();
        let streaks = [sample::STREAK_P50, sample::STREAK_P99, sample::STREAK_MAX];
        let passed = [sample::PASSED_P50, sample::PASSED_P99, sample::PASSED_MAX];
        for (times, quantities) in [(&record.streaks, streaks), (&record.passed, passed)] {
            let figures =
                [times.value_at_percentile(50.0), times.value_at_percentile(99.0), times.max()];
            sample.values.extend(
                quantities
                    .into_iter()
                    .zip(figures)
                    .map(|(quantity, value)| (quantity, value as f64)),
            );
        }
        Ok(sample)
    }
}

struct Shared<L> {
    lock: Apart<L>,
    record: UnsafeCell<Record>,
}

// SAFETY: the record is only touched by the owner of the lock, and by one thread after all ended.
unsafe impl<L: Sync> Sync for Shared<L> {}

/// What the owner keeps.
struct Record {
    last: usize,
    streak: u64,
    /// Acquisitions so far.
    total: u64,
    /// Each thread's last acquisition, as a number of the total.
    seen: Vec<u64>,
    streaks: Histogram<u64>,
    passed: Histogram<u64>,
}

impl Record {
    fn new(threads: usize) -> Self {
        Self {
            last: usize::MAX,
            streak: 0,
            total: 0,
            seen: vec![0; threads],
            streaks: histogram(),
            passed: histogram(),
        }
    }

    #[inline]
    fn acquired(&mut self, thread: usize) {
        self.total += 1;
        if thread == self.last {
            self.streak += 1;
        } else {
            self.change(thread);
        }
        self.seen[thread] = self.total;
    }

    #[inline(never)]
    fn change(&mut self, thread: usize) {
        self.end_streak();
        self.last = thread;
        self.streak = 1;
        self.passed.saturating_record((self.total - self.seen[thread] - 1).max(1));
    }

    fn end_streak(&mut self) {
        if self.streak > 0 {
            self.streaks.saturating_record(self.streak);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streaks_and_those_passed_over_are_told_apart() {
        let mut record = Record::new(2);
        for thread in [0, 0, 0, 1, 0] {
            record.acquired(thread);
        }
        record.end_streak();
        assert_eq!((record.streaks.max(), record.streaks.len()), (3, 3));
        assert_eq!((record.passed.max(), record.passed.len()), (3, 3));
    }
}
