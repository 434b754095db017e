//! `handoff`: the time in which the lock passes from one thread to another.
//!
//! Three patterns. `solo`: one thread hands the lock to itself, which shows the cost of measuring
//! with a lock that no other thread wants. `fast`: two threads pass a turn to each other; the giver
//! unlocks as soon as it has given the turn, so that the taker finds the lock just free or about to
//! be. `slow`: the giver holds the lock long enough that the taker, which waits for it, sleeps. A
//! separate word shows the turn, so that no thread but the taker comes to the lock and the giver
//! does not take it back.
//!
//! The time is taken as in the source: from just before the unlock of one thread to just after the
//! lock of the other.

use crossbeam_utils::CachePadded;

use super::prelude::*;

pub(super) struct Handoff;

/// The time of the last unlock, guarded by the lock; and the turn.
struct Pass<M: Machine> {
    released: Guarded<M, u64>,
    turn: CachePadded<M::AtomicU32>,
}

const GIVERS: u32 = 0;
const TAKERS: u32 = 1;

/// How long the giver of a slow handoff holds the lock, in nanoseconds: several times as long as
/// any waiter here spins before it sleeps.
const SLOW_HOLD: u64 = 50_000;

impl Called for Handoff {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "handoff",
        title: "Handoff",
        about: "From one thread's unlock to another's acquisition",
        locks: Group::Headline,
        quantities: &[HANDOFF, LONGEST],
        judged: Judged::By(HANDOFF),
        table: Table::Patterns { heading: "from one thread's unlock to another's acquisition" },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::Always, [(10, 2), (20, 3), (500, 11)]);
        let patterns = [("solo", 1, 0), ("fast", 2, 0), ("slow", 2, SLOW_HOLD)];
        let situation = |(pattern, threads, hold): (&str, usize, u64)| Situation {
            work: (hold, 0),
            // The only pattern with one thread.
            emptied: threads == 1,
            params: vec![(param::PATTERN, pattern.to_owned())],
            ..Situation::plain(threads)
        };
        (rounds, patterns.map(situation).into())
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let turn = CachePadded::new(AtomicInt::new(GIVERS));
        let pass = Pass::<M> { released: Guarded::new(lock, 0), turn };
        let hold = given.section;
        let alone = given.team.threads == 1;
        let (_, outcome) = given.timed::<M, _, _>(pass, move |member, pass| {
            let mut times = Times::new::<M>();
            member.start()?;
            match (alone, member.index) {
                (true, _) => solo(member, pass, &mut times),
                (_, 0) => give(member, pass, hold),
                (_, 1) => take(member, pass, &mut times),
                _ => {}
            }
            Some(times)
        })?;
        Ok(sample(outcome))
    }
}

fn solo<M: Machine>(member: &Member<M>, pass: &Pass<M>, times: &mut Times) {
    let mut context = pass.released.context();
    pass.released.with(&mut context, |released| **released = M::ticks());
    let mut handoffs = 0;
    while !member.stopped() {
        pass.released.with(&mut context, |released| {
            let now = M::ticks();
            // Inside of the section: outside, it would be part of the time.
            times.record(now.saturating_sub(**released));
            handoffs += 1;
            member.done(handoffs);
            **released = M::ticks();
        });
    }
}

fn give<M: Machine>(member: &Member<M>, pass: &Pass<M>, hold: Work) {
    let mut context = pass.released.context();
    let mut handoffs = 0;
    while !member.stopped() {
        pass.released.with(&mut context, |released| {
            pass.turn.store(TAKERS, Ordering::Release);
            M::perform(hold);
            **released = M::ticks();
        });
        if !await_turn(member, pass, GIVERS) {
            return;
        }
        handoffs += 1;
        member.done(handoffs);
    }
}

fn take<M: Machine>(member: &Member<M>, pass: &Pass<M>, times: &mut Times) {
    let mut context = pass.released.context();
    let mut handoffs = 0;
    while await_turn(member, pass, TAKERS) {
        let time =
            pass.released.with(&mut context, |released| M::ticks().saturating_sub(**released));
        // Before the turn goes back: afterwards the next time has begun.
        times.record(time);
        handoffs += 1;
        member.done(handoffs);
        pass.turn.store(GIVERS, Ordering::Release);
    }
}

/// Waits for a turn; returns false if the round is over.
///
/// Does not pause, because the length of a PAUSE would be in the time; but the other thread may
/// need this CPU.
fn await_turn<M: Machine>(member: &Member<M>, pass: &Pass<M>, turn: u32) -> bool {
    const LOOKS: u32 = 4_096;
    loop {
        for _ in 0..LOOKS {
            if pass.turn.load(Ordering::Acquire) == turn {
                return true;
            }
            if member.stopped() {
                return false;
            }
            M::spin_again();
        }
        M::yield_now();
    }
}

fn sample(mut outcome: Outcome<Times>) -> Sample {
    // The taker comes last, and its times count.
    let taker = outcome.results.len().min(2) - 1;
    let mut sample = Sample::of_roles(&outcome, taker..taker + 1, &[]);
    let times = outcome.results.swap_remove(taker);
    sample.values.insert(0, (HANDOFF, times.at(0.5)));
    sample.values.insert(1, (LONGEST, times.longest_millis()));
    sample.times = Some(times.nanos);
    sample
}
