//! `chan`: a channel as in Go's runtime: a ring guarded by the lock under test. All threads send to
//! it and receive from it.
//!
//! Each thread alternately sends 100 numbers and receives 100. The channel has room for 100 from
//! every thread, so that no sender ever finds it full. A thread that receives has sent as many
//! before, so that no receiver ever finds it empty. The channel can wait like any other; it costs
//! what waiting costs while no thread waits: reading a counter under the lock.

use super::prelude::*;
use super::ring::Ring;
use crate::any::Context;

/// Numbers that a thread sends, then receives, in a turn; also the room in the channel for each
/// thread.
const BATCH: u64 = 100;

pub(super) struct Chan;

/// The data that the lock of a channel guards.
struct Channel {
    ring: Ring,
    senders_waiting: usize,
    receivers_waiting: usize,
}

const NOT_FULL: usize = 0;
const NOT_EMPTY: usize = 1;

impl Called for Chan {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "chan",
        title: "Channel",
        about: "Sends and receives a second on one buffered channel",
        shares_data: true,
        quantities: &[OP],
        table: Table::Threads(Threads {
            heading: "million sends and receives/s by threads",
            quantity: (THROUGHPUT, 1e-6),
            others: 0,
            role: "threads",
            most: 5,
            extras: &[
                Column("ns/op", OP, Shown::Significant),
                Column("share", SHARE, Shown::Ratio),
                Column("cpu/op", CPU_PER_OP, Shown::Time),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "time, share and CPU time per operation, CPUs busy",
        }),
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::FromSuite, [(50, 1), (40, 3), (1_000, 11)]);
        let counts = counts(asked, &[8], &[2, 8], MANY);
        (rounds, counts.into_iter().map(Situation::plain).collect())
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let capacity = BATCH as usize * given.team.threads;
        let channel =
            Channel { ring: Ring::new(capacity), senders_waiting: 0, receivers_waiting: 0 };
        let channel = Guarded::<M, Channel, 2>::new(lock, channel);
        let (shared, outcome) = given.timed::<M, _, _>(channel, |member, channel| {
            let mut context = channel.context();
            let mut sums = Sums::default();
            member.start()?;
            let mut operations = 0;
            // Whole turns only: a thread that stopped after sending would leave others without
            // room.
            while !member.stopped() {
                for _ in 0..BATCH {
                    send(channel, &mut context, operations);
                    sums.sent = sums.sent.wrapping_add(operations);
                    operations += 1;
                    member.done(operations);
                }
                for _ in 0..BATCH {
                    let number = receive(channel, &mut context);
                    sums.received = sums.received.wrapping_add(number);
                    operations += 1;
                    member.done(operations);
                }
            }
            Some(sums)
        })?;
        let empty = shared.with(&mut shared.context(), |channel| channel.ring.is_empty());
        audit::balance("channels that are empty at the end", 1, u64::from(empty))?;
        let sum = |of: fn(&Sums) -> u64| outcome.results.iter().map(of).fold(0, u64::wrapping_add);
        audit::balance("numbers", sum(|sums| sums.received), sum(|sums| sums.sent))?;
        Ok(sample(&outcome))
    }
}

/// The sums of what one thread has sent and received.
#[derive(Default)]
struct Sums {
    sent: u64,
    received: u64,
}

#[inline]
fn send<M: Machine>(channel: &Guarded<M, Channel, 2>, context: &mut Context<M>, number: u64) {
    channel.with(context, |channel| {
        while channel.ring.is_full() {
            channel.senders_waiting += 1;
            channel.wait(NOT_FULL);
            channel.senders_waiting -= 1;
        }
        channel.ring.push::<M>(number);
        if channel.receivers_waiting > 0 {
            channel.notify_one(NOT_EMPTY);
        }
    });
}

#[inline]
fn receive<M: Machine>(channel: &Guarded<M, Channel, 2>, context: &mut Context<M>) -> u64 {
    channel.with(context, |channel| {
        while channel.ring.is_empty() {
            channel.receivers_waiting += 1;
            channel.wait(NOT_EMPTY);
            channel.receivers_waiting -= 1;
        }
        let number = channel.ring.pop::<M>();
        if channel.senders_waiting > 0 {
            channel.notify_one(NOT_FULL);
        }
        number
    })
}

fn sample(outcome: &Outcome<Sums>) -> Sample {
    let mut sample = Sample::of_outcome(outcome);
    if let Some(throughput) = sample.value(THROUGHPUT).filter(|&throughput| throughput > 0.0) {
        sample.values.insert(1, (OP, 1e9 / throughput));
    }
    sample
}
