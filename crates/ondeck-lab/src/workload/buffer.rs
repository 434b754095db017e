//! The bounded buffer: a queue of numbers guarded by the lock under test, with threads that put numbers in
//! and threads that take them out.

use super::guarded::Guarded;
use super::ring::Ring;
use super::situation::moments;
use super::{Asked, Notify, Situation, param};
use crate::any::Context;
use crate::machine::Machine;
use crate::team::Member;

/// The state that both sides share, with the two conditions that they wait for.
pub(super) type Buffer<M> = Guarded<M, Queue, 2>;

pub(super) struct Queue {
    pub(super) ring: Ring,
    /// Threads must not wait any more.
    closed: bool,
    /// Where the buffer has a gate: all threads have to wait, whatever the ring contains.
    pub(super) held: bool,
    /// Where the buffer has a gate: the number of waiting threads.
    pub(super) waiting: usize,
}

/// Capacities of a bounded queue: one, where each item makes two threads meet; fewer than there are threads,
/// so that most wait; and far more.
pub(super) const CAPACITIES: [usize; 3] = [1, 8, 128];

/// The capacity of the queue, and when threads notify.
#[derive(Clone, Copy)]
pub(super) struct Bounded {
    pub(super) capacity: usize,
    pub(super) notify: Notify,
}

impl Bounded {
    /// All combinations of capacity, number of threads and moment of notification.
    pub(super) fn situations(
        asked: &Asked,
        capacities: &[usize],
        counts: &[usize],
    ) -> Vec<Situation<Self>> {
        let mut situations = Vec::new();
        for &capacity in asked.capacities.as_deref().unwrap_or(capacities) {
            for &threads in counts {
                situations.extend(moments(asked).into_iter().map(|notify| {
                    let capacity_param = (param::CAPACITY, capacity.to_string());
                    let params = std::iter::once(capacity_param).chain(notify.param());
                    Situation::plain(threads).with(Self { capacity, notify }, params)
                }));
            }
        }
        situations
    }

    /// Whether threads notify after the unlock.
    pub(super) fn after(self) -> bool {
        self.notify == Notify::After
    }
}

pub(super) const NOT_FULL: usize = 0;
pub(super) const NOT_EMPTY: usize = 1;

impl Queue {
    pub(super) fn new(capacity: usize) -> Self {
        Self { ring: Ring::new(capacity), closed: false, held: false, waiting: 0 }
    }

    /// Takes out the remaining numbers, and returns their sum.
    pub(super) fn drain<M: Machine>(&mut self) -> u64 {
        let mut left = 0_u64;
        while !self.ring.is_empty() {
            left = left.wrapping_add(self.ring.pop::<M>());
        }
        left
    }
}

/// What one thread did.
#[derive(Default)]
pub(super) struct Part {
    /// The sum of the numbers it sent or received. Each number is sent once by its producer, so a number that
    /// is lost or received twice changes the sum.
    pub(super) sum: u64,
    pub(super) waits: u64,
}

pub(super) fn sum(parts: &[Part]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.wrapping_add(part.sum))
}

/// Waits for a condition. The count for the gate is compiled only where there is a gate.
macro_rules! wait {
    ($queue:ident, $part:ident, $condition:expr) => {
        $part.waits += 1;
        if GATED {
            $queue.waiting += 1;
        }
        $queue.wait($condition);
        if GATED {
            $queue.waiting -= 1;
        }
    };
}

/// Puts numbers in until the team stops or the buffer is closed.
pub(super) fn produce<M: Machine, const GATED: bool>(
    member: &Member<M>,
    buffer: &Buffer<M>,
    after: bool,
) -> Part {
    let mut context = buffer.context();
    let mut part = Part::default();
    let mut items = 0;
    while !member.stopped() {
        let number = items + 1;
        let sent = buffer.with(&mut context, |queue| {
            while (queue.ring.is_full() || (GATED && queue.held)) && !queue.closed {
                wait!(queue, part, NOT_FULL);
            }
            if queue.closed {
                return false;
            }
            queue.ring.push::<M>(number);
            if !after {
                queue.notify_one(NOT_EMPTY);
            }
            true
        });
        if !sent {
            break;
        }
        if after {
            buffer.notify_one(NOT_EMPTY);
        }
        part.sum = part.sum.wrapping_add(number);
        items += 1;
        member.done(items);
    }
    close(buffer, &mut context);
    part
}

/// Takes numbers out until the team stops or the buffer is closed.
pub(super) fn consume<M: Machine, const GATED: bool>(
    member: &Member<M>,
    buffer: &Buffer<M>,
    after: bool,
) -> Part {
    let mut context = buffer.context();
    let mut part = Part::default();
    let mut items = 0;
    while !member.stopped() {
        let received = buffer.with(&mut context, |queue| {
            while (queue.ring.is_empty() || (GATED && queue.held)) && !queue.closed {
                wait!(queue, part, NOT_EMPTY);
            }
            if queue.closed {
                return None;
            }
            let number = queue.ring.pop::<M>();
            if !after {
                queue.notify_one(NOT_FULL);
            }
            Some(number)
        });
        let Some(number) = received else { break };
        if after {
            buffer.notify_one(NOT_FULL);
        }
        part.sum = part.sum.wrapping_add(number);
        items += 1;
        member.done(items);
    }
    close(buffer, &mut context);
    part
}

/// Wakes all sleeping threads, because no later thread would.
pub(super) fn close<M: Machine>(buffer: &Buffer<M>, context: &mut Context<M>) {
    buffer.with(context, |queue| {
        queue.closed = true;
        queue.notify_all(NOT_FULL);
        queue.notify_all(NOT_EMPTY);
    });
}
