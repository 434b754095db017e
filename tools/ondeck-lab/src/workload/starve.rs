//! `starve`: the longest time that a thread goes without the lock while others acquire it.
//!
//! In `wait` threads stop after a number of pairs. Here all want the lock until the end, so that a
//! thread that is never served shows. A time counts only if another thread acquired the lock in
//! between: while no thread does, the machine stands still.

use super::prelude::*;

/// A thread should acquire the lock at least once in this time: several time slices of every
/// kernel.
const WINDOW: Duration = Duration::from_millis(50);

/// The workload's name: advice measures it.
pub const NAME: &str = "starve";

pub(super) struct Starve;

impl Called for Starve {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: NAME,
        title: "Starvation",
        about: "The longest that a thread goes without the lock",
        shares_data: true,
        quantities: &[LONGEST_GAP],
        judged: Judged::By(LONGEST_GAP),
        table: Table::Quantities {
            heading: "{}",
            columns: &[
                Column("longest", LONGEST_GAP, Shown::Milliseconds),
                Column("starved", STARVED_WINDOWS, Shown::Ratio),
                Column("share", SHARE, Shown::Ratio),
                Column("M/s", THROUGHPUT, Shown::Millions),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "longest: without the lock; starved: windows of 50 ms without it",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        // Several of the windows in which each thread should make progress.
        let rounds = Rounds::of(asked, Shares::FromSuite, [(110, 1), (150, 2), (2_000, 11)]);
        let work = asked.work.unwrap_or((100, 0));
        let counts = counts(asked, &[8], &[8], &[8]);
        (rounds, counts.into_iter().map(|threads| Situation::working(threads, work)).collect())
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let (section, outside) = (given.section, given.outside);
        let turns = Guarded::<M, u64>::new(lock, 0);
        let (shared, outcome) = given.timed::<M, _, _>(turns, move |member, turns| {
            let mut context = turns.context();
            member.start()?;
            let mut gaps = Gaps::begin::<M>();
            let pair = || {
                let turn = turns.with(&mut context, |turns| {
                    **turns += 1;
                    M::perform(section);
                    **turns
                });
                gaps.served(turn, M::ticks());
            };
            member.repeat(pair, |()| M::perform(outside));
            gaps.end(M::ticks());
            Some(gaps)
        })?;
        let acquisitions = shared.with(&mut shared.context(), |turns| **turns);
        audit::balance("acquisitions", acquisitions, outcome.total_pairs())?;
        Ok(sample::<M>(&outcome))
    }
}

/// How long one thread went without the lock.
struct Gaps {
    window: u64,
    start: u64,
    /// The last acquisition: its number among all, and its time.
    last_turn: u64,
    last_at: u64,
    longest: u64,
    /// The end of the window that contains the last acquisition.
    boundary: u64,
    /// Whole windows without an acquisition, and all whole windows.
    starved: u64,
    windows: u64,
}

impl Gaps {
    fn begin<M: Machine>() -> Self {
        let window = WINDOW.as_nanos() as f64 / TickScale::of::<M>().nanos(1);
        Self::at(M::ticks(), window as u64)
    }

    fn at(start: u64, window: u64) -> Self {
        Self {
            window,
            start,
            last_turn: 0,
            last_at: start,
            longest: 0,
            // As if a window before the first had contained an acquisition.
            boundary: start,
            starved: 0,
            windows: 0,
        }
    }

    /// Records an acquisition of the thread, number `turn` of all acquisitions.
    #[inline]
    fn served(&mut self, turn: u64, now: u64) {
        if turn != self.last_turn + 1 {
            self.longest = self.longest.max(now.saturating_sub(self.last_at));
        }
        (self.last_turn, self.last_at) = (turn, now);
        if now >= self.boundary {
            let skipped = (now - self.boundary) / self.window;
            self.starved += skipped;
            self.boundary += (skipped + 1) * self.window;
        }
    }

    fn end(&mut self, now: u64) {
        self.starved += now.saturating_sub(self.boundary) / self.window;
        self.windows = now.saturating_sub(self.start) / self.window;
    }
}

fn sample<M: Machine>(outcome: &Outcome<Gaps>) -> Sample {
    let longest = outcome.results.iter().map(|gaps| gaps.longest).max().unwrap_or(0);
    let starved: u64 = outcome.results.iter().map(|gaps| gaps.starved).sum();
    let windows: u64 = outcome.results.iter().map(|gaps| gaps.windows).sum();
    let mut sample = Sample::of_outcome(outcome);
    sample.values.insert(0, (LONGEST_GAP, TickScale::of::<M>().nanos(longest) / 1e6));
    // A round may be shorter than a window.
    if windows > 0 {
        sample.values.insert(1, (STARVED_WINDOWS, starved as f64 / windows as f64));
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_without_an_acquisition_are_starved() {
        let mut gaps = Gaps::at(1_000, 10);
        // Windows 0 and 1 are served, 2 and 3 are not, 4 is, 5 and 6 are not, 7 is not whole.
        for (turn, now) in [(1, 1_003), (2, 1_009), (3, 1_010), (9, 1_041)] {
            gaps.served(turn, now);
        }
        gaps.end(1_075);
        assert_eq!((gaps.starved, gaps.windows), (4, 7));
        assert_eq!(gaps.longest, 31);
    }

    #[test]
    fn a_thread_that_never_had_the_lock_is_starved_all_the_time() {
        let mut gaps = Gaps::at(0, 10);
        gaps.end(45);
        assert_eq!((gaps.starved, gaps.windows), (4, 4));
    }

    #[test]
    fn a_time_in_which_nobody_had_the_lock_is_no_starvation() {
        let mut gaps = Gaps::at(0, 10);
        gaps.served(1, 5);
        gaps.served(2, 9_000);
        assert_eq!(gaps.longest, 0);
    }
}
