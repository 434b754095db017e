//! The test tool: primitives under schedules that ordinary runs hardly ever have.
//!
//! A [`Scenario`] is some threads that use a primitive and know what has to hold: one owner at a time, no thread
//! waits for ever. [`check`] runs it on small machines under many [`Schedule`]s, each a function of its seed: threads
//! lose their CPU at random, or right behind a write, where they have just acquired or published something; they
//! stand still for long at a few places; stores stay long in their buffer; a wake takes a slice; a poller
//! shares its CPU with others. What goes wrong is a [`Failure`]: the schedule's seed, by which the run repeats
//! exactly, what each thread was doing, and the last events.
//!
//! `tests/schedules/` has those of the primitives of this workspace, from the literature's locks to this project's own.
//!
//! # What it sees, and what not
//!
//! A lost wake shows as a run that ends while threads sleep: no deadline of a wait passes, so that a thread which
//! would look again by itself after a while does not hide it. A thread that spins for ever shows as a run
//! that takes too long.
//!
//! The machine orders memory as x86 does: a store may be late for other CPUs, and nothing else is reordered. So a
//! missing full fence, and a missing light or heavy one, can be seen; an ordering that is too weak for another
//! architecture cannot: `Relaxed` where `Acquire` is needed passes here. Loom finds those. Compilers' reorderings are
//! not seen either. A schedule that does not fail proves nothing: a model checker tries all of them, for less threads.

mod failure;
mod judge;
mod schedule;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::{End, Job, Ran, Simulation};

pub use failure::Failure;
pub use judge::Judge;
pub use schedule::{Kind, Schedule};

/// So many of the last events are shown.
const RECENT: usize = 60;

/// Threads that use a primitive, and what has to hold.
pub struct Scenario {
    /// Its name, by which it is chosen: the primitive's and what is done with it.
    pub name: String,
    /// The threads of a run. Each tells the judge what is wrong; the last thing that is done, when all have ended, is
    /// the judge's [`Judge::at_the_end`].
    #[expect(clippy::type_complexity, reason = "a function that makes threads")]
    pub threads: Box<dyn Fn(&Judge) -> Vec<Job>>,
    /// How many times longer than [`Schedule::limit`] a run may last.
    pub patience: u64,
}

impl std::fmt::Debug for Scenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

impl Scenario {
    /// One of that name.
    pub fn new(name: String, threads: impl Fn(&Judge) -> Vec<Job> + 'static) -> Self {
        Self { name, threads: Box::new(threads), patience: 1 }
    }
}

/// What a check has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Runs.
    pub runs: u64,
    /// Steps of all threads.
    pub events: u64,
}

/// Runs a scenario once under each schedule of so many seeds, beginning with that one.
///
/// # Errors
///
/// The first [`Failure`].
pub fn check(scenario: &Scenario, seeds: std::ops::Range<u64>) -> Result<Checked, Box<Failure>> {
    let mut checked = Checked::default();
    for seed in seeds {
        let schedule = Schedule::of(seed);
        let (ran, judge) = run_once(scenario, &schedule, 0);
        checked.runs += 1;
        checked.events += ran.as_ref().map_or(0, |ran| ran.events);
        if verdict(&ran, &judge).is_some() {
            return Err(Box::new(examine(scenario, &schedule)));
        }
    }
    Ok(checked)
}

/// Runs a scenario under one schedule, and says what was wrong, with the last events.
///
/// # Errors
///
/// What was wrong.
pub fn replay(scenario: &Scenario, schedule: &Schedule) -> Result<(), Box<Failure>> {
    let failure = examine(scenario, schedule);
    if failure.what.is_empty() { Ok(()) } else { Err(Box::new(failure)) }
}

/// How a run ended, or what a thread panicked with.
type Outcome = Result<Ran, String>;

fn run_once(scenario: &Scenario, schedule: &Schedule, recent: usize) -> (Outcome, Judge) {
    let judge = Judge::default();
    let jobs = (scenario.threads)(&judge);
    let simulation = Simulation {
        unrest: schedule.unrest.clone(),
        limit: schedule.limit * scenario.patience,
        recent,
        ..Simulation::new(&schedule.costs, schedule.seed)
    };
    let ran = catch_unwind(AssertUnwindSafe(|| simulation.run(jobs, Vec::new(), &|| false)));
    let ran = ran.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        format!("a thread panicked: {}", text.unwrap_or_default())
    });
    (ran, judge)
}

fn verdict(ran: &Outcome, judge: &Judge) -> Option<String> {
    match ran {
        Err(panic) => Some(panic.clone()),
        Ok(ran) => judge.verdict().or_else(|| match ran.end {
            End::Done => judge.final_verdict(),
            End::Deadlock => {
                Some("all threads that are left sleep, and none wakes them".to_owned())
            }
            End::TooLong => Some("it takes too long".to_owned()),
            End::Cancelled => None,
        }),
    }
}

/// The run again, with its last events.
fn examine(scenario: &Scenario, schedule: &Schedule) -> Failure {
    let (ran, judge) = run_once(scenario, schedule, RECENT);
    let what = verdict(&ran, &judge).unwrap_or_default();
    let (stuck, recent) = ran.map_or_else(|_| Default::default(), |ran| (ran.stuck, ran.recent));
    let (scenario, schedule) = (scenario.name.clone(), schedule.clone());
    Failure { scenario, schedule, what, stuck, recent }
}
