//! `throughput`: every thread repeatedly locks, works inside, unlocks, works outside.
//!
//! Work alone touches no memory. A section of a program does: with `--data` the owner also reads
//! and writes a word in each of a number of cache lines, which come from the core of the previous
//! owner.

use super::data::{Data, Line};
use super::gaps::{self, Gaps};
use super::prelude::*;

/// The workload's name: advice measures it.
pub const NAME: &str = "throughput";

pub(super) struct Throughput;

impl Workload for Throughput {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: NAME,
        title: "Throughput",
        about: "Pairs a second of all threads, with work inside and outside",
        locks: Group::Headline,
        quantities: &[OPERATION_GAP],
        table: Table::Threads(Threads {
            heading: "million pairs/s by threads",
            quantity: (THROUGHPUT, 1e-6),
            others: 0,
            role: "threads",
            most: 6,
            extras: &[
                Column("share", SHARE, Shown::Ratio),
                Column("gap", OPERATION_GAP, Shown::Milliseconds),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "share (least/most), longest gap, CPU time per pair, CPUs busy",
        }),
        ..WorkloadInfo::USUAL
    };

    /// How many cache lines of data a section reads and writes.
    type Own = usize;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<usize>>) {
        let rounds = Rounds::of(asked, Shares::Always, [(20, 2), (40, 3), (1_000, 11)]);
        let works = asked.work.map_or(vec![ALONE, PROGRAM, LONG], |work| vec![work]);
        let mut situations = Vec::new();
        for work in works {
            let quick: &[usize] = if work == ALONE { &[1, 2, 8] } else { &[2] };
            let counts = counts(asked, quick, &doublings(asked.cpus), MANY);
            for &lines in asked.data.as_deref().unwrap_or(&[0]) {
                // The usual case has no data, and no parameter.
                let params = (lines > 0).then(|| (param::DATA, lines.to_string()));
                let situation =
                    |&threads| Situation::working(threads, work).with(lines, params.clone());
                situations.extend(counts.iter().map(situation));
            }
        }
        (rounds, situations)
    }

    fn round<M: Machine, L: RawLock<M>>(given: &Round, lines: &usize) -> Sampled {
        round::<M, L>(given, *lines)
    }
}

/// 1, 2, 4 and so on, to 32 or four times as many threads as CPUs; more are for `oversubscribed`.
fn doublings(cpus: usize) -> Vec<usize> {
    let most = (4 * cpus).clamp(32, MOST_THREADS);
    std::iter::successors(Some(1), |count| Some(2 * count))
        .take_while(|count| *count <= most)
        .collect()
}

/// A round of this workload, and of workloads that differ from it in their situations only.
pub(super) fn round<M: Machine, L: RawLock<M>>(given: &Round, lines: usize) -> Sampled {
    let (section, outside) = (given.section, given.outside);
    let shared = (Apart(L::new()), Data::<M>::of_lines(lines));
    let (shared, outcome) =
        given.timed::<M, _, _>(shared, move |member, (Apart(lock), data)| {
            let context = L::Context::default();
            let lines = data.lines();
            // Marks the lines as data for a machine of virtual time, and loads them.
            for line in lines {
                M::touch(line, false);
            }
            member.start()?;
            let mut gaps = Gaps::begin::<M>();
            let pair = || {
                // SAFETY: the context stays here until the unlock and serves this acquisition
                // alone.
                unsafe { lock.lock(&context) };
                lines.iter().for_each(Line::change);
                M::perform(section);
                // SAFETY: locked above with this context.
                unsafe { lock.unlock(&context) };
            };
            member.repeat(pair, |()| {
                gaps.done::<M>();
                M::perform(outside);
            });
            Some(gaps.end::<M>())
        })?;
    for line in shared.1.lines() {
        audit::balance("changes of a line of data", line.changes(), outcome.total_pairs())?;
    }
    Ok(gaps::with::<M>(Sample::of_outcome(&outcome), outcome.results.iter().copied()))
}
