//! A test tool that runs primitives under schedules that ordinary runs hardly ever have.
//!
//! A [`Scenario`] consists of threads that use a primitive and know its promises: one owner at a time, no thread
//! waits for ever. [`check`] runs it on small machines under many [`Schedule`]s, each a function of its seed. Threads
//! lose their CPU at random, or right after a write, where they have just acquired or published something. They stand
//! still for long at a few places. Stores stay long in their buffer; a wake takes a slice; a poller shares its CPU
//! with others. An error becomes a [`Failure`]: the schedule, whose seed repeats the run exactly, the state of each
//! thread, and the last events.
//!
//! `tests/schedules/` has the scenarios of all primitives of this workspace, from the literature's locks to this
//! project's own.
//!
//! # What it detects, and what not
//!
//! A lost wake shows as a run that ends while threads sleep. No deadline of a wait passes, so a thread that would
//! recheck after a while cannot hide the lost wake. A thread that spins for ever shows as a run that takes too
//! long.
//!
//! The machine orders memory as x86 does: a store may become visible late to other CPUs, and nothing else is
//! reordered. So it can detect a missing full, light or heavy fence. It cannot detect an ordering that is too weak for
//! another architecture: `Relaxed` where `Acquire` is needed passes here. Loom finds those. Compilers' reorderings are
//! not detected either. A schedule that passes proves nothing: a model checker tries all schedules, of fewer threads.

mod failure;
mod judge;
mod schedule;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::{End, Job, Ran, Simulation};

pub use failure::Failure;
pub use judge::Judge;
pub use schedule::{Kind, Schedule};

/// The number of last events that are shown.
const RECENT: usize = 60;

/// Threads that use a primitive, and its promises.
pub struct Scenario {
    /// Its name, which selects it: the primitive, and how it is used.
    pub name: String,
    /// Makes the threads of a run. Each reports errors to the judge; when all threads have ended, the judge runs its
    /// [`Judge::at_the_end`].
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
    /// Makes a scenario with that name.
    pub fn new(name: String, threads: impl Fn(&Judge) -> Vec<Job> + 'static) -> Self {
        Self { name, threads: Box::new(threads), patience: 1 }
    }
}

/// The extent of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Runs.
    pub runs: u64,
    /// Steps of all threads.
    pub events: u64,
}

/// Runs a scenario once under the schedule of each seed in the range.
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

/// Runs a scenario under one schedule; an error comes with the last events.
///
/// # Errors
///
/// The [`Failure`].
pub fn replay(scenario: &Scenario, schedule: &Schedule) -> Result<(), Box<Failure>> {
    let failure = examine(scenario, schedule);
    if failure.what.is_empty() { Ok(()) } else { Err(Box::new(failure)) }
}

/// The end of a run, or a thread's panic message.
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

/// Repeats the run to record its last events.
fn examine(scenario: &Scenario, schedule: &Schedule) -> Failure {
    let (ran, judge) = run_once(scenario, schedule, RECENT);
    let what = verdict(&ran, &judge).unwrap_or_default();
    let (stuck, recent) = ran.map_or_else(|_| Default::default(), |ran| (ran.stuck, ran.recent));
    let (scenario, schedule) = (scenario.name.clone(), schedule.clone());
    Failure { scenario, schedule, what, stuck, recent }
}
