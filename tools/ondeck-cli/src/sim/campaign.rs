//! Stages on a simulated machine, on as many OS threads as there are CPUs.
//!
//! Each lock of each stage begins with the machine's first seed. So its numbers depend neither on
//! earlier runs nor on the thread that takes it, and locks are compared with the same random
//! numbers.

use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use ondeck_lab::plan::{Request, Stage};
use ondeck_lab::results::Failure;
use ondeck_lab::run::{self, Observer, Results};
use ondeck_sim::lab::{self, Setup};

use crate::progress;
use crate::progress::Progress;

/// The nominal time of a turn for the progress; the real one is unknown in advance.
const TURN: Duration = Duration::from_secs(1);

/// The jobs of a stage: one lock each.
pub(super) fn jobs(stage: &Stage) -> Vec<Stage> {
    if stage.subjects.is_empty() {
        // A baseline that is never measured; its job carries the reason.
        return vec![stage.clone()];
    }
    let alone = |subject| Stage { subjects: vec![subject], ..stage.clone() };
    stage.subjects.iter().cloned().map(alone).collect()
}

/// The nominal time of all jobs for the progress.
pub(super) fn planned(jobs: &[Stage]) -> Duration {
    TURN * jobs.iter().map(|job| job.turns as u32).sum()
}

/// Messages of the threads while they simulate.
enum Told {
    Turn(String),
    Failed(Failure),
    Done(usize, Results),
}

/// Carries the jobs out; returns their results in order. A job that a cancelled run did not reach
/// has an empty result.
pub(super) fn carry_out(
    setup: &Setup,
    jobs: &[Stage],
    request: &Request,
    progress: &mut Progress,
) -> Vec<Results> {
    // The longest first, so that no thread is left alone with one at the end.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(jobs[index].threads));
    let next = AtomicUsize::new(0);
    let mut found: Vec<Results> = jobs.iter().map(|_| Results::default()).collect();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..workers {
            let (sender, order, next) = (sender.clone(), &order, &next);
            scope.spawn(move || {
                // Relaxed: each number is handed out once; the channel orders the results.
                while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let job = slice::from_ref(&jobs[index]);
                    let found = lab::with(setup, || run::run(request, job, &mut Teller(&sender)));
                    // The receiver lives until all threads are done.
                    _ = sender.send(Told::Done(index, found));
                }
            });
        }
        drop(sender);
        let mut begun = 0;
        for told in receiver {
            match told {
                Told::Turn(words) => {
                    progress.show(TURN * begun, words);
                    begun += 1;
                }
                Told::Failed(failure) => progress.note(&progress::of_failure(&failure)),
                Told::Done(index, its) => found[index] = its,
            }
        }
    });
    found
}

/// Reports to the thread that shows the progress.
struct Teller<'a>(&'a Sender<Told>);

impl Observer for Teller<'_> {
    fn turn(&mut self, stage: &Stage, lock: &str, _: Duration) {
        // As above: the receiver lives.
        _ = self.0.send(Told::Turn(progress::of_turn(stage, lock)));
    }

    fn failed(&mut self, failure: &Failure) {
        _ = self.0.send(Told::Failed(failure.clone()));
    }
}
