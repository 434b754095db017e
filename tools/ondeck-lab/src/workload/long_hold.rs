//! `long_hold`: one thread, the keeper, holds the lock for long; the others want it for a moment,
//! once in a while.
//!
//! In most workloads all sections are alike, so that a waiter's expectation is right. Here a waiter
//! that polls for the length of a usual section polls for nothing, and a keeper that comes back at
//! once may keep the lock for ever from a thread that it first has to wake. The keeper holds the
//! lock for the work of the section, and stays away for the work outside.

use fastrand::Rng;

use super::prelude::*;

pub(super) struct LongHold;

/// Nanoseconds in which the keeper holds the lock and stays away: with a pause, and without one.
const AWAY: (u64, u64) = (300_000, 700_000);
const AGAIN: (u64, u64) = (300_000, 0);

/// Nanoseconds of the others' sections.
const ASKED_FOR: u64 = 200;

/// Microseconds from one section of such a thread to its next call of lock: a millisecond, plus or
/// minus a half, so that it arrives at any phase of the keeper.
const PAUSE: std::ops::Range<u64> = 500..1_500;

impl Called for LongHold {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "long_hold",
        title: "Long sections of one thread",
        about: "Waits for a thread that holds the lock for 300 µs",
        empty: EmptyLock::OF_TWO_ROLES,
        shares_data: true,
        quantities: &[WAIT_MEAN, LONGEST],
        judged: Judged::By(WAIT_MEAN),
        table: Table::Quantities {
            heading: "{}",
            columns: &[
                Column("mean", WAIT_MEAN, Shown::Time),
                Column("longest", LONGEST, Shown::Milliseconds),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("sleeps", VOLUNTARY, Shown::Significant),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "waits, CPU time and sleeps of the threads that are not the keeper",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(20, 1), (100, 2), (1_000, 11)]);
        let away = counts_of_two(asked, &[4], &[4], &[2, 4, 16]);
        let again = counts_of_two(asked, &[2], &[2], &[2]);
        let all = match asked.work {
            Some(work) => vec![(work, away)],
            None => vec![(AWAY, away), (AGAIN, again)],
        };
        let of = |(work, counts): ((u64, u64), Vec<usize>)| {
            counts.into_iter().map(move |threads| Situation::working(threads, work))
        };
        (rounds, all.into_iter().flat_map(of).collect())
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let (hold, away) = (given.section, given.outside);
        let turns = Guarded::<M, u64>::new(lock, 0);
        let (shared, outcome) = given.timed::<M, _, _>(turns, move |member, turns| {
            let mut waits = Times::new::<M>();
            member.start()?;
            let before = M::usage();
            if member.index == 0 {
                keep(member, turns, hold, away);
            } else {
                ask(member, turns, &mut waits);
            }
            Some((waits, M::usage().since(before)))
        })?;
        let acquisitions = shared.with(&mut shared.context(), |turns| **turns);
        audit::balance("acquisitions", acquisitions, outcome.total_pairs())?;
        Ok(sample(outcome))
    }
}

fn keep<M: Machine>(member: &Member<M>, turns: &Guarded<M, u64>, hold: Work, away: Work) {
    let mut context = turns.context();
    let pair = || {
        turns.with(&mut context, |turns| {
            **turns += 1;
            M::perform(hold);
        });
    };
    member.repeat(pair, |()| M::perform(away));
}

fn ask<M: Machine>(member: &Member<M>, turns: &Guarded<M, u64>, waits: &mut Times) {
    let mut context = turns.context();
    let mut rng = Rng::with_seed(member.index as u64);
    let section = Work::of_nanos(ASKED_FOR);
    let pair = || {
        M::sleep(Duration::from_micros(rng.u64(PAUSE)));
        let called = M::ticks();
        let acquired = turns.with(&mut context, |turns| {
            let now = M::ticks();
            **turns += 1;
            M::perform(section);
            now
        });
        waits.record(acquired.saturating_sub(called));
    };
    member.repeat(pair, |()| ());
}

fn sample(mut outcome: Outcome<(Times, Usage)>) -> Sample {
    // The keeper does not count.
    for pairs in [&mut outcome.pairs, &mut outcome.window_pairs, &mut outcome.contended_pairs] {
        pairs.remove(0);
    }
    let mut others = std::mem::take(&mut outcome.results).into_iter().skip(1);
    let first = others.next().expect("a team of two or more");
    let (waits, usage) = others.fold(first, |(mut waits, usage), (its, charged)| {
        waits.add(&its);
        (waits, usage.plus(charged))
    });
    outcome.usage = usage;
    let mut sample = Sample::of_outcome(&outcome);
    // In a short round none of them may have arrived.
    if !waits.is_empty() {
        let values = [(WAIT_MEAN, waits.nanos.mean()), (LONGEST, waits.longest_millis())];
        sample.values.splice(0..0, values);
        sample.times = Some(waits.nanos);
    }
    sample
}
