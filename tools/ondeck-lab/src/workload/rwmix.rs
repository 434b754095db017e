//! `rwmix`: every thread reads, and writes now and then; measures the throughput.

use super::prelude::*;
use super::rw_pair::{Pair, Tally};

/// The workload's name.
pub const NAME: &str = "rwmix";

pub(super) struct RwMix;

/// The number of writes in a period of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix(u32);

impl Mix {
    /// Operations in which writes are counted.
    const OF: u32 = 1_000;

    /// The measured mixes: only reads, reads of data that hardly ever changes, caches, and only
    /// writes.
    const ALL: [Self; 6] = [Self(0), Self(1), Self(10), Self(100), Self(500), Self(1_000)];

    fn percent(self) -> String {
        (f64::from(self.0) / 10.0).to_string()
    }
}

/// Chooses which of a thread's operations write. Writes are spread evenly, and each thread begins
/// at another place, so that the mix is exact and choosing costs an addition and a comparison.
struct Choice {
    mix: Mix,
    sum: u32,
}

impl Choice {
    fn new(mix: Mix, thread: usize) -> Self {
        /// Coprime to 1,000, so that threads begin apart.
        const APART: usize = 379;
        Self { mix, sum: (APART * thread % Mix::OF as usize) as u32 }
    }

    #[inline(always)]
    fn writes(&mut self) -> bool {
        self.sum += self.mix.0;
        let writes = self.sum >= Mix::OF;
        if writes {
            self.sum -= Mix::OF;
        }
        writes
    }
}

impl RwWorkload for RwMix {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: NAME,
        kind: Kind::RwLock,
        title: "Reads and writes",
        about: "Reads and writes a second, for six mixes of them",
        locks: Group::All,
        shares_data: true,
        table: Table::Threads(Threads {
            heading: "million operations/s by threads",
            quantity: (THROUGHPUT, 1e-6),
            others: 0,
            role: "threads",
            most: 4,
            extras: &[
                Column("share", SHARE, Shown::Ratio),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "share (least / most served thread), CPU time per op, CPUs busy",
        }),
        ..WorkloadInfo::USUAL
    };

    type Own = Mix;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Mix>>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(4, 1), (10, 3), (500, 11)]);
        let works = by(asked.extent, &[ALONE][..], &[ALONE], &[ALONE, PROGRAM]);
        let works = asked.work.map_or(works.to_vec(), |work| vec![work]);
        let mixes = by(asked.extent, &Mix::ALL[1..4], &Mix::ALL[..], &Mix::ALL[..]);
        let counts = counts(asked, &[2], &[1, 2], &[1, 2, 4, 8, 16, 32]);
        let of = |work, mix: Mix, threads| {
            Situation::working(threads, work).with(mix, [(param::WRITES, mix.percent())])
        };
        let with = |work| product(mixes, &counts, move |mix, threads| of(work, mix, threads));
        (rounds, works.into_iter().flat_map(with).collect())
    }

    fn round<M: Machine, L: RawRwLock<M>>(given: &Round, &mix: &Mix) -> Sampled {
        let (section, outside) = (given.section, given.outside);
        let pair = Apart(Pair::<L>::new::<M>());
        let (pair, outcome) = given.timed::<M, _, _>(pair, move |member, Apart(pair)| {
            let (mut read, mut write) = (L::Read::default(), L::Write::default());
            let mut choice = Choice::new(mix, member.index);
            let mut tally = Tally::default();
            member.start()?;
            let operation = || {
                if choice.writes() {
                    pair.write::<M, _>(&mut write, section, &mut tally, || ());
                } else {
                    pair.read::<M, _>(&mut read, section, &mut tally, || ());
                }
            };
            member.repeat(operation, |()| M::perform(outside));
            Some(tally)
        })?;
        pair.0.audit(outcome.results.iter().copied(), outcome.total_pairs())?;
        Ok(Sample::of_outcome(&outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_exact_and_threads_begin_apart() {
        for mix in Mix::ALL {
            for thread in 0..3 {
                let mut choice = Choice::new(mix, thread);
                let writes = (0..Mix::OF).filter(|_| choice.writes()).count();
                assert_eq!(writes, mix.0 as usize, "{mix:?} {thread}");
            }
        }
        let first = |thread: usize| {
            let mut choice = Choice::new(Mix(1), thread);
            (0..Mix::OF).position(|_| choice.writes())
        };
        assert_ne!(first(0), first(1));
        assert_eq!(Mix(1).percent(), "0.1");
        assert_eq!(Mix(1_000).percent(), "100");
    }
}
