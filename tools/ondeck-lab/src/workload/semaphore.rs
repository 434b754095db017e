//! `semaphore`: every thread acquires a permit, works, releases it, works outside.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ondeck_zoo::sync::RawSemaphore;

use super::prelude::*;

pub(super) struct Semaphore;

/// One section in this number is counted: counting each would also measure a count that all threads
/// share.
const COUNTED: u64 = 16;

impl SemaphoreWorkload for Semaphore {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "semaphore",
        kind: Kind::Semaphore,
        title: "Semaphore",
        about: "Permits taken and given back a second",
        locks: Group::All,
        shares_data: true,
        table: Table::Threads(Threads {
            heading: "million permits/s by threads",
            quantity: (THROUGHPUT, 1e-6),
            others: 0,
            role: "threads",
            most: 4,
            extras: &[
                Column("share", SHARE, Shown::Ratio),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("sleeps/op", VOLUNTARY, Shown::Ratio),
            ],
            note: "share (least / most served), CPU time and sleeps per permit",
        }),
        ..WorkloadInfo::USUAL
    };

    /// How many permits there are.
    type Own = u32;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<u32>>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(10, 1), (20, 3), (500, 11)]);
        let work = asked.work.unwrap_or(ALONE);
        let permits = by(asked.extent, &[1, 2][..], &[1, 2], &[1, 2, 8]);
        let counts = counts(asked, &[2], &[1, 4], &[1, 2, 4, 8, 16]);
        let of = |permits: u32, threads| {
            Situation::working(threads, work).with(permits, [(param::PERMITS, permits.to_string())])
        };
        (rounds, product(permits, &counts, of))
    }

    fn round<M: Machine, S: RawSemaphore<M>>(given: &Round, &permits: &u32) -> Sampled {
        let (section, outside) = (given.section, given.outside);
        let shared = (Apart(S::new(permits)), Apart(AtomicU64::new(0)));
        let (_, outcome) =
            given.timed::<M, _, _>(shared, move |member, (Apart(semaphore), Apart(inside))| {
                let (mut crowded, mut taken) = (0, 0_u64);
                member.start()?;
                let take = || {
                    semaphore.acquire();
                    if taken % COUNTED == 0 {
                        let others = inside.fetch_add(1, Relaxed);
                        M::perform(section);
                        crowded += u64::from(others >= u64::from(permits));
                        inside.fetch_sub(1, Relaxed);
                    } else {
                        M::perform(section);
                    }
                    semaphore.release();
                    taken += 1;
                };
                member.repeat(take, |()| M::perform(outside));
                Some(crowded)
            })?;
        let crowded: u64 = outcome.results.iter().sum();
        let all = outcome.total_pairs();
        audit::balance("sections with no more threads than permits", all - crowded, all)?;
        Ok(Sample::of_outcome(&outcome))
    }
}
