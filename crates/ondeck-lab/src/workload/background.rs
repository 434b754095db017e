//! `background`: work of low priority beside the lock, which should fill the gaps left by waiters.
//!
//! As many threads as there are CPUs work under SCHED_IDLE or at nice 19. The others lock, work inside,
//! unlock, work outside. A round has three phases: the low work alone, the lock alone, both. Waiters that
//! sleep leave gaps; waiters that spin leave none, though the CPU does nothing useful. A thread that fills a
//! gap occupies the CPU when a waiter wakes, or when the owner should run.

use super::phases::{Phase, Seen, Stint, conducted, outcome_of};
use super::prelude::*;
use crate::environment::Background as Priority;

pub(super) struct Background;

/// Why it is measured on the real machine only.
const WHY: &str = "only a real kernel has priorities for work in the background";

const FILLERS_ALONE: usize = 0;
const LOCK_ALONE: usize = 1;
const BOTH: usize = 2;

/// Section and outside work: long enough that waiters sleep if they can.
const LONG_SECTION: (u64, u64) = (1_000, 0);

/// One piece of the low work, short enough that phases end in time.
const PIECE_NANOS: u64 = 10_000;

impl Called for Background {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "background",
        title: "Background",
        about: "Low-priority work done beside the lock, and its price",
        locks: Group::Beside,
        needs: Needs::LowPriority,
        empty: EmptyLock::AsAnyLock,
        quantities: &[LONGEST, LONGEST_ALONE],
        judged: Judged::By(FILLED),
        table: Table::Quantities {
            heading: "low priority work beside the lock\n{}",
            columns: &[
                Column("done", FILLED, Shown::Ratio),
                Column("M/s", THROUGHPUT, Shown::Millions),
                Column("kept", KEPT, Shown::Ratio),
                Column("longest", LONGEST, Shown::Milliseconds),
                Column("without", LONGEST_ALONE, Shown::Milliseconds),
                Column("runnable", RUNNABLE, Shown::Ratio),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "done: of what is done alone; kept: throughput with / without; longest wait",
        },
        only_real: Some(WHY),
        ..WorkloadInfo::USUAL
    };

    type Own = Priority;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Priority>>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(40, 1), (120, 2), (1_000, 11)]);
        // Low work on every CPU, and one more thread at the lock than there are CPUs.
        let few = 2 * asked.cpus + 1;
        let counts = counts_of_two(asked, &[few], &[few], &[few, 4 * few]);
        let work = asked.work.unwrap_or(LONG_SECTION);
        let all = [(Priority::Idle, "idle"), (Priority::Nice, "nice")];
        let priorities = by(asked.extent, &all[..1], &all[..1], &all);
        let of = |(priority, word): (Priority, &str), threads| {
            Situation::working(threads, work).with(priority, [(param::PRIORITY, word.to_owned())])
        };
        (rounds, product(priorities, &counts, of))
    }

    fn round<M: Machine>(given: &Round, own: &Priority, lock: AnyMutex<M>) -> Sampled {
        let lock = on_native(lock, WHY)?;
        let threads = given.team.threads;
        let hammers = threads - fillers(threads);
        let lock = Guarded::<Native, ()>::new(lock, ());
        let (section, outside) = (given.section, given.outside);
        let piece = Work::of_nanos(PIECE_NANOS);
        let priority = *own;
        let plan = plan(hammers, threads, given.length);
        let (workers, seen, cpus) =
            conducted::<Native, Worker>(given, plan, move |member, phases| {
                let mut context = lock.context();
                let is_filler = member.index >= hammers;
                let lowered = if is_filler { priority.enter() } else { Ok(()) };
                member.start()?;
                let mut longest = [0; 3];
                let stints = if is_filler {
                    phases.work(member, |_| piece.perform())
                } else {
                    phases.work(member, |phase| {
                        let before = Native::ticks();
                        let wait = lock.with(&mut context, |_| {
                            let wait = Native::ticks().saturating_sub(before);
                            section.perform();
                            wait
                        });
                        longest[phase] = longest[phase].max(wait);
                        outside.perform();
                    })
                };
                Some(lowered.map(|()| (stints, longest)).map_err(|refusal| refusal.reason))
            })?;
        let workers: Result<Vec<_>, _> = workers.into_iter().collect();
        Ok(sample(workers.map_err(TeamError::Refused)?, hammers, &seen, cpus))
    }
}

/// A thread's stints, and its longest wait of each phase in ticks; or why it did not get its priority.
type Worker = Result<(Vec<Stint>, [u64; 3]), String>;

/// The number of the `threads` that do the low work: one for each CPU, but at least one thread remains for
/// the lock.
fn fillers(threads: usize) -> usize {
    Native::cpus().min(threads - 1)
}

fn plan(hammers: usize, threads: usize, round: Duration) -> Vec<Phase> {
    let part = round / 4;
    vec![
        Phase { workers: hammers..threads, length: part },
        Phase { workers: 0..hammers, length: part },
        Phase { workers: 0..threads, length: 2 * part },
    ]
}

fn sample(
    mut workers: Vec<(Vec<Stint>, [u64; 3])>,
    hammers: usize,
    seen: &[Seen],
    cpus: usize,
) -> Sample {
    let (fillers, hammers) = (hammers..workers.len(), 0..hammers);
    workers.truncate(hammers.end);
    let (stints, waits): (Vec<_>, Vec<_>) = workers.into_iter().unzip();
    let both = outcome_of(&[BOTH], hammers.clone(), stints, seen, cpus);
    let mut sample = Sample::of_outcome(&both);
    let longest = |phase: usize| waits.iter().map(|waits| waits[phase]).max().unwrap_or(0);
    let millis = |phase: usize| TickScale::get().nanos(longest(phase)) / 1e6;
    let low = |phase: usize| seen[phase].rate(fillers.clone());
    let lock = |phase: usize| seen[phase].rate(hammers.clone());
    let mut own = vec![(LONGEST, millis(BOTH)), (LONGEST_ALONE, millis(LOCK_ALONE))];
    // If a rate is zero, there is nothing to compare with.
    if low(FILLERS_ALONE) > 0.0 {
        own.insert(0, (FILLED, low(BOTH) / low(FILLERS_ALONE)));
    }
    if lock(LOCK_ALONE) > 0.0 {
        own.push((KEPT, lock(BOTH) / lock(LOCK_ALONE)));
    }
    sample.values.splice(0..0, own);
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_left_for_the_lock() {
        assert_eq!(fillers(2), 1);
        assert_eq!(fillers(4_096), Native::cpus().min(4_095));
    }
}
