//! `barrier`: all threads wait for each other, repeatedly.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ondeck_zoo::sync::RawBarrier;

use super::prelude::*;

pub(super) struct Barrier;

struct Shared<B> {
    barrier: Apart<B>,
    /// The phase after which all threads leave. The first thread sets it before it comes to that
    /// phase's barrier, so that all threads read the same value after it.
    last: Apart<AtomicU64>,
    /// The phase that each thread has reached.
    came: Vec<Apart<AtomicU64>>,
}

impl BarrierWorkload for Barrier {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "barrier",
        kind: Kind::Barrier,
        title: "Barrier",
        about: "Waits at a barrier a second, of all threads",
        locks: Group::All,
        shares_data: true,
        table: Table::Threads(Threads {
            heading: "thousand waits/s by threads",
            quantity: (THROUGHPUT, 1e-3),
            others: 0,
            role: "threads",
            most: 4,
            extras: &[
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("sleeps/op", VOLUNTARY, Shown::Ratio),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "CPU time and sleeps per wait, CPUs busy",
        }),
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::Never, [(20, 1), (40, 3), (500, 11)]);
        let work = asked.work.unwrap_or(ALONE);
        let counts = counts(asked, &[2], &[2, 8], &[1, 2, 4, 8, 16, 32]);
        (rounds, counts.into_iter().map(|threads| Situation::working(threads, work)).collect())
    }

    fn round<M: Machine, B: RawBarrier<M>>(given: &Round, (): &()) -> Sampled {
        let threads = given.team.threads;
        let shared = Shared {
            barrier: Apart(B::new(threads as u32)),
            last: Apart(AtomicU64::new(u64::MAX)),
            came: (0..threads).map(|_| Apart(AtomicU64::new(0))).collect(),
        };
        let (section, outside) = (given.section, given.outside);
        let (_, outcome) = given.timed::<M, _, _>(shared, move |member, shared| {
            let Shared { barrier, last, came } = shared;
            let (mine, next) = (&came[member.index].0, &came[(member.index + 1) % threads].0);
            let mut seen = Seen { led: 0, early: 0 };
            member.start()?;
            let mut phase = 0;
            loop {
                phase += 1;
                M::perform(section);
                mine.store(phase, Relaxed);
                if member.index == 0 && member.stopped() {
                    last.0.store(phase, Relaxed);
                }
                seen.led += u64::from(barrier.0.wait());
                // Each thread checks one other; together they check all.
                seen.early += u64::from(next.load(Relaxed) < phase);
                member.done(phase);
                if phase >= last.0.load(Relaxed) {
                    return Some(seen);
                }
                M::perform(outside);
            }
        })?;
        let phases = outcome.pairs.iter().copied().max().unwrap_or(0);
        let (led, early): (u64, u64) = outcome
            .results
            .iter()
            .fold((0, 0), |(led, early), seen| (led + seen.led, early + seen.early));
        audit::balance("phases with one leader", led, phases)?;
        let waits = outcome.total_pairs();
        audit::balance("waits that ended when all had come", waits - early, waits)?;
        Ok(Sample::of_outcome(&outcome))
    }
}

/// What one thread has seen.
struct Seen {
    /// Phases in which it was the one that the barrier chose.
    led: u64,
    /// Waits that ended although the next thread had not arrived.
    early: u64,
}
