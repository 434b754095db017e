//! `rw_latency`: the longest wait of one writer among readers, and of one reader among writers.
//!
//! A lock that prefers readers is fast as long as its writer may wait without end, and vice versa. The
//! thread that is alone of its kind waits, works, and returns after a pause; all others return at once, so
//! that at any time one of them wants the lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hdrhistogram::Histogram;
use ondeck_zoo::{Kind, RawRwLock};

use super::face::{Column, Group, Judged, Shelf, Shown, Table};
use super::kinds::RwWorkload;
use super::situation::{Rounds, by, counts_of_two};
use super::{Apart, Asked, EmptyLock, Round, Schedule, Situation, WorkloadInfo, audit, param};
use crate::clock::TickScale;
use crate::machine::Machine;
use crate::results::{Better, Unit};
use crate::sample::{LONGEST, Quantity, Sample, THROUGHPUT, histogram};
use crate::team::{self, TeamError, Until};
use crate::work::Work;

pub(super) struct RwLatency;

/// The median of the lone thread's waits.
const WAIT_P50: Quantity = Quantity {
    name: "wait_p50",
    unit: Unit::Nanoseconds,
    better: Better::Lower,
    title: "Wait of the lone thread, median",
};

/// The 99th percentile of these waits.
const WAIT_P99: Quantity = Quantity {
    name: "wait_p99",
    unit: Unit::Nanoseconds,
    better: Better::Lower,
    title: "Wait of the lone thread, 99 % of waits",
};

/// The kind of the lone thread, which is the first of the team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lone {
    Writer,
    Reader,
}

impl Lone {
    const BOTH: [Self; 2] = [Self::Writer, Self::Reader];

    fn word(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Reader => "reader",
        }
    }
}

/// Nanoseconds that the lone thread stays away after each unlock, so that others enter without it.
const PAUSE: u64 = 20_000;

/// The data that the lock guards. Atomic, so that a broken lock corrupts no memory.
struct Pair<L> {
    lock: L,
    one: AtomicU64,
    other: AtomicU64,
}

impl RwWorkload for RwLatency {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "rw_latency",
        kind: Kind::RwLock,
        title: "Longest wait of a writer and of a reader",
        about: "Longest wait of a writer among readers, and of a reader",
        source: "Brandenburg and Anderson, Spin-Based Reader-Writer Synchronization (2010): the worst cases that \
             phase-fair locks exclude",
        lead: "One thread is alone of its kind: a writer among readers that come back at once, or a \
             reader among writers. A lock that prefers the others lets it wait as long as they come. The \
             longest wait is what a lock's preference costs.",
        cannot_show: "the cause. With more threads than CPUs a wait of some milliseconds is the \
             scheduler's, as in `wait`. At the end of a round the others leave, so that a thread \
             that would never have got the lock is shown as waiting for the rest of the round.",
        locks: Group::All,
        empty: EmptyLock::OF_TWO_ROLES,
        shares_data: true,
        quantities: &[LONGEST, WAIT_P50, WAIT_P99],
        judged: Judged::By(LONGEST),
        shelf: Shelf::Readers,
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
        let rounds = Rounds::by(
            asked.extent,
            Rounds::of_millis(10, 1).short(),
            Rounds::of_millis(40, 2).short(),
            Rounds::of_millis(1_000, 11),
        );
        // Long enough that the sections of two readers always overlap.
        let work = asked.work.unwrap_or((1_000, 0));
        let lone = by(asked.extent, &Lone::BOTH[..], &Lone::BOTH[..], &Lone::BOTH[..]);
        let counts = counts_of_two(asked, &[3], &[3], &[2, 3, 5, 9, 17]);
        let situation = |lone: Lone, threads: usize| {
            let params = [(param::ALONE, lone.word().to_owned())];
            Situation::working(threads, work).with(lone, params)
        };
        let all = lone.iter().flat_map(|&lone| counts.iter().map(move |&count| (lone, count)));
        (rounds, all.map(|(lone, count)| situation(lone, count)).collect())
    }

    fn round<M: Machine, L: RawRwLock<M>>(
        given: &Round,
        &lone: &Lone,
    ) -> Result<Sample, TeamError> {
        let (one, other) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared = Arc::new(Apart(Pair { lock: L::new(), one, other }));
        let (section, outside, pause) = (given.section, given.outside, Work::of_nanos(PAUSE));
        let scale = TickScale::of::<M>();
        let pair = Arc::clone(&shared);
        let outcome =
            team::run::<M, _>(&given.team, Until::Elapsed(given.length), move |member| {
                let (read, write) = (L::Read::default(), L::Write::default());
                let Pair { lock, one, other } = &pair.0;
                let alone = member.index == 0;
                let writes = alone == (lone == Lone::Writer);
                let mut seen = Seen { writes: 0, torn: 0, waits: histogram(), longest: 0 };
                if !member.start() {
                    return seen;
                }
                let mut operations = 0;
                while !member.stopped() {
                    let before = if alone { M::ticks() } else { 0 };
                    let after;
                    if writes {
                        // SAFETY: the context stays here until the unlock and serves this acquisition alone.
                        unsafe { lock.write(&write) };
                        after = if alone { M::ticks() } else { 0 };
                        M::touch(one, true);
                        one.store(one.load(Relaxed) + 1, Relaxed);
                        M::perform(section);
                        M::touch(other, true);
                        other.store(other.load(Relaxed) + 1, Relaxed);
                        // SAFETY: locked above with this context.
                        unsafe { lock.unlock_write(&write) };
                        seen.writes += 1;
                    } else {
                        // SAFETY: the context stays here until the unlock and serves this acquisition alone.
                        unsafe { lock.read(&read) };
                        after = if alone { M::ticks() } else { 0 };
                        M::touch(one, false);
                        let found = one.load(Relaxed);
                        M::perform(section);
                        M::touch(other, false);
                        seen.torn += u64::from(found != other.load(Relaxed));
                        // SAFETY: locked above with this context.
                        unsafe { lock.unlock_read(&read) };
                    }
                    operations += 1;
                    member.done(operations);
                    if alone {
                        seen.note(scale, after.saturating_sub(before));
                        M::perform(pause);
                    } else {
                        M::perform(outside);
                    }
                }
                seen
            })?;
        let writes: u64 = outcome.results.iter().map(|seen| seen.writes).sum();
        let torn: u64 = outcome.results.iter().map(|seen| seen.torn).sum();
        audit::balance("writes", shared.0.one.load(Relaxed), writes)?;
        audit::balance("writes", shared.0.other.load(Relaxed), writes)?;
        let reads = outcome.total_pairs() - writes;
        audit::balance("reads that found no write half done", reads - torn, reads)?;

        let others = 1..outcome.pairs.len();
        let mut sample = Sample::of_roles(&outcome, others.clone(), &[others]);
        let lone = &outcome.results[0];
        let waits = [
            (LONGEST, lone.longest as f64 / 1e6),
            (WAIT_P50, lone.waits.value_at_quantile(0.5) as f64),
            (WAIT_P99, lone.waits.value_at_quantile(0.99) as f64),
        ];
        // A lone thread that never ran has no waits.
        if !lone.waits.is_empty() {
            sample.values.splice(0..0, waits);
        }
        Ok(sample)
    }
}

/// The work and the observations of one thread.
struct Seen {
    writes: u64,
    /// Reads that found the two numbers different.
    torn: u64,
    /// Waits of the lone thread, in nanoseconds.
    waits: Histogram<u64>,
    longest: u64,
}

impl Seen {
    fn note(&mut self, scale: TickScale, ticks: u64) {
        let nanos = (scale.nanos(ticks).round() as u64).max(1);
        self.longest = self.longest.max(nanos);
        self.waits.saturating_record(nanos);
    }
}
