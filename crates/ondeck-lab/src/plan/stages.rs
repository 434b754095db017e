//! From a timed workload's situations to its stages.

use ondeck::platform::{Linux, Platform};
use ondeck_zoo::{Fairness, LockInfo};

use super::company::{background, bystander, many_locks, mixed_priority, real};
use super::situation::Situation;
use super::timed::{capture, handoff, oversubscribed, starve, throughput};
use super::waiting::{chan, collision, condvar, producer_consumer, recovery};
use super::{Extent, Request, Stage};
use crate::workload::{COLLISION, Subject, WorkloadInfo, waiters_sleep};
use std::time::Duration;

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
