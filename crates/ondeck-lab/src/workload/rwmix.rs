//! `rwmix`: every thread reads, and writes now and then; measures the throughput.
//!
//! Writers change two numbers one after the other, with the work of the section in between, and readers
//! compare them. The numbers are next to the lock, like guarded data in a program. So a lock that lets a
//! writer in beside another thread is detected, and a reader pays for the line that a writer has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ondeck_zoo::{Kind, RawRwLock};

use super::face::{Column, Group, Judged, Shelf, Shown, Table, Threads};
use super::kinds::RwWorkload;
use super::situation::{ALONE, PROGRAM, Rounds, by, counts};
use super::{Apart, Asked, EmptyLock, Round, Schedule, Situation, WorkloadInfo, audit, param};
use crate::machine::Machine;
use crate::sample::{CPU_PER_OP, RUNNING, SHARE, Sample, THROUGHPUT};
use crate::team::{self, TeamError, Until};

/// The workload's name.
pub const NAME: &str = "rwmix";

pub(super) struct RwMix;

/// The number of writes in a period of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix(u32);

impl Mix {
    /// Operations in which writes are counted.
    const OF: u32 = 1_000;

    /// The measured mixes: only reads, reads of data that hardly ever changes, caches, and only writes.
    const ALL: [Self; 6] = [Self(0), Self(1), Self(10), Self(100), Self(500), Self(1_000)];

    fn percent(self) -> String {
        (f64::from(self.0) / 10.0).to_string()
    }
}

/// Chooses which of a thread's operations write. Writes are spread evenly, and each thread begins at another
/// place, so that the mix is exact and choosing costs an addition and a comparison.
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

/// The data that the lock guards. Atomic, so that without a working lock no memory is corrupted.
struct Pair<L> {
    lock: L,
    one: AtomicU64,
    other: AtomicU64,
}

impl RwWorkload for RwMix {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: NAME,
        kind: Kind::RwLock,
        title: "Reads and writes",
        about: "Reads and writes a second, for six mixes of them",
        source: "folly's SharedMutex benchmark and Dice and Kogan, BRAVO (2019), each with the mixes of both",
        lead: "All threads read, and some of their operations write instead. Writers change two numbers \
             one after the other, and readers compare them. Throughput counts reads and writes of all \
             threads together; with 100 % writes the lock is a mutex.",
        cannot_show: "how long a writer waits among readers, or a reader among writers (see \
             `rw_latency`); what a lock saves on more cores than there are here.",
        locks: Group::All,
        empty: EmptyLock::OneThread,
        shares_data: true,
        judged: Judged::By(THROUGHPUT),
        shelf: Shelf::Readers,
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
        let rounds = Rounds::by(
            asked.extent,
            Rounds::of_millis(4, 1).short(),
            Rounds::of_millis(10, 3).short(),
            Rounds::of_millis(500, 11),
        );
        let works = by(asked.extent, &[ALONE][..], &[ALONE], &[ALONE, PROGRAM]);
        let works = asked.work.map_or(works.to_vec(), |work| vec![work]);
        let mixes = by(asked.extent, &Mix::ALL[1..4], &Mix::ALL[..], &Mix::ALL[..]);
        let mut situations = Vec::new();
        for work in works {
            for &mix in mixes {
                for threads in counts(asked, &[2], &[1, 2], &[1, 2, 4, 8, 16, 32]) {
                    let params = [(param::WRITES, mix.percent())];
                    situations.push(Situation::working(threads, work).with(mix, params));
                }
            }
        }
        (rounds, situations)
    }

    fn round<M: Machine, L: RawRwLock<M>>(given: &Round, &mix: &Mix) -> Result<Sample, TeamError> {
        let (one, other) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared = Arc::new(Apart(Pair { lock: L::new(), one, other }));
        let (section, outside) = (given.section, given.outside);
        let pair = Arc::clone(&shared);
        let outcome =
            team::run::<M, _>(&given.team, Until::Elapsed(given.length), move |member| {
                let (read, write) = (L::Read::default(), L::Write::default());
                let mut choice = Choice::new(mix, member.index);
                let Pair { lock, one, other } = &pair.0;
                let mut tally = Tally::default();
                if !member.start() {
                    return tally;
                }
                let mut operations = 0;
                while !member.stopped() {
                    if choice.writes() {
                        // SAFETY: the context stays here until the unlock and serves this acquisition alone.
                        unsafe { lock.write(&write) };
                        M::touch(one, true);
                        one.store(one.load(Relaxed) + 1, Relaxed);
                        M::perform(section);
                        M::touch(other, true);
                        other.store(other.load(Relaxed) + 1, Relaxed);
                        // SAFETY: locked above with this context.
                        unsafe { lock.unlock_write(&write) };
                        tally.writes += 1;
                    } else {
                        // SAFETY: the context stays here until the unlock and serves this acquisition alone.
                        unsafe { lock.read(&read) };
                        M::touch(one, false);
                        let found = one.load(Relaxed);
                        M::perform(section);
                        M::touch(other, false);
                        tally.torn += u64::from(found != other.load(Relaxed));
                        // SAFETY: locked above with this context.
                        unsafe { lock.unlock_read(&read) };
                    }
                    operations += 1;
                    member.done(operations);
                    M::perform(outside);
                }
                tally
            })?;
        let writes: u64 = outcome.results.iter().map(|tally| tally.writes).sum();
        let torn: u64 = outcome.results.iter().map(|tally| tally.torn).sum();
        audit::balance("writes", shared.0.one.load(Relaxed), writes)?;
        audit::balance("writes", shared.0.other.load(Relaxed), writes)?;
        let reads = outcome.total_pairs() - writes;
        audit::balance("reads that found no write half done", reads - torn, reads)?;
        Ok(Sample::of_outcome(&outcome))
    }
}

/// The work and the observations of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    writes: u64,
    /// Reads that found the two numbers different.
    torn: u64,
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
