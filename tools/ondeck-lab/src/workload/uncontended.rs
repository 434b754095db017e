//! `uncontended`: one thread locks and unlocks a lock that no other wants.
//!
//! Other threads in the process matter: C libraries avoid atomics while there is only one thread.
//! The laboratory has many, so that case is measured in a separate process, see [`crate::alone`].

use std::hint::black_box;

use super::prelude::*;
use crate::clock::{self};

/// Pairs between two readings of the clock: enough that reading it does not count.
const BATCH: u64 = 1_000;

/// The workload's name: advice measures it.
pub const NAME: &str = "uncontended";

pub(super) struct Uncontended;

impl Workload for Uncontended {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: NAME,
        title: "Uncontended",
        about: "Cost of a pair when no other thread wants the lock",
        locks: Group::All,
        empty: EmptyLock::AmongLocks,
        quantities: &[PAIR],
        judged: Judged::By(PAIR),
        table: Table::Alone {
            heading: "ns for lock + unlock in a multi- and a single-threaded process",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::Never, [(2, 3), (6, 5), (50, 15)]);
        let situation = |alone: bool| {
            let word = if alone { param::ONE_THREAD } else { param::SEVERAL_THREADS };
            let params = vec![(param::PROCESS, word.to_owned())];
            Situation { alone, params, ..Situation::plain(1) }
        };
        (rounds, vec![situation(false), situation(true)])
    }

    fn round<M: Machine, L: RawLock<M>>(given: &Round, (): &()) -> Sampled {
        let round = given.length;
        let outcome =
            team::run::<M, _>(&given.team, Until::Finished(Duration::MAX), move |member| {
                member.start()?;
                Some(time_pairs::<M, L>(round, |pairs| {
                    member.done(pairs);
                    !member.stopped()
                }))
            })?;
        Ok(outcome.results.first().map_or_else(Sample::default, Sample::of_pairs))
    }
}

/// Locks and unlocks a new lock on the calling thread for about `round`. After each batch
/// `go_on` receives the number of pairs completed so far and returns whether to continue.
pub(super) fn time_pairs<M: Machine, L: RawLock<M>>(
    round: Duration,
    go_on: impl Fn(u64) -> bool,
) -> Pairs {
    time_pairs_of::<M, L>(&Apart(L::new()).0, round, go_on)
}

/// The same with a given lock, which no other thread uses during the measurement.
pub(super) fn time_pairs_of<M: Machine, L: RawLock<M>>(
    lock: &L,
    round: Duration,
    go_on: impl Fn(u64) -> bool,
) -> Pairs {
    // The optimizer must not know that no other thread sees the lock.
    let lock = black_box(lock);
    let context = L::Context::default();
    let scale = TickScale::of::<M>();
    let usage = M::usage();
    let start = M::now();
    let mut batches = Vec::with_capacity(4_096);
    while batches.is_empty()
        || (M::now().since(start) < round && go_on(BATCH * batches.len() as u64))
    {
        let before = M::ticks();
        for _ in 0..BATCH {
            // SAFETY: the context stays here until the unlock and serves this acquisition alone.
            unsafe {
                lock.lock(&context);
                lock.unlock(&context);
            }
            clock::opaque();
        }
        batches.push(M::ticks().saturating_sub(before));
    }
    let elapsed = M::now().since(start);
    let usage = M::usage().since(usage);
    let pairs = BATCH * batches.len() as u64;
    let middle = batches.len() / 2;
    let (_, &mut median, _) = batches.select_nth_unstable(middle);
    Pairs { median_nanos: scale.nanos(median) / BATCH as f64, pairs, elapsed, usage }
}
