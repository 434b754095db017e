//! The bounded buffer: a queue of numbers guarded by the lock under test, with threads that put
//! numbers in and threads that take them out.

use super::prelude::*;
use super::ring::Ring;
use crate::any::Context;

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

/// Capacities of a bounded queue: one, where each item makes two threads meet; fewer than there are
/// threads, so that most wait; and far more.
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
        let capacities = asked.capacities.as_deref().unwrap_or(capacities);
        let moments = moments(asked);
        let of = |capacity: usize, threads: usize, notify: Notify| {
            let capacity_param = (param::CAPACITY, capacity.to_string());
            let params = std::iter::once(capacity_param).chain(notify.param());
            Situation::plain(threads).with(Self { capacity, notify }, params)
        };
        let with =
            |&capacity| product(counts, &moments, move |one, other| of(capacity, one, other));
        capacities.iter().flat_map(with).collect()
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
    /// The sum of the numbers it sent or received. Each number is sent once by its producer, so a
    /// number that is lost or received twice changes the sum.
    pub(super) sum: u64,
    pub(super) waits: u64,
}

pub(super) fn sum(parts: &[Part]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.wrapping_add(part.sum))
}

/// Puts numbers in until the team stops or the buffer is closed.
pub(super) fn produce<M: Machine, const GATED: bool>(
    member: &Member<M>,
    buffer: &Buffer<M>,
    after: bool,
) -> Part {
    let push = |ring: &mut Ring, number| {
        ring.push::<M>(number);
        number
    };
    pass::<M, GATED>(member, buffer, after, [NOT_FULL, NOT_EMPTY], Ring::is_full, push)
}

/// Takes numbers out until the team stops or the buffer is closed.
pub(super) fn consume<M: Machine, const GATED: bool>(
    member: &Member<M>,
    buffer: &Buffer<M>,
    after: bool,
) -> Part {
    let pop = |ring: &mut Ring, _| ring.pop::<M>();
    pass::<M, GATED>(member, buffer, after, [NOT_EMPTY, NOT_FULL], Ring::is_empty, pop)
}

/// Passes numbers by `step`, which receives how many there have been, with this one. While the ring
/// `is_blocked`, the thread waits for the condition `mine`; then it notifies the condition `other`.
#[inline(always)]
fn pass<M: Machine, const GATED: bool>(
    member: &Member<M>,
    buffer: &Buffer<M>,
    after: bool,
    [mine, other]: [usize; 2],
    is_blocked: impl Fn(&Ring) -> bool,
    step: impl Fn(&mut Ring, u64) -> u64,
) -> Part {
    let mut context = buffer.context();
    let mut part = Part::default();
    let mut items = 0;
    while !member.stopped() {
        let passed = buffer.with(&mut context, |queue| {
            // What counts for the gate is compiled only where there is one.
            while (is_blocked(&queue.ring) || (GATED && queue.held)) && !queue.closed {
                part.waits += 1;
                queue.waiting += usize::from(GATED);
                queue.wait(mine);
                queue.waiting -= usize::from(GATED);
            }
            if queue.closed {
                return None;
            }
            let number = step(&mut queue.ring, items + 1);
            if !after {
                queue.notify_one(other);
            }
            Some(number)
        });
        let Some(number) = passed else { break };
        if after {
            buffer.notify_one(other);
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
