//! The measurements of `ondeck bench` outside of the suite: the answer to the question of most
//! users, in a minute on two CPUs.

use std::time::Duration;

use ondeck_lab::plan::{self, Request, Stage};
use ondeck_lab::results::{Failure, Report, Series};
use ondeck_lab::run::Observer;
use ondeck_lab::select::{self, Parts};
use ondeck_lab::workload::{Notify, Subject, named};
use ondeck_report::answer::{Answer, Part, QUESTIONS};
use ondeck_report::table;

use super::Options;
use crate::progress::Progress;

/// The locks that a user chooses between. The name of a library's mutex also selects its
/// reader-writer lock.
const LOCKS: [&str; 5] = ["std", "parking_lot", "glibc", "spin", "ondeck"];

/// Parts of workloads, and the locks that are measured if none are named.
pub(super) struct Selection {
    parts: Vec<&'static Part>,
    locks: &'static [&'static str],
}

impl Selection {
    /// The selection of the options; `None` if they select the suite or parts of it.
    pub(super) fn of(options: &Options) -> Option<Self> {
        let parts = || QUESTIONS.iter().flat_map(|question| question.parts).collect();
        asks_for_answer(options).then(|| Self { parts: parts(), locks: &LOCKS })
    }

    /// The workloads, each once.
    pub(super) fn workloads(&self) -> Parts {
        let mut names: Vec<&str> = self.parts.iter().map(|part| part.workload).collect();
        names.dedup();
        Parts { workloads: names.into_iter().filter_map(named).copied().collect(), costs: false }
    }

    /// The locks that this system has.
    pub(super) fn locks(&self, everything: &[Subject]) -> Vec<Subject> {
        let here = |name: &&&str| everything.iter().any(|lock| lock.info.name == **name);
        let words: Vec<String> =
            self.locks.iter().filter(here).map(|name| (*name).to_owned()).collect();
        select::locks(everything, &words).unwrap_or_default()
    }

    /// The stages of the remaining workloads.
    pub(super) fn stages(&self, request: &Request, everything: &[Subject]) -> Vec<Stage> {
        let left = |part: &&&Part| request.workloads.iter().any(|one| one.name == part.workload);
        let parts = self.parts.iter().filter(left);
        parts.flat_map(|part| plan::stages(&of(part, request), everything)).collect()
    }
}

/// Shows the rows of the answer that are complete while the others are measured.
pub(super) struct Growing<'a> {
    pub(super) progress: &'a mut Progress,
    pub(super) report: Report,
}

impl Observer for Growing<'_> {
    fn turn(&mut self, stage: &Stage, lock: &str, behind: Duration) {
        self.progress.turn(stage, lock, behind);
    }

    fn failed(&mut self, failure: &Failure) {
        self.progress.failed(failure);
    }

    fn ended(&mut self, series: &[Series]) {
        if self.progress.is_hidden() {
            return;
        }
        self.report.series = series.to_vec();
        if let Some(mut answer) = Answer::of(&self.report) {
            // The last row may lack situations.
            answer.rows.pop();
            answer.share = None;
            if !answer.rows.is_empty() {
                self.progress.show_above(table::answer(&answer) + "\n");
            }
        }
    }
}

fn asks_for_answer(options: &Options) -> bool {
    let choice = &options.choice;
    let suite = options.all || options.quick || options.full || choice.workloads.is_some();
    let situations = choice.threads.is_some()
        || choice.work.is_some()
        || choice.data.is_some()
        || choice.capacity.is_some()
        || choice.notify.is_some();
    !suite && !situations
}

fn of(part: &Part, request: &Request) -> Request {
    // At least two threads, so that they also contend on one CPU. An article's number of threads
    // does not depend on the CPUs.
    let count = |&(times, more): &(usize, usize)| {
        if times == 0 { more } else { (times * request.cpus + more).max(2) }
    };
    let threads: Vec<usize> = part.threads.iter().map(count).collect();
    Request {
        workloads: named(part.workload).into_iter().copied().collect(),
        threads: (!threads.is_empty()).then_some(threads),
        work: part.work,
        capacities: part.capacity.map(|capacity| vec![capacity]),
        notify: Some(vec![Notify::Inside]),
        round: request.round.or(Some(Duration::from_millis(part.round))),
        rounds: request.rounds.or(part.rounds),
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
        let parts = QUESTIONS.iter().flat_map(|question| question.parts).collect();
        let selection = Selection { parts, locks: &LOCKS };
        let locks = Some(selection.locks(&everything));
        let workloads = selection.workloads().workloads;
        let request = Request { cpus: 2, locks, workloads, ..Request::of(Extent::Suite) };
        let stages = selection.stages(&request, &everything);
        let planned: Duration = stages.iter().map(Stage::planned).sum();
        assert!((45..=65).contains(&planned.as_secs()), "{planned:?}");
        for question in QUESTIONS {
            let measured =
                |part: &Part| stages.iter().any(|one| one.workload.name == part.workload);
            assert!(question.parts.iter().all(measured), "{}", question.name);
        }
    }
}
