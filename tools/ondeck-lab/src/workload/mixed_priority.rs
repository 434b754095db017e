//! `mixed_priority`: priority inversion, staged on one CPU under a realtime policy.
//!
//! Three threads: an owner of low priority, a hog of middle priority that never uses the lock, and
//! a waiter of high priority. In each trial the owner locks and wakes the waiter, which wakes the
//! hog and then wants the lock. A waiter that sleeps leaves the CPU to the hog, which keeps the
//! owner from running for as long as it likes: the inversion. A waiter that spins itself keeps the
//! owner from running, for ever. If the lock lends the waiter's priority to the owner, neither
//! happens.
//!
//! Nothing here depends on time: on one CPU the kernel always runs the highest of the three. A
//! fourth thread, above them all, ends a trial that takes too long: it raises the owner to the
//! guard's priority from outside. So a lock that would stand still for ever costs a moment.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32};

use crossbeam_utils::CachePadded;

use super::prelude::*;
use crate::environment::{Pinning, Placement, Policy};
use crate::team::Teams;

pub(super) struct MixedPriority;

/// Why it is measured on the real machine only.
const WHY: &str = "only a real kernel has its realtime policies";

const OWNER: usize = 0;
const HOG: usize = 1;
const WAITER: usize = 2;
const GUARD: usize = 3;

/// The owner's section.
const SECTION_NANOS: u64 = 20_000;

/// The work of the hog in a trial, in pieces that are counted.
const PIECES: u32 = 10;
const PIECE_NANOS: u64 = 100_000;

/// The time after which the guard ends a trial: ten times the length of a trial that the hog
/// delays.
const LIMIT: Duration = Duration::from_millis(10);

impl Called for MixedPriority {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "mixed_priority",
        title: "Priority inversion",
        about: "Priority inversion: does a hog run between owner and waiter",
        locks: Group::Inversion,
        needs: Needs::Realtime,
        empty: EmptyLock::Never("without a lock no thread waits, so nothing can be inverted"),
        quantities: &[LONGEST, INVERTED, BURSTS, RESCUED],
        judged: Judged::By(LONGEST),
        table: Table::Quantities {
            heading: "an owner below a hog below a waiter, on one CPU\n{}",
            columns: &[
                Column("longest", LONGEST, Shown::Milliseconds),
                Column("inverted", INVERTED, Shown::Ratio),
                Column("bursts", BURSTS, Shown::Significant),
                Column("rescued", RESCUED, Shown::Ratio),
                Column("sleeps", VOLUNTARY, Shown::Significant),
            ],
            note: "of trials: the hog ran between owner and waiter; its pieces; ended from outside",
        },
        only_real: Some(WHY),
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::Never, [(30, 1), (60, 2), (500, 11)]);
        (rounds, vec![Situation::plain(WAITER + 1)])
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let lock = on_native(lock, WHY)?;
        let asked = given.team.placement.policy;
        let policy = if asked.is_realtime() { asked } else { Policy::Fifo };
        let placement = Placement { pinning: Pinning::One, policy, ..Placement::default() };
        let setting = TeamSetting { threads: GUARD + 1, placement, ..given.team.clone() };
        let stage = Arc::new(Stage::default());
        let lock = Arc::new(Guarded::new(lock, Book::default()));
        let shared = Arc::clone(&lock);
        let mut outcome =
            team::run::<Native, _>(&setting, Until::Elapsed(given.length), move |member| {
                let entered = stage.enter(member.index, policy);
                // No thread passes the start before all have entered.
                member.start()?;
                if stage.refused.load(Ordering::Relaxed) {
                    return Some(entered.map(|()| Trials::default()));
                }
                let mut trials = Trials::default();
                match member.index {
                    OWNER => own(member, &stage, policy, &shared),
                    HOG => hog(member, &stage),
                    WAITER => trials = wait(member, &stage, &shared),
                    GUARD => guard(&stage, policy),
                    other => unreachable!("a team of four has no thread {other}"),
                }
                Some(Ok(trials))
            })?;
        let results = std::mem::take(&mut outcome.results).into_iter();
        let trials: Vec<Trials> = results.collect::<Result<_, _>>().map_err(TeamError::Refused)?;
        let counted = outcome.pairs[OWNER] + outcome.pairs[WAITER];
        let (acquisitions, intrusions) =
            lock.with(&mut lock.context(), |book| (book.acquisitions, book.intrusions));
        audit::balance("acquisitions", acquisitions, counted)?;
        audit::balance("acquisitions in the owner's section", intrusions, 0)?;
        Ok(sample(&outcome, &trials[WAITER]))
    }
}

/// The data that the lock guards.
#[derive(Default)]
struct Book {
    acquisitions: u64,
    /// Whether the owner is in its section; and how often the waiter was let in during it.
    owned: bool,
    intrusions: u64,
}

/// The observations of the waiter.
#[derive(Clone, Copy, Debug, Default)]
struct Trials {
    count: u64,
    /// Trials in which the hog ran while the waiter wanted the lock, and its pieces during them.
    inverted: u64,
    pieces: u64,
    /// Trials that the guard ended.
    rescued: u64,
    /// In ticks.
    longest: u64,
}

type Word = <Native as Platform>::AtomicU32;

/// The number of a trial, on which a thread sleeps until the trial begins.
#[derive(Default)]
struct Cue(CachePadded<Word>);

/// There will be no more trials.
const OVER: u32 = u32::MAX;

impl Cue {
    fn give(&self, trial: u32) {
        self.0.store(trial, Ordering::Release);
        Native::futex_wake(&raw const *self.0, u32::MAX);
    }

    /// Sleeps until the trial or the end has come, or until the deadline, if there is one. Returns
    /// whether the trial has come.
    fn comes(&self, trial: u32, deadline: Option<Timestamp>) -> bool {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now == trial || now == OVER {
                return now == trial;
            }
            if deadline.is_some_and(|deadline| Native::now() >= deadline) {
                return false;
            }
            // The loop rereads the word, whatever ended the wait.
            let _ = Native::futex_wait(&self.0, now, deadline);
        }
    }
}

/// The state that the three threads share.
#[derive(Default)]
struct Stage {
    refused: AtomicBool,
    owner: AtomicI32,
    /// The owner has the lock.
    locked: Cue,
    /// The request to the hog to run, and its answer.
    go: Cue,
    gone: Cue,
    /// The waiter wants the lock, and has had it.
    wanted: Cue,
    served: Cue,
    pieces: AtomicU32,
    /// The last trial that the guard ended.
    rescued: AtomicU32,
}

impl Stage {
    /// Gives the calling thread its priority.
    fn enter(&self, role: usize, policy: Policy) -> Result<(), String> {
        if role == OWNER {
            self.owner.store(Native::thread_number(), Ordering::Relaxed);
        }
        policy.apply(role as u8).map_err(|refusal| {
            self.refused.store(true, Ordering::Relaxed);
            refusal.reason
        })
    }
}

fn own(member: &Member, stage: &Stage, policy: Policy, lock: &Guarded<Native, Book>) {
    let mut context = lock.context();
    let section = Work::of_nanos(SECTION_NANOS);
    let mut trial = 0;
    while !member.stopped() {
        trial += 1;
        lock.with(&mut context, |book| {
            book.acquisitions += 1;
            book.owned = true;
            // The waiter runs from here on, until it waits.
            stage.locked.give(trial);
            section.perform();
            book.owned = false;
        });
        member.done(u64::from(trial));
        stage.served.comes(trial, None);
        stage.gone.comes(trial, None);
        if stage.rescued.load(Ordering::Relaxed) == trial {
            // Lowering a priority is always allowed.
            let _ = policy.apply(OWNER as u8);
        }
    }
    stage.locked.give(OVER);
}

fn hog(member: &Member, stage: &Stage) {
    let piece = Work::of_nanos(PIECE_NANOS);
    let mut trial = 1;
    while stage.go.comes(trial, None) {
        for _ in 0..PIECES {
            stage.pieces.fetch_add(1, Ordering::Relaxed);
            piece.perform();
        }
        member.done(u64::from(trial));
        stage.gone.give(trial);
        trial += 1;
    }
}

fn wait(member: &Member, stage: &Stage, lock: &Guarded<Native, Book>) -> Trials {
    let mut context = lock.context();
    let mut trials = Trials::default();
    let mut trial = 1;
    while stage.locked.comes(trial, None) {
        stage.go.give(trial);
        stage.wanted.give(trial);
        let before = stage.pieces.load(Ordering::Relaxed);
        let from = Native::ticks();
        let (to, after) = lock.with(&mut context, |book| {
            let to = Native::ticks();
            book.acquisitions += 1;
            book.intrusions += u64::from(book.owned);
            (to, stage.pieces.load(Ordering::Relaxed))
        });
        let pieces = u64::from(after - before);
        trials.count += 1;
        trials.inverted += u64::from(pieces > 0);
        trials.pieces += pieces;
        trials.rescued += u64::from(stage.rescued.load(Ordering::Relaxed) == trial);
        trials.longest = trials.longest.max(to.saturating_sub(from));
        member.done(u64::from(trial));
        stage.served.give(trial);
        trial += 1;
    }
    stage.go.give(OVER);
    stage.wanted.give(OVER);
    trials
}

/// Ends trials that take too long.
fn guard(stage: &Stage, policy: Policy) {
    let mut trial = 1;
    while stage.wanted.comes(trial, None) {
        let limit = Native::now().as_nanos() + LIMIT.as_nanos() as u64;
        if !stage.served.comes(trial, Some(Timestamp::from_nanos(limit))) {
            stage.rescued.store(trial, Ordering::Relaxed);
            let owner = stage.owner.load(Ordering::Relaxed);
            // A guard that was able to enter can also do this.
            let _ = policy.apply_to(owner, GUARD as u8);
            stage.served.comes(trial, None);
        }
        trial += 1;
    }
}

fn sample<T>(outcome: &Outcome<T>, trials: &Trials) -> Sample {
    let mut sample = Sample::of_roles(outcome, WAITER..WAITER + 1, &[]);
    let each = |count: u64| count as f64 / trials.count.max(1) as f64;
    let own = [
        (LONGEST, TickScale::get().nanos(trials.longest) / 1e6),
        (INVERTED, each(trials.inverted)),
        (BURSTS, each(trials.pieces)),
        (RESCUED, each(trials.rescued)),
    ];
    sample.values.splice(0..0, own);
    sample
}
