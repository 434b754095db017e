//! `producer_consumer`: producers put numbers into a bounded queue, consumers take them out; a lock
//! and two condition variables, `not_full` and `not_empty`.
//!
//! The classic: whoever has changed the queue notifies one waiter of the other side, and does so
//! with the lock in its hands, as most programs do. The woken thread then finds the lock taken,
//! unless the condition variable moves it to the lock's queue or the lock is free by the time it
//! comes.

use std::sync::Arc;

use ondeck::platform::Linux;
use ondeck_zoo::RawLock;

use super::guarded::Guarded;
use super::ring::Ring;
use super::{Apart, EmptyLock, Situation, Workload, WorkloadInfo, audit};
use crate::sample::{Sample, WAITS};
use crate::team::{self, Member, Outcome, TeamError, Until};

pub(super) struct ProducerConsumer;

struct Queue {
    ring: Ring,
    /// Nobody is to wait any more.
    closed: bool,
}

const NOT_FULL: usize = 0;
const NOT_EMPTY: usize = 1;

impl Workload for ProducerConsumer {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "producer_consumer",
        about: "Items a second through a queue with two conditions",
        source: "C. A. R. Hoare, Monitors: An Operating System Structuring Concept, bounded buffer",
        counted: false,
        empty: EmptyLock::Never("its two roles share data: without a lock they would spoil it"),
    };

    fn round<L: RawLock<Linux>>(situation: &Situation) -> Result<Sample, TeamError> {
        let queue = Queue { ring: Ring::new(situation.capacity), closed: false };
        let shared = Arc::new(Apart(Guarded::<L, Queue, 2>::new(queue)));
        let producers = situation.team.threads / 2;
        let queue = Arc::clone(&shared);
        let outcome = team::run(&situation.team, Until::Elapsed(situation.round), move |member| {
            if !member.start() {
                return Part::default();
            }
            if member.index < producers {
                produce(member, &queue.0)
            } else {
                consume(member, &queue.0)
            }
        })?;
        let left = shared.0.with(&mut L::Context::default(), |queue| {
            let mut left = 0_u64;
            while !queue.ring.is_empty() {
                left = left.wrapping_add(queue.ring.pop());
            }
            left
        });
        let (senders, receivers) = outcome.results.split_at(producers);
        audit::balance("items", sum(senders), sum(receivers).wrapping_add(left))?;
        Ok(sample(&outcome, producers))
    }
}

/// What one thread did.
#[derive(Default)]
struct Part {
    /// The sum of the numbers it sent or received: each is sent once by its producer, and a number
    /// that is lost or received twice changes the sum.
    sum: u64,
    waits: u64,
}

fn sum(parts: &[Part]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.wrapping_add(part.sum))
}

fn produce<L: RawLock<Linux>>(member: &Member, queue: &Guarded<L, Queue, 2>) -> Part {
    let mut context = L::Context::default();
    let mut part = Part::default();
    let mut items = 0;
    while !member.stopped() {
        let number = items + 1;
        let sent = queue.with(&mut context, |queue| {
            while queue.ring.is_full() && !queue.closed {
                part.waits += 1;
                queue.wait(NOT_FULL);
            }
            if queue.closed {
                return false;
            }
            queue.ring.push(number);
            queue.notify_one(NOT_EMPTY);
            true
        });
        if !sent {
            break;
        }
        part.sum = part.sum.wrapping_add(number);
        items += 1;
        member.done(items);
    }
    close(queue, &mut context);
    part
}

fn consume<L: RawLock<Linux>>(member: &Member, queue: &Guarded<L, Queue, 2>) -> Part {
    let mut context = L::Context::default();
    let mut part = Part::default();
    let mut items = 0;
    while !member.stopped() {
        let received = queue.with(&mut context, |queue| {
            while queue.ring.is_empty() && !queue.closed {
                part.waits += 1;
                queue.wait(NOT_EMPTY);
            }
            if queue.closed {
                return None;
            }
            let number = queue.ring.pop();
            queue.notify_one(NOT_FULL);
            Some(number)
        });
        let Some(number) = received else { break };
        part.sum = part.sum.wrapping_add(number);
        items += 1;
        member.done(items);
    }
    close(queue, &mut context);
    part
}

/// Wakes all who sleep, for nobody comes after this thread who would.
fn close<L: RawLock<Linux>>(queue: &Guarded<L, Queue, 2>, context: &mut L::Context) {
    queue.with(context, |queue| {
        queue.closed = true;
        queue.notify_all(NOT_FULL);
        queue.notify_all(NOT_EMPTY);
    });
}

fn sample(outcome: &Outcome<Part>, producers: usize) -> Sample {
    let threads = outcome.pairs.len();
    let consumers = producers..threads;
    let mut sample = Sample::of_roles(outcome, consumers.clone(), &[0..producers, consumers]);
    let items: u64 = outcome.pairs[producers..].iter().sum();
    let waits: u64 = outcome.results.iter().map(|part| part.waits).sum();
    sample.values.push((WAITS, waits as f64 / items.max(1) as f64));
    sample.add_running();
    sample
}
