//! What `ondeck bench` measures if no part of the suite is named: what answers the question of most users, in a
//! minute on two CPUs.

use std::time::Duration;

use ondeck_lab::plan::{self, Request, Stage};
use ondeck_lab::select::{self, Parts};
use ondeck_lab::workload::{Notify, Subject, named};
use ondeck_report::answer::{Part, QUESTIONS};

use super::Options;

/// The locks that a user chooses from. The name of a library's mutex also chooses its reader-writer lock.
const LOCKS: [&str; 5] = ["std", "parking_lot", "glibc", "spin", "ondeck"];

/// Rounds of each lock in each situation: quartiles of fewer say little.
const ROUNDS: usize = 7;

/// Whether the answer is measured, and not the suite.
pub(super) fn is_asked_for(options: &Options) -> bool {
    let choice = &options.choice;
    let suite = options.all || options.quick || options.full || choice.workloads.is_some();
    let situations = choice.threads.is_some()
        || choice.work.is_some()
        || choice.data.is_some()
        || choice.capacity.is_some()
        || choice.notify.is_some();
    !suite && !situations
}

/// The workloads of the answer, each once.
pub(super) fn parts() -> Parts {
    let mut names: Vec<&str> = all().map(|part| part.workload).collect();
    names.dedup();
    Parts { workloads: names.into_iter().filter_map(named).copied().collect(), costs: false }
}

/// The locks of the answer that this system has.
pub(super) fn locks(everything: &[Subject]) -> Vec<Subject> {
    let here = |name: &&&str| everything.iter().any(|lock| lock.info.name == **name);
    let words: Vec<String> = LOCKS.iter().filter(here).map(|name| (*name).to_owned()).collect();
    select::locks(everything, &words).unwrap_or_default()
}

/// The stages of the answer.
pub(super) fn stages(request: &Request, everything: &[Subject]) -> Vec<Stage> {
    let left = |part: &&Part| request.workloads.iter().any(|one| one.name == part.workload);
    all().filter(left).flat_map(|part| plan::stages(&of(part, request), everything)).collect()
}

fn all() -> impl Iterator<Item = &'static Part> {
    QUESTIONS.iter().flat_map(|question| question.parts)
}

fn of(part: &Part, request: &Request) -> Request {
    let threads: Vec<usize> =
        part.threads.iter().map(|(times, more)| times * request.cpus + more).collect();
    Request {
        workloads: named(part.workload).into_iter().copied().collect(),
        // On one CPU threads contend, too.
        threads: (!threads.is_empty())
            .then(|| threads.into_iter().map(|count| count.max(2)).collect()),
        work: part.work,
        capacities: part.capacity.map(|capacity| vec![capacity]),
        notify: Some(vec![Notify::Inside]),
        round: request.round.or(Some(Duration::from_millis(part.round))),
        rounds: request.rounds.or(Some(ROUNDS)),
        helper: None,
        ..request.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ondeck_lab::plan::Extent;

    #[test]
    fn the_answer_takes_a_minute_on_two_cpus() {
        let everything = Subject::of_every_kind();
        let locks = Some(locks(&everything));
        let workloads = parts().workloads;
        let request = Request { cpus: 2, locks, workloads, ..Request::of(Extent::Suite) };
        let stages = stages(&request, &everything);
        let planned: Duration = stages.iter().map(Stage::planned).sum();
        assert!((45..=65).contains(&planned.as_secs()), "{planned:?}");
        for question in QUESTIONS {
            let measured =
                |part: &Part| stages.iter().any(|one| one.workload.name == part.workload);
            assert!(question.parts.iter().all(measured), "{}", question.name);
        }
    }
}
