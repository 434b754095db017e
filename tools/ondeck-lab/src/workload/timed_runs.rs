//! `wait` and `idle`: the time that a thread waits for the lock, and the time that the lock waits
//! for a thread.
//!
//! Both follow Skarupke: every thread makes 16,384 pairs; a run's result is the longest time of any
//! thread; many runs are made and the four longest shown. He keeps only the maximum. Here every
//! single time is kept, in the thread's own memory, and enters a histogram after the run, so that
//! the section is not longer than his.

use super::prelude::*;
use super::situation::Runs;

pub(super) struct Wait;

impl Called for Wait {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "wait",
        title: "Longest wait",
        about: "The longest time that a thread waits for the lock",
        locks: Group::Runs,
        quantities: &[RUN, LONGEST],
        judged: Judged::By(LONGEST),
        table: Table::Runs { what: "longest waits" },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        runs(asked, 100)
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let lock = Arc::new(Guarded::<M, ()>::new(lock, ()));
        let pairs = given.pairs;
        let outcome =
            team::run::<M, _>(&given.team, Until::Finished(given.longest_run), move |member| {
                let mut context = lock.context();
                Times::take(member, pairs, || {
                    let before = M::ticks();
                    let after = lock.with(&mut context, |_| M::ticks());
                    Some(after.saturating_sub(before))
                })
            })?;
        Ok(sample::<M>(outcome))
    }
}

/// Pairs of each thread in a run: the source's number.
pub const PAIRS_PER_RUN: u32 = 16_384;

/// Threads of a run: the source's number.
const THREADS: usize = 16;

/// The runs of either workload, of which the source makes `of_source`.
fn runs(asked: &Asked, of_source: usize) -> (Schedule, Vec<Situation>) {
    let (turn, turns, longest) = match asked.extent {
        Extent::Quick => (Duration::from_millis(1), 1, Some(Duration::from_millis(300))),
        Extent::Suite => (Duration::from_millis(150), 2, Some(Duration::from_secs(1))),
        Extent::Full => (Duration::ZERO, of_source, None),
    };
    let counts = asked.threads.clone().unwrap_or_else(|| vec![THREADS]);
    let situation = |threads| Situation {
        params: vec![("pairs_per_thread", PAIRS_PER_RUN.to_string())],
        ..Situation::plain(threads)
    };
    let runs = Runs { turn, turns, most: of_source, longest };
    (Schedule::Runs(runs), counts.into_iter().map(situation).collect())
}

pub(super) struct Idle;

impl Called for Idle {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "idle",
        title: "Longest idle",
        about: "The longest that the lock is free although threads want it",
        locks: Group::Runs,
        quantities: &[RUN, LONGEST],
        judged: Judged::By(LONGEST),
        table: Table::Runs { what: "longest idle times" },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        // The source makes ten times as many runs, because long idles are rarer.
        runs(asked, 1_000)
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        // The time of the last unlock, if there was one.
        let released = Arc::new(Guarded::<M, Option<u64>>::new(lock, None));
        let pairs = given.pairs;
        let outcome =
            team::run::<M, _>(&given.team, Until::Finished(given.longest_run), move |member| {
                let mut context = released.context();
                Times::take(member, pairs, || {
                    released.with(&mut context, |released| {
                        let at = &mut **released;
                        let idle = at.map(|at| M::ticks().saturating_sub(at));
                        *at = Some(M::ticks());
                        idle
                    })
                })
            })?;
        Ok(sample::<M>(outcome))
    }
}

/// The single times of one thread in one run, in ticks.
struct Times {
    start: u64,
    end: u64,
    ticks: Vec<u64>,
    /// The run was stopped before this thread had made all its pairs.
    cut: bool,
}

impl Times {
    /// Makes `pairs` pairs by `pair`, which returns the time to record if there is one.
    fn take<M: Machine>(
        member: &mut Member<M>,
        pairs: u32,
        mut pair: impl FnMut() -> Option<u64>,
    ) -> Option<Self> {
        // Written before the start, so that no page fault falls into the run.
        let mut ticks = vec![u64::MAX; pairs as usize];
        let mut taken = 0;
        member.start()?;
        let start = M::ticks();
        let mut cut = false;
        for done in 1..=u64::from(pairs) {
            if member.stopped() {
                cut = true;
                break;
            }
            if let Some(time) = pair() {
                ticks[taken] = time;
                taken += 1;
            }
            member.done(done);
        }
        let end = M::ticks();
        ticks.truncate(taken);
        Some(Self { start, end, ticks, cut })
    }
}

/// A run's sample: its length, its longest time, and all its times as a histogram.
fn sample<M: Machine>(mut outcome: Outcome<Times>) -> Sample {
    let scale = TickScale::of::<M>();
    let start = outcome.results.iter().map(|times| times.start).min().unwrap_or(0);
    let end = outcome.results.iter().map(|times| times.end).max().unwrap_or(0);
    let run = scale.between(start, end).max(1.0);
    // Uses the threads' own clock: the coordinator learns of the end only when it runs again.
    outcome.window = Duration::from_nanos(run as u64);
    // Counts all their pairs, also those in progress when a run was cut off.
    outcome.window_pairs.clone_from(&outcome.pairs);

    let mut times = histogram();
    let mut longest = 0;
    for &ticks in outcome.results.iter().flat_map(|times| &times.ticks) {
        longest = longest.max(ticks);
        times.saturating_record((scale.nanos(ticks).round() as u64).max(1));
    }
    let mut sample = Sample::of_outcome(&outcome);
    sample.values.insert(0, (RUN, run / 1e6));
    sample.values.insert(1, (LONGEST, scale.nanos(longest) / 1e6));
    sample.times = Some(times);
    sample.cut = outcome.results.iter().any(|times| times.cut);
    sample
}
