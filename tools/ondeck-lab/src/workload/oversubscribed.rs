//! `oversubscribed`: throughput with several times as many threads as CPUs.
//!
//! The owner of the lock, or the waiter that is next, may be off its CPU for as long as all others
//! want to run. The workload shows whether a lock's waiters let the others run, and whether the
//! lock depends on one particular thread to make progress.

use super::prelude::*;
use super::{Workload, throughput};

pub(super) struct Oversubscribed;

impl Workload for Oversubscribed {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "oversubscribed",
        title: "Oversubscribed",
        about: "Throughput with 4 to 32 times as many threads as CPUs",
        quantities: &[OPERATION_GAP],
        table: Table::Threads(Threads {
            heading: "million pairs/s by threads",
            quantity: (THROUGHPUT, 1e-6),
            others: 0,
            role: "threads",
            most: 3,
            extras: &[
                Column("share", SHARE, Shown::Ratio),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("sleeps", VOLUNTARY, Shown::Significant),
                Column("preempt", INVOLUNTARY, Shown::Significant),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "share, CPU time and context switches per pair, CPUs busy",
        }),
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::FromSuite, [(50, 1), (100, 2), (1_000, 11)]);
        let times_cpus = |times: &[usize]| -> Vec<usize> {
            let mut counts: Vec<usize> =
                times.iter().map(|times| (times * asked.cpus).min(MOST_THREADS)).collect();
            counts.dedup();
            counts
        };
        let all = times_cpus(&[4, 8, 16, 32]);
        let works = match (asked.work, asked.extent) {
            (Some(work), _) => vec![work],
            (None, Extent::Quick) => vec![ALONE],
            (None, Extent::Suite | Extent::Full) => vec![ALONE, PROGRAM],
        };
        let mut situations = Vec::new();
        for work in works {
            let suite = if work == ALONE { times_cpus(&[4, 8]) } else { times_cpus(&[4]) };
            let counts = counts(asked, &times_cpus(&[8]), &suite, &all);
            situations.extend(counts.into_iter().map(|threads| Situation::working(threads, work)));
        }
        (rounds, situations)
    }

    fn round<M: Machine, L: RawLock<M>>(given: &Round, (): &()) -> Sampled {
        throughput::round::<M, L>(given, 0)
    }
}
