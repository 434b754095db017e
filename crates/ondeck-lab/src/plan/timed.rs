//! The situations of timed workloads: threads, work, and how long and how often a round is.
//!
//! A suite is to take four minutes on two CPUs, so it measures what the answers need and no more:
//! the ends of a curve and not its middle, which `--full` has, but for `throughput`, where locks change
//! places along it; rounds of 40 ms where nothing but a rate is taken, which two runs of one binary
//! agree on within 15 %, and longer ones only where a share, a window or a phase asks for it.

use std::time::Duration;

use ondeck::platform::{Linux, Platform};
use ondeck_zoo::{Fairness, LockInfo};

use super::company::{background, bystander, many_locks, mixed_priority, real};
use super::waiting::{chan, collision, condvar, producer_consumer, recovery};
use super::{Extent, Request, Stage};
use crate::sample::share_needs;
use crate::workload::{COLLISION, Subject, WorkloadInfo, waiters_sleep};

/// Section and outside work of the suite, in nanoseconds: the lock alone, a lock in a program, and one in a
/// program that does ten times as much under it.
pub(super) const ALONE: (u64, u64) = (0, 0);
const PROGRAM: (u64, u64) = (100, 500);
const LONG: (u64, u64) = (1_000, 5_000);

/// How long the giver of a slow handoff holds the lock, in nanoseconds: several times what any lock
/// here spins before its waiter sleeps.
const SLOW_HOLD: u64 = 50_000;

/// More threads than this are refused by many systems.
const MOST_THREADS: usize = 4_096;

/// What tells the stages of a workload apart.
pub(super) struct Situation {
    pub(super) threads: usize,
    pub(super) work: (u64, u64),
    pub(super) capacity: usize,
    pub(super) variant: &'static str,
    pub(super) params: Vec<(&'static str, String)>,
}

/// How long a round is, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Rounds {
    length: Duration,
    turns: usize,
    /// Rounds are as long as the share needs, if that is longer.
    shares: bool,
}

impl Rounds {
    pub(super) fn of_millis(length: u64, turns: usize) -> Self {
        Self { length: Duration::from_millis(length), turns, shares: true }
    }

    /// Rounds that are too short to tell shares by where threads outnumber CPUs.
    pub(super) fn short(self) -> Self {
        Self { shares: false, ..self }
    }

    fn length(self, threads: usize) -> Duration {
        // A tenth more than the share needs, because a window is never quite as long as meant.
        let needed = share_needs(threads).mul_f64(1.1);
        if self.shares { self.length.max(needed) } else { self.length }
    }
}

pub(super) fn stages(
    request: &Request,
    workload: WorkloadInfo,
    subjects: &[Subject],
) -> Vec<Stage> {
    let (rounds, situations) = match workload.name {
        "handoff" => handoff(request.extent),
        "capture" => capture(request),
        "starve" => starve(request),
        "oversubscribed" => oversubscribed(request),
        "condvar" => condvar(request),
        "producer_consumer" => producer_consumer(request),
        "recovery" => recovery(request),
        COLLISION => collision(request),
        "chan" => chan(request),
        "bystander" => bystander(request),
        "background" => background(request),
        "many_locks" => many_locks(request),
        "mixed_priority" => mixed_priority(request.extent),
        "real" => real(request),
        _ => throughput(request),
    };
    // A share is shown of the most threads only, so the suite's other rounds need not be as long.
    let most = situations.iter().map(|situation| situation.threads).max().unwrap_or(0);
    let length = |threads: usize| {
        let shares = request.extent == Extent::Full || threads == most;
        if shares { rounds.length(threads) } else { rounds.short().length(threads) }
    };
    let stage = |situation: Situation| Stage {
        workload,
        subjects: taking_part(request, workload, subjects, situation.threads),
        threads: situation.threads,
        work: situation.work,
        capacity: situation.capacity,
        variant: situation.variant,
        baseline: false,
        conditions: request.conditions(),
        alone: false,
        params: situation
            .params
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        turn: request.round.unwrap_or_else(|| length(situation.threads)),
        turns: request.rounds.unwrap_or(rounds.turns),
        most_runs: usize::MAX,
        longest_run: Duration::MAX,
    };
    situations.into_iter().map(stage).collect()
}

/// The locks that are measured with so many threads. Strict queues of spinners hand the lock to threads
/// that are off their CPUs, where a single round takes seconds; a suite leaves them out unless they are asked
/// for. Where other threads have to be parked no spinner can take part at all.
fn taking_part(
    request: &Request,
    workload: WorkloadInfo,
    subjects: &[Subject],
    threads: usize,
) -> Vec<Subject> {
    if workload.name == COLLISION && threads > 1 {
        return subjects.iter().filter(|lock| waiters_sleep(&lock.info)).cloned().collect();
    }
    let crowd = threads > 4 * Linux::cpus();
    let all = !crowd || request.locks.is_some() || request.extent == Extent::Full;
    let strict = |lock: &LockInfo| lock.fairness == Fairness::Fifo && !waiters_sleep(lock);
    subjects.iter().filter(|subject| all || !strict(&subject.info)).cloned().collect()
}

/// One of three, by the extent.
pub(super) fn by<T>(extent: Extent, quick: T, suite: T, full: T) -> T {
    match extent {
        Extent::Quick => quick,
        Extent::Suite => suite,
        Extent::Full => full,
    }
}

/// The numbers of threads: those asked for, else by the extent.
pub(super) fn counts(
    request: &Request,
    quick: &[usize],
    suite: &[usize],
    full: &[usize],
) -> Vec<usize> {
    request.threads.clone().unwrap_or_else(|| by(request.extent, quick, suite, full).to_vec())
}

/// The same for workloads whose threads have two roles.
pub(super) fn counts_of_two(
    request: &Request,
    quick: &[usize],
    suite: &[usize],
    full: &[usize],
) -> Vec<usize> {
    let mut counts = counts(request, quick, suite, full);
    for count in &mut counts {
        *count = (*count).max(2);
    }
    counts.dedup();
    counts
}

pub(super) fn working(threads: usize, work: (u64, u64)) -> Situation {
    let params = vec![("section_ns", work.0.to_string()), ("outside_ns", work.1.to_string())];
    Situation { threads, work, capacity: 0, variant: "", params }
}

pub(super) fn plain(threads: usize) -> Situation {
    Situation { threads, work: ALONE, capacity: 0, variant: "", params: Vec::new() }
}

/// 1, 2, 4 and so on, to 32 or four times as many threads as CPUs; more are for `oversubscribed`.
fn doublings() -> Vec<usize> {
    let most = (4 * Linux::cpus()).clamp(32, MOST_THREADS);
    std::iter::successors(Some(1), |count| Some(2 * count))
        .take_while(|count| *count <= most)
        .collect()
}

pub(super) const MANY: &[usize] = &[1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

fn throughput(request: &Request) -> (Rounds, Vec<Situation>) {
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

fn handoff(extent: Extent) -> (Rounds, Vec<Situation>) {
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

fn capture(request: &Request) -> (Rounds, Vec<Situation>) {
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

fn starve(request: &Request) -> (Rounds, Vec<Situation>) {
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

fn oversubscribed(request: &Request) -> (Rounds, Vec<Situation>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::request;
    use crate::workload::WORKLOADS;

    #[test]
    fn a_suite_leaves_strict_spinners_out_of_a_crowd_unless_they_are_named() {
        let all = Subject::all();
        let crowd = 4 * Linux::cpus() + 1;
        let throughput = workload("throughput");
        let has = |request: &Request, threads: usize| {
            taking_part(request, throughput, &all, threads)
                .iter()
                .any(|lock| lock.info.name == "mcs")
        };
        let suite = request(Extent::Suite);
        assert!(has(&suite, crowd - 1) && !has(&suite, crowd));
        assert_eq!(
            all.len() - taking_part(&suite, throughput, &all, crowd).len(),
            all.iter()
                .filter(|lock| lock.info.fairness == Fairness::Fifo && !waiters_sleep(&lock.info))
                .count()
        );
        let named = Request { locks: Some(all.clone()), ..suite };
        assert!(has(&named, crowd) && has(&request(Extent::Full), crowd));
    }

    #[test]
    fn a_spinner_is_measured_beside_no_parked_thread_and_beside_no_other() {
        let spinners: Vec<_> =
            Subject::all().into_iter().filter(|lock| !waiters_sleep(&lock.info)).collect();
        let named = Request { locks: Some(spinners.clone()), ..request(Extent::Full) };
        let taking_part =
            |threads| taking_part(&named, workload(COLLISION), &spinners, threads).len();
        assert_eq!((taking_part(1), taking_part(2)), (spinners.len(), 0));
    }

    fn workload(name: &str) -> WorkloadInfo {
        *WORKLOADS.iter().find(|info| info.name == name).expect(name)
    }
}
