//! The situations of workloads that have more around the lock than threads that want it: other
//! work, other locks, other priorities, a program.

use ondeck::platform::{Linux, Platform};

use super::situation::{ALONE, Rounds, Situation, by, counts, counts_of_two, working};
use super::{Extent, Request};
use crate::workload::real::APPS;

/// Section and outside work of `background`: long enough that waiters who can sleep do.
const LONG_SECTION: (u64, u64) = (1_000, 0);

/// Locks of an array: few, so that threads meet; and as many as fill a first-level cache when each
/// has a cache line.
const LOCKS: [usize; 2] = [16, 512];

/// The same for a long campaign: also more than a second-level cache holds.
const MORE_LOCKS: [usize; 4] = [16, 512, 8_192, 131_072];

pub(super) fn bystander(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(40, 1).short(),
        Rounds::of_millis(120, 2).short(),
        Rounds::of_millis(1_000, 11),
    );
    // The bystander and one thread more than there are CPUs.
    let few = Linux::cpus() + 2;
    let counts = counts_of_two(request, &[few], &[few], &[2, few, 4 * few]);
    let work = request.work.unwrap_or(ALONE);
    (rounds, counts.into_iter().map(|threads| working(threads, work)).collect())
}

pub(super) fn background(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(40, 1).short(),
        Rounds::of_millis(120, 2).short(),
        Rounds::of_millis(1_000, 11),
    );
    // Low work on every CPU, and one thread more than there are CPUs at the lock.
    let few = 2 * Linux::cpus() + 1;
    let counts = counts_of_two(request, &[few], &[few], &[few, 4 * few]);
    let work = request.work.unwrap_or(LONG_SECTION);
    let priorities: &[_] = by(request.extent, &["idle"], &["idle"], &["idle", "nice"]);
    let situation = |priority: &'static str| {
        counts.iter().map(move |&threads| {
            let mut situation = working(threads, work);
            situation.variant = priority;
            situation.params.push(("priority", priority.to_owned()));
            situation
        })
    };
    (rounds, priorities.iter().copied().flat_map(situation).collect())
}

pub(super) fn many_locks(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(20, 1).short(),
        Rounds::of_millis(40, 2),
        Rounds::of_millis(1_000, 11),
    );
    let sizes: &[usize] = by(request.extent, &LOCKS[1..], &LOCKS, &MORE_LOCKS);
    let counts = counts(request, &[2], &[2 * Linux::cpus()], &[1, 2, 8, 32]);
    let work = request.work.unwrap_or(ALONE);
    let mut situations = Vec::new();
    for &locks in sizes {
        for (layout, padded) in [("unpadded", "no"), ("padded", "yes")] {
            situations.extend(counts.iter().map(|&threads| {
                let mut situation = working(threads, work);
                (situation.capacity, situation.variant) = (locks, layout);
                situation.params.push(("locks", locks.to_string()));
                situation.params.push(("padded", padded.to_owned()));
                situation
            }));
        }
    }
    (rounds, situations)
}

pub(super) fn mixed_priority(extent: Extent) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        extent,
        Rounds::of_millis(30, 1).short(),
        Rounds::of_millis(60, 2).short(),
        Rounds::of_millis(500, 11).short(),
    );
    (rounds, vec![super::situation::plain(3)])
}

pub(super) fn real(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(20, 1).short(),
        Rounds::of_millis(60, 2),
        Rounds::of_millis(1_000, 11),
    );
    let few = 2 * Linux::cpus();
    let counts = counts(request, &[few], &[few], &[1, 2, 4, 8, 16, 32]);
    let situation = |app: &'static str| {
        counts.iter().map(move |&threads| {
            let mut situation = super::situation::plain(threads);
            situation.variant = app;
            situation.params.push(("app", app.to_owned()));
            situation
        })
    };
    (rounds, APPS.into_iter().flat_map(situation).collect())
}
