//! `background`: work of low priority beside the lock, which should fill the gaps left by waiters.
//!
//! As many threads as there are CPUs work under SCHED_IDLE or at nice 19. The others lock, work inside,
//! unlock, work outside. A round has three phases: the low work alone, the lock alone, both. Waiters that
//! sleep leave gaps; waiters that spin leave none, though the CPU does nothing useful. A thread that fills a
//! gap occupies the CPU when a waiter wakes, or when the owner should run.

use std::sync::Arc;
use std::time::Duration;

use ondeck::platform::{Native, Platform};

use super::face::{Column, Group, Judged, Needs, Shelf, Shown, Table};
use super::guarded::Guarded;
use super::phases::{Phase, Phases, Seen, Stint, outcome_of};
use super::situation::{Rounds, Shares, by, counts_of_two};
use super::{
    AnyMutex, Asked, Called, EmptyLock, Round, Sampled, Schedule, Situation, WorkloadInfo,
    on_native, param,
};
use crate::clock::TickScale;
use crate::environment::Background as Priority;
use crate::machine::Machine;
use crate::sample::{
    CPU_PER_OP, FILLED, KEPT, LONGEST, LONGEST_ALONE, RUNNABLE, RUNNING, Sample, THROUGHPUT,
};
use crate::team::{self, Outcome, TeamError, TeamSetting, Until};
use crate::work::Work;

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
        lead: "Work of low priority is done beside the lock and should fill the gaps that waiters \
             leave. Measured are how much of it gets done, and what the lock keeps of its throughput.",
        locks: Group::Beside,
        needs: Needs::LowPriority,
        empty: EmptyLock::AsAnyLock,
        quantities: &[LONGEST, LONGEST_ALONE],
        judged: Judged::By(FILLED),
        shelf: Shelf::OtherWork,
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
        let situations = priorities.iter().flat_map(|&(priority, word)| {
            let params = [(param::PRIORITY, word.to_owned())];
            counts
                .iter()
                .map(move |&count| Situation::working(count, work).with(priority, params.clone()))
        });
        (rounds, situations.collect())
    }

    fn round<M: Machine>(given: &Round, own: &Priority, lock: AnyMutex<M>) -> Sampled {
        let lock = on_native(lock, WHY)?;
        let threads = given.team.threads;
        let hammers = threads - fillers(threads);
        let phases = Arc::new(Phases::new(threads, plan(hammers, threads, given.length)));
        let lock = Arc::new(Guarded::<Native, ()>::new(lock, ()));
        let (section, outside) = (given.section, given.outside);
        let piece = Work::of_nanos(PIECE_NANOS);
        let priority = *own;
        let placement = given.team.placement.clone();
        // The additional thread conducts.
        let setting = TeamSetting { threads: threads + 1, ..given.team.clone() };
        let outcome =
            team::run::<Native, _>(&setting, Until::Finished(Duration::MAX), move |member| {
                let mut context = lock.context();
                let filler = (hammers..threads).contains(&member.index);
                let lowered = if filler { priority.enter() } else { Ok(()) };
                member.start()?;
                if filler {
                    phases.work(member, |_| piece.perform());
                    return Some(Part::Filler(lowered.map_err(|refusal| refusal.reason)));
                }
                if member.index == threads {
                    return Some(Part::Conductor(phases.conduct(member, &placement)));
                }
                let mut longest = [0; 3];
                let stints = phases.work(member, |phase| {
                    let before = Native::ticks();
                    let wait = lock.with(&mut context, |_| {
                        let wait = Native::ticks().saturating_sub(before);
                        section.perform();
                        wait
                    });
                    longest[phase] = longest[phase].max(wait);
                    outside.perform();
                });
                Some(Part::Hammer(stints, longest))
            })?;
        sample(outcome)
    }
}

enum Part {
    /// Whether it got the priority.
    Filler(Result<(), String>),
    /// Its stints, and its longest wait of each phase in ticks.
    Hammer(Vec<Stint>, [u64; 3]),
    Conductor(Option<Vec<Seen>>),
}

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

fn sample(outcome: Outcome<Part>) -> Sampled {
    let (mut stints, mut seen, mut longest) = (Vec::new(), None, [0; 3]);
    let threads = outcome.results.len() - 1;
    for part in outcome.results {
        match part {
            Part::Hammer(stint, waits) => {
                stints.push(stint);
                longest = std::array::from_fn(|phase| longest[phase].max(waits[phase]));
            }
            Part::Filler(lowered) => lowered.map_err(TeamError::Refused)?,
            Part::Conductor(phases) => seen = phases,
        }
    }
    let seen = seen.ok_or(TeamError::Cancelled)?;
    let hammers = 0..stints.len();
    let both = outcome_of(&[BOTH], hammers.clone(), stints, &seen, outcome.cpus);
    let mut sample = Sample::of_outcome(&both);
    let millis = |phase: usize| TickScale::get().nanos(longest[phase]) / 1e6;
    let fillers = hammers.end..threads;
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
    Ok(sample)
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
