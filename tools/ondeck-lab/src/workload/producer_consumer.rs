//! `producer_consumer`: producers put numbers into a bounded queue, consumers take them out; a lock
//! and two condition variables, `not_full` and `not_empty`.
//!
//! The classic: a thread that has changed the queue notifies one waiter of the other side. It
//! notifies while it holds the lock, as most programs do: the woken thread then finds the lock
//! taken, unless the condition variable moves it to the lock's queue or the lock is free when it
//! arrives. In the other variant it notifies after the unlock.

use super::buffer::{Bounded, Buffer, CAPACITIES, Part, Queue, consume, produce, sum};
use super::prelude::*;

pub(super) struct ProducerConsumer;

impl Called for ProducerConsumer {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "producer_consumer",
        title: "Producers and consumers",
        about: "Items a second through a queue with two conditions",
        empty: EmptyLock::OF_TWO_ROLES,
        shares_data: true,
        notifies: true,
        quantities: &[WAITS],
        table: Table::Quantities {
            heading: "thousand items/s, and their cost\n{}",
            columns: &[
                Column("k/s", THROUGHPUT, Shown::Thousands),
                Column("cpu/item", CPU_PER_OP, Shown::Time),
                Column("waits", WAITS, Shown::Significant),
                Column("sleeps", VOLUNTARY, Shown::Significant),
                Column("preempt", INVOLUNTARY, Shown::Significant),
                Column("cpus", RUNNING, Shown::Ratio),
                Column("share", SHARE, Shown::Ratio),
            ],
            note: "",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = Bounded;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Bounded>>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(50, 1), (40, 3), (1_000, 11)]);
        let capacities = by(asked.extent, &CAPACITIES[1..2], &CAPACITIES, &CAPACITIES);
        let counts = counts_of_two(asked, &[16], &[2, 4, 16], &[2, 4, 8, 16, 32]);
        (rounds, Bounded::situations(asked, capacities, &counts))
    }

    fn round<M: Machine>(given: &Round, own: &Bounded, lock: AnyMutex<M>) -> Sampled {
        let producers = given.team.threads / 2;
        let after = own.after();
        let buffer = Buffer::<M>::new(lock, Queue::new(own.capacity));
        let (shared, outcome) = given.timed::<M, _, _>(buffer, move |member, buffer| {
            member.start()?;
            Some(if member.index < producers {
                produce::<M, false>(member, buffer, after)
            } else {
                consume::<M, false>(member, buffer, after)
            })
        })?;
        let left = shared.with(&mut shared.context(), |queue| queue.drain::<M>());
        let (senders, receivers) = outcome.results.split_at(producers);
        audit::balance("items", sum(senders), sum(receivers).wrapping_add(left))?;
        Ok(sample(&outcome, producers))
    }
}

fn sample(outcome: &Outcome<Part>, producers: usize) -> Sample {
    let threads = outcome.pairs.len();
    let consumers = producers..threads;
    let mut sample = Sample::of_roles(outcome, consumers.clone(), &[0..producers, consumers]);
    let items: u64 = outcome.pairs[producers..].iter().sum();
    let waits: u64 = outcome.results.iter().map(|part| part.waits).sum();
    sample.values.push((WAITS, waits as f64 / items.max(1) as f64));
    sample
}
