//! `bystander`: the effect of threads that contend for a lock on a thread that does not use it.
//!
//! One thread multiplies matrices. The others lock and unlock as fast as they can, and share no
//! memory with it. The round measures its speed alone and beside them, phase by phase. If threads
//! outnumber CPUs, the number of the lock's threads that want to run decides: waiters that sleep
//! leave their CPU.

use std::hint::black_box;

use super::phases::{Phase, Seen, Stint, conducted, outcome_of};
use super::prelude::*;

pub(super) struct Bystander;

/// Rows and columns: three matrices of 4 KiB, which stay in the nearest cache.
const SIDE: usize = 32;

type Matrix = [[f32; SIDE]; SIDE];

/// The time of a product in nanoseconds, about: 32,768 multiplications and additions, with vectors.
/// A machine of virtual time takes it as exact.
const PRODUCT: u64 = 1_000;

/// The bystander is thread 0.
const BYSTANDER: usize = 0;

/// The phases, in turn: a drift of the speed affects both alike.
const BY_ITSELF: [usize; 2] = [0, 2];
const BESIDE: [usize; 2] = [1, 3];

impl Called for Bystander {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "bystander",
        title: "Bystander",
        about: "How much a matrix multiply beside the lock slows down",
        locks: Group::Beside,
        empty: EmptyLock::AsAnyLock,
        judged: Judged::By(SLOWDOWN),
        table: Table::Quantities {
            heading: "a matrix multiply beside threads at the lock\n{}",
            columns: &[
                Column("slowdown", SLOWDOWN, Shown::Ratio),
                Column("runnable", RUNNABLE, Shown::Ratio),
                Column("M/s", THROUGHPUT, Shown::Millions),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("sleeps", VOLUNTARY, Shown::Significant),
                Column("preempt", INVOLUNTARY, Shown::Significant),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "slowdown: alone / beside; runnable: threads that want a CPU; cpus: that have one",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(40, 1), (120, 2), (1_000, 11)]);
        // The bystander, and one more thread than there are CPUs.
        let few = asked.cpus + 2;
        let counts = counts_of_two(asked, &[few], &[few], &[2, few, 4 * few]);
        let work = asked.work.unwrap_or(ALONE);
        (rounds, counts.into_iter().map(|threads| Situation::working(threads, work)).collect())
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let lock = Guarded::<M, ()>::new(lock, ());
        let (section, outside) = (given.section, given.outside);
        let product = Work::of_nanos(PRODUCT);
        let plan = plan(given.team.threads, given.length);
        let (mut stints, seen, cpus) = conducted::<M, _>(given, plan, move |member, phases| {
            let mut context = lock.context();
            member.start()?;
            Some(if member.index == BYSTANDER {
                let mut matrices = ([[0.5; SIDE]; SIDE], [[0.25; SIDE]; SIDE]);
                phases.work(member, |_| M::compute(product, || multiply(&mut matrices)))
            } else {
                phases.work(member, |_| {
                    lock.with(&mut context, |_| M::perform(section));
                    M::perform(outside);
                })
            })
        })?;
        stints.remove(BYSTANDER);
        Ok(sample(stints, &seen, cpus))
    }
}

fn plan(threads: usize, round: Duration) -> Vec<Phase> {
    // Alone the speed is constant; beside others the scheduler needs several slices to be fair.
    let part = round / 8;
    let alone = Phase { workers: BYSTANDER..BYSTANDER + 1, length: part };
    let beside = Phase { workers: 0..threads, length: 3 * part };
    vec![alone.clone(), beside.clone(), alone, beside]
}

/// Computes a product of two matrices, which becomes a factor of the next.
fn multiply((left, right): &mut (Matrix, Matrix)) {
    let mut product = [[0.0; SIDE]; SIDE];
    for (row, left) in product.iter_mut().zip(&*left) {
        for (&factor, right) in left.iter().zip(&*right) {
            for (cell, &right) in row.iter_mut().zip(right) {
                *cell += factor * right;
            }
        }
    }
    // All entries are equal, so this scales them back to where they began: nothing overflows.
    let scale = 0.5 / black_box(&product)[0][0];
    *left = product.map(|row| row.map(|cell| cell * scale));
}

fn sample(hammers: Vec<Vec<Stint>>, seen: &[Seen], cpus: usize) -> Sample {
    let bystander = BYSTANDER..BYSTANDER + 1;
    let speed = |phases: [usize; 2]| {
        phases.map(|phase| seen[phase].rate(bystander.clone())).iter().sum::<f64>()
    };
    let threads = 1..hammers.len() + 1;
    let others = outcome_of(&BESIDE, threads, hammers, seen, cpus);
    let mut sample = Sample::of_outcome(&others);
    let (alone, beside) = (speed(BY_ITSELF), speed(BESIDE));
    // If no product was finished, the slowdown is too great to measure and is omitted.
    if alone > 0.0 && beside > 0.0 {
        sample.values.insert(0, (SLOWDOWN, alone / beside));
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_keeps_its_size() {
        let mut matrices = ([[0.5; SIDE]; SIDE], [[0.25; SIDE]; SIDE]);
        for _ in 0..100 {
            multiply(&mut matrices);
        }
        assert!((matrices.0[3][4] - 0.5).abs() < 1e-3, "{}", matrices.0[3][4]);
    }

    #[test]
    fn the_bystander_works_in_every_phase_and_the_others_in_every_second() {
        let plan = plan(4, Duration::from_millis(80));
        assert_eq!(
            plan.iter().map(|phase| phase.length).sum::<Duration>(),
            Duration::from_millis(80)
        );
        let workers: Vec<_> = plan.iter().map(|phase| phase.workers.len()).collect();
        assert_eq!(workers, [1, 4, 1, 4]);
    }
}
