//! `recovery`: the bounded buffer after a moment in which all of its threads slept, compared with
//! the same threads before.
//!
//! A lock may have two regimes: one while its threads happen to be awake, and a slower one that
//! begins when all of them have slept once and does not end by itself. A benchmark whose threads
//! start together never leaves the first. So a round has two halves. In the first half the threads
//! run as they started, from a buffer that is half full, so that no side has to wait at once. Then
//! a gate keeps all of them waiting for their conditions until they sleep, and opens. The second
//! half begins when it opens.

use super::buffer::{
    Bounded, Buffer, CAPACITIES, NOT_EMPTY, NOT_FULL, Part, Queue, close, consume, produce, sum,
};
use super::phases::{Seen, watch};
use super::prelude::*;
use crate::environment::Placement;

pub(super) struct Recovery;

/// How long the gate stays shut once all threads wait: far longer than any waiter here spins.
const SHUT: Duration = Duration::from_millis(5);

/// The interval of the conductor's checks whether all threads wait.
const ASKING: Duration = Duration::from_micros(500);

impl Called for Recovery {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "recovery",
        title: "After a sleep",
        about: "Items a second once all threads of a queue have slept",
        empty: EmptyLock::OF_TWO_ROLES,
        shares_data: true,
        notifies: true,
        quantities: &[FRESH, RECOVERED, WAITS],
        table: Table::Quantities {
            heading: "thousand items/s after all threads slept, and before\n{}",
            columns: &[
                Column("k/s", THROUGHPUT, Shown::Thousands),
                Column("before", FRESH, Shown::Thousands),
                Column("ratio", RECOVERED, Shown::Ratio),
                Column("cpu/item", CPU_PER_OP, Shown::Time),
                Column("waits", WAITS, Shown::Significant),
                Column("sleeps", VOLUNTARY, Shown::Significant),
                Column("cpus", RUNNING, Shown::Ratio),
            ],
            note: "",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = Bounded;

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation<Bounded>>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(40, 1), (80, 3), (1_000, 11)]);
        let counts = counts_of_two(asked, &[4], &[4], &[2, 4, 16]);
        (rounds, Bounded::situations(asked, &CAPACITIES[1..2], &counts))
    }

    fn round<M: Machine>(given: &Round, own: &Bounded, lock: AnyMutex<M>) -> Sampled {
        let threads = given.team.threads;
        let producers = threads / 2;
        let mut queue = Queue::new(own.capacity);
        let mut first = 0;
        for number in 1..=own.capacity as u64 / 2 {
            queue.ring.push::<M>(number);
            first += number;
        }
        let shared = Arc::new(Buffer::<M>::new(lock, queue));
        let buffer = Arc::clone(&shared);
        let (after, round) = (own.after(), given.length);
        let placement = given.team.placement.clone();
        // The additional thread conducts.
        let setting = TeamSetting { threads: threads + 1, ..given.team.clone() };
        let outcome = team::run::<M, _>(&setting, Until::Finished(Duration::MAX), move |member| {
            member.start()?;
            if member.index == threads {
                let seen = conduct(member, &buffer, threads, round, &placement);
                return Some(Role::Conductor(seen));
            }
            let before = M::usage();
            let part = if member.index < producers {
                produce::<M, true>(member, &buffer, after)
            } else {
                consume::<M, true>(member, &buffer, after)
            };
            Some(Role::Worker(part, M::usage().since(before)))
        })?;
        let left = shared.with(&mut shared.context(), |queue| queue.drain::<M>());
        sample(outcome, producers, first, left)
    }
}

enum Role {
    Worker(Part, Usage),
    /// The two halves, if the team was not stopped before their end.
    Conductor(Option<[Seen; 2]>),
}

/// Lets the threads run, shuts the gate, opens it, and lets them run again.
fn conduct<M: Machine>(
    member: &Member<M>,
    buffer: &Buffer<M>,
    threads: usize,
    round: Duration,
    placement: &Placement,
) -> Option<[Seen; 2]> {
    let _raised = placement.raise_coordinator();
    let mut context = buffer.context();
    let fresh = watch(member, round / 2);
    buffer.with(&mut context, |queue| queue.held = true);
    while !member.stopped() && buffer.with(&mut context, |queue| queue.waiting) < threads {
        M::sleep(ASKING);
    }
    M::sleep(SHUT);
    buffer.with(&mut context, |queue| {
        queue.held = false;
        queue.notify_all(NOT_FULL);
        queue.notify_all(NOT_EMPTY);
    });
    let recovered = watch(member, round / 2);
    close(buffer, &mut context);
    (!member.stopped()).then_some([fresh, recovered])
}

fn sample(mut outcome: Outcome<Role>, producers: usize, first: u64, left: u64) -> Sampled {
    let (mut parts, mut usage, mut halves) = (Vec::new(), Usage::default(), None);
    for role in std::mem::take(&mut outcome.results) {
        match role {
            Role::Worker(part, its_usage) => {
                parts.push(part);
                usage = usage.plus(its_usage);
            }
            Role::Conductor(seen) => halves = seen,
        }
    }
    let [fresh, recovered] = halves.ok_or(TeamError::Cancelled)?;
    let (senders, receivers) = parts.split_at(producers);
    let sent = sum(senders).wrapping_add(first);
    audit::balance("items", sent, sum(receivers).wrapping_add(left))?;

    let threads = parts.len();
    let consumers = producers..threads;
    let (fresh, speed) = (fresh.rate(consumers.clone()), recovered.rate(consumers.clone()));
    let items: u64 = outcome.pairs[consumers.clone()].iter().sum();
    let waits: u64 = parts.iter().map(|part| part.waits).sum();
    let window_pairs = recovered.operations[..threads].to_vec();
    let outcome = Outcome {
        window: recovered.window,
        contended_pairs: window_pairs.clone(),
        window_pairs,
        pairs: outcome.pairs[..threads].to_vec(),
        usage,
        span: outcome.span,
        cpus: outcome.cpus,
        results: parts,
    };
    let mut sample = Sample::of_roles(&outcome, consumers.clone(), &[0..producers, consumers]);
    sample.values.insert(1, (FRESH, fresh));
    // If the first half had no item, there is nothing to compare with.
    if fresh > 0.0 {
        sample.values.insert(2, (RECOVERED, speed / fresh));
    }
    sample.values.push((WAITS, waits as f64 / items.max(1) as f64));
    Ok(sample)
}
