//! The situations of workloads that ask about the lock itself.

use ondeck::platform::{Linux, Platform};

use super::situation::{ALONE, LONG, MANY, PROGRAM, Rounds, Situation, by, counts, working};
use super::{Extent, Request};

/// More threads than this are refused by many systems.
const MOST_THREADS: usize = 4_096;

/// How long the giver of a slow handoff holds the lock, in nanoseconds: several times what any lock
/// here spins before its waiter sleeps.
const SLOW_HOLD: u64 = 50_000;

/// 1, 2, 4 and so on, to 32 or four times as many threads as CPUs; more are for `oversubscribed`.
fn doublings() -> Vec<usize> {
    let most = (4 * Linux::cpus()).clamp(32, MOST_THREADS);
    std::iter::successors(Some(1), |count| Some(2 * count))
        .take_while(|count| *count <= most)
        .collect()
}

pub(super) fn throughput(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(20, 2),
        Rounds::of_millis(40, 3),
        Rounds::of_millis(1_000, 11),
    );
    let works = request.work.map_or(vec![ALONE, PROGRAM, LONG], |work| vec![work]);
    let mut situations = Vec::new();
    for work in works {
        let quick: &[usize] = if work == ALONE { &[1, 2, 8] } else { &[2] };
        let counts = counts(request, quick, &doublings(), MANY);
        situations.extend(counts.into_iter().map(|threads| working(threads, work)));
    }
    (rounds, situations)
}

pub(super) fn handoff(extent: Extent) -> (Rounds, Vec<Situation>) {
    let rounds =
        by(extent, Rounds::of_millis(10, 2), Rounds::of_millis(20, 3), Rounds::of_millis(500, 11));
    let patterns = [("solo", 1, 0), ("fast", 2, 0), ("slow", 2, SLOW_HOLD)];
    let situation = |(pattern, threads, hold): (&str, usize, u64)| Situation {
        threads,
        work: (hold, 0),
        capacity: 0,
        variant: "",
        params: vec![("pattern", pattern.to_owned())],
    };
    (rounds, patterns.map(situation).into())
}

pub(super) fn capture(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(50, 1).short(),
        Rounds::of_millis(60, 3).short(),
        Rounds::of_millis(1_000, 11),
    );
    let work = request.work.unwrap_or(ALONE);
    let counts = counts(request, &[8], &[2, 8], &[2, 4, 8, 16, 32, 64]);
    (rounds, counts.into_iter().map(|threads| working(threads, work)).collect())
}

pub(super) fn starve(request: &Request) -> (Rounds, Vec<Situation>) {
    // Several of the windows that progress is looked for in.
    let rounds = by(
        request.extent,
        Rounds::of_millis(110, 1).short(),
        Rounds::of_millis(150, 2),
        Rounds::of_millis(2_000, 11),
    );
    let work = request.work.unwrap_or((100, 0));
    let counts = counts(request, &[8], &[8], &[8]);
    (rounds, counts.into_iter().map(|threads| working(threads, work)).collect())
}

pub(super) fn oversubscribed(request: &Request) -> (Rounds, Vec<Situation>) {
    let rounds = by(
        request.extent,
        Rounds::of_millis(50, 1).short(),
        Rounds::of_millis(100, 2),
        Rounds::of_millis(1_000, 11),
    );
    let times_cpus = |times: &[usize]| -> Vec<usize> {
        let mut counts: Vec<usize> =
            times.iter().map(|times| (times * Linux::cpus()).min(MOST_THREADS)).collect();
        counts.dedup();
        counts
    };
    let all = times_cpus(&[4, 8, 16, 32]);
    let works = match (request.work, request.extent) {
        (Some(work), _) => vec![work],
        (None, Extent::Quick) => vec![ALONE],
        (None, _) => vec![ALONE, PROGRAM],
    };
    let mut situations = Vec::new();
    for work in works {
        let suite = if work == ALONE { times_cpus(&[4, 8]) } else { times_cpus(&[4]) };
        let counts = counts(request, &times_cpus(&[8]), &suite, &all);
        situations.extend(counts.into_iter().map(|threads| working(threads, work)));
    }
    (rounds, situations)
}
