//! `rw_latency`: the longest wait of one writer among readers, and of one reader among writers.
//!
//! A lock that prefers readers is fast as long as its writer may wait without end, and vice versa.
//! The thread that is alone of its kind waits, works, and returns after a pause; all others return
//! at once, so that at any time one of them wants the lock.

use super::prelude::*;
use super::rw_pair::{Pair, Tally};

pub(super) struct RwLatency;

/// The kind of the lone thread, which is the first of the team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lone {
    Writer,
    Reader,
}

/// Nanoseconds that the lone thread stays away after each unlock, so that others enter without it.
const PAUSE: u64 = 20_000;

impl RwWorkload for RwLatency {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "rw_latency",
        kind: Kind::RwLock,
        title: "Longest wait of a writer and of a reader",
        about: "Longest wait of a writer among readers, and of a reader",
        locks: Group::All,
        empty: EmptyLock::OF_TWO_ROLES,
        shares_data: true,
        quantities: &[LONGEST, WAIT_P50, WAIT_P99],
        judged: Judged::By(LONGEST),
        table: Table::Quantities {
            heading: "longest wait; {}",
            columns: &[
                Column("longest", LONGEST, Shown::Milliseconds),
                Column("p50", WAIT_P50, Shown::Time),
                Column("p99", WAIT_P99, Shown::Time),
                Column("others M/s", THROUGHPUT, Shown::Millions),
            ],
            note: "waits of the thread that is alone of its kind; operations of the others",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = Lone;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Lone>>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(10, 1), (40, 2), (1_000, 11)]);
        // Long enough that the sections of two readers always overlap.
        let work = asked.work.unwrap_or((1_000, 0));
        let counts = counts_of_two(asked, &[3], &[3], &[2, 3, 5, 9, 17]);
        let both = [(Lone::Writer, "writer"), (Lone::Reader, "reader")];
        let of = |(lone, word): (Lone, &str), threads| {
            Situation::working(threads, work).with(lone, [(param::ALONE, word.to_owned())])
        };
        (rounds, product(&both, &counts, of))
    }

    fn round<M: Machine, L: RawRwLock<M>>(given: &Round, &lone: &Lone) -> Sampled {
        let (section, outside, pause) = (given.section, given.outside, Work::of_nanos(PAUSE));
        let pair = Apart(Pair::<L>::new::<M>());
        let (pair, outcome) = given.timed::<M, _, _>(pair, move |member, Apart(pair)| {
            let (mut read, mut write) = (L::Read::default(), L::Write::default());
            let alone = member.index == 0;
            let writes = alone == (lone == Lone::Writer);
            let (mut tally, mut waits) = (Tally::default(), Times::new::<M>());
            member.start()?;
            let operation = || {
                let now = || if alone { M::ticks() } else { 0 };
                let before = now();
                let after = if writes {
                    pair.write::<M, _>(&mut write, section, &mut tally, now)
                } else {
                    pair.read::<M, _>(&mut read, section, &mut tally, now)
                };
                after.saturating_sub(before)
            };
            member.repeat(operation, |wait| {
                if alone {
                    waits.record(wait);
                    M::perform(pause);
                } else {
                    M::perform(outside);
                }
            });
            Some((tally, waits))
        })?;
        pair.0.audit(outcome.results.iter().map(|(tally, _)| *tally), outcome.total_pairs())?;
        let others = 1..outcome.pairs.len();
        let mut sample = Sample::of_roles(&outcome, others.clone(), &[others]);
        let (_, waits) = &outcome.results[0];
        // A lone thread that never ran has no waits.
        if !waits.is_empty() {
            let values = [
                (LONGEST, waits.longest_millis()),
                (WAIT_P50, waits.at(0.5)),
                (WAIT_P99, waits.at(0.99)),
            ];
            sample.values.splice(0..0, values);
        }
        Ok(sample)
    }
}
