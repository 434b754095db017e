//! `once`: threads call onces that have run, and race for onces that have not.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ondeck_zoo::sync::RawOnce;

use super::prelude::*;
use crate::clock;

pub(super) struct Once;

/// Whether the initialization has run before the threads come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Done,
    New,
}

/// Work of an initialization in nanoseconds: long enough that threads meet in it.
const INIT: u64 = 1_000;

/// The most initializations that threads race for in a round.
const RACES: usize = 16_384;

/// A once, and the number of runs of its initialization.
struct Counted<O> {
    once: O,
    runs: AtomicU64,
}

impl OnceWorkload for Once {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "once",
        kind: Kind::Once,
        title: "Once",
        about: "Calls a second of what has run once, and races to run it",
        locks: Group::All,
        shares_data: true,
        table: Table::Threads(Threads {
            heading: "million calls/s by threads",
            quantity: (THROUGHPUT, 1e-6),
            others: 0,
            role: "threads",
            most: 4,
            extras: &[
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("sleeps/op", VOLUNTARY, Shown::Ratio),
            ],
            note: "CPU time and sleeps per call",
        }),
        ..WorkloadInfo::USUAL
    };

    type Own = State;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<State>>) {
        let rounds = Rounds::of(asked, Shares::Never, [(5, 1), (10, 3), (100, 11)]);
        let counts = counts(asked, &[2], &[1, 4], &[1, 2, 4, 8, 16]);
        let both = [(State::Done, "done", (0, 0)), (State::New, "new", (INIT, 0))];
        let of = |(state, word, work): (State, &str, _), threads| {
            let params = [(param::STATE, word.to_owned())];
            Situation { work, ..Situation::plain(threads) }.with(state, params)
        };
        (rounds, product(&both, &counts, of))
    }

    fn round<M: Machine, O: RawOnce<M>>(given: &Round, &state: &State) -> Sampled {
        match state {
            State::Done => done::<M, O>(given),
            State::New => new::<M, O>(given),
        }
    }
}

fn done<M: Machine, O: RawOnce<M>>(given: &Round) -> Sampled {
    let once = Apart(O::new());
    once.0.call(|| ());
    let nothing = Work::of_nanos(0);
    let (_, outcome) = given.timed::<M, _, _>(once, move |member, Apart(once)| {
        let mut ran = 0_u64;
        member.start()?;
        let call = || {
            once.call(|| ran += 1);
            clock::opaque();
            // Otherwise the once that does nothing would take no time on a machine of virtual time.
            M::perform(nothing);
        };
        member.repeat(call, |()| ());
        Some(ran)
    })?;
    // With the once that does nothing every call runs the initialization, and there is one thread.
    if outcome.pairs.len() > 1 {
        audit::balance("runs behind the first", outcome.results.iter().sum(), 0)?;
    }
    Ok(Sample::of_outcome(&outcome))
}

fn new<M: Machine, O: RawOnce<M>>(given: &Round) -> Sampled {
    let row: Vec<Apart<Counted<O>>> =
        (0..RACES).map(|_| Apart(Counted { once: O::new(), runs: AtomicU64::new(0) })).collect();
    let init = given.section;
    let outcome = team::run::<M, _>(&given.team, Until::Finished(given.length), move |member| {
        let mut missed = 0;
        member.start()?;
        for (Apart(Counted { once, runs }), calls) in row.iter().zip(1..) {
            if member.stopped() {
                break;
            }
            once.call(|| {
                M::perform(init);
                runs.fetch_add(1, Relaxed);
            });
            missed += u64::from(runs.load(Relaxed) != 1);
            member.done(calls);
        }
        Some(missed)
    })?;
    let (missed, calls) = (outcome.results.iter().sum::<u64>(), outcome.total_pairs());
    audit::balance("calls that found one run", calls - missed, calls)?;
    Ok(Sample::of_outcome(&outcome))
}
