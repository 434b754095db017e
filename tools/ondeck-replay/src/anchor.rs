//! The self-check of a replay: the recorded program is replayed as it was recorded, and its rate is
//! compared.

use ondeck_sim::engine::Costs;
use ondeck_sim::time::of_nanos;

use crate::bound::bound;
use crate::passage::Step;
use crate::recording::Recording;
use crate::run::{Outcome, Setup, run};
use crate::script::Script;

/// The lock with which programs are recorded: the recorder is in it.
pub const RECORDED_WITH: &str = "ondeck";
/// The ratio of rates beyond which a program cannot be predicted.
const BELIEVED: f64 = 1.3;

/// A part of the threads' time that explains a wrong rate.
const MUCH: f64 = 0.2;
/// Two times of a line's transfer are different states of a host from this ratio on.
const STATES: f64 = 1.5;

/// The rate that was recorded beside that of its replay, both in acquisitions a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// As it was recorded.
    pub recorded: f64,
    /// As it is simulated.
    pub replayed: f64,
    /// As a queueing network has it: see [`bound`].
    pub bound: f64,
    /// The part of the threads' time in which they yield.
    pub yielding: f64,
}

impl Anchor {
    /// Replays the unchanged recording, with [`RECORDED_WITH`] and as many threads as were
    /// recorded.
    pub fn new(recording: &Recording, setup: &Setup<'_>) -> (Self, Outcome) {
        let script = Script::new(recording, &[]);
        let outcome = run(&script, &Setup { threads: script.threads, ..setup.clone() });
        let recorded = script.acquisitions as f64 / recording.seconds.max(1e-9);
        let bound = bound(&script, script.threads, setup.costs.places.len());
        let yielding = part(&script, |step| matches!(step, Step::Yield(_)));
        (Self { recorded, replayed: outcome.rate, bound, yielding }, outcome)
    }

    /// What simulated rates are multiplied by.
    pub fn ratio(&self) -> f64 {
        if self.replayed > 0.0 { self.recorded / self.replayed } else { 1.0 }
    }

    /// Whether the replay is near enough to what it replays. Threads that yield wait for what is
    /// not recorded: with other threads or locks they would yield more or less often.
    pub fn is_believed(&self) -> bool {
        self.replayed > 0.0
            && (1.0 / BELIEVED..=BELIEVED).contains(&self.ratio())
            && self.yielding <= MUCH
    }
}

/// The part of the threads' time without locking that such steps take.
fn part(script: &Script, is_it: impl Fn(&Step) -> bool) -> f64 {
    let (mut all, mut its) = (0.0, 0.0);
    for passage in script.parts.iter().flat_map(|part| part.threads.iter().flatten()) {
        for step in &passage.steps {
            if let Step::Work(nanos) | Step::Sleep(nanos) | Step::Yield(nanos) = step {
                all += passage.draw * nanos;
                its += if is_it(step) { passage.draw * nanos } else { 0.0 };
            }
        }
    }
    if all > 0.0 { its / all } else { 0.0 }
}

/// The known reasons why the replay of a recording may differ from the program, on such a machine.
pub fn reasons(
    (anchor, outcome): (&Anchor, &Outcome),
    recording: &Recording,
    script: &Script,
    costs: &Costs,
) -> Vec<String> {
    let asleep = part(script, |step| matches!(step, Step::Sleep(_)));
    let (dropped, cpus) = (recording.dropped_threads, costs.places.len());
    let is_far = !(1.0 / BELIEVED..=BELIEVED).contains(&anchor.ratio());
    let [then, here] = [recording.transfer.unwrap_or(0.0), transfer(costs)];
    let ratio = if then > 0.0 && here > 0.0 { then / here } else { 1.0 };
    [
        (outcome.is_stuck, "the simulated threads wait for each other".to_owned()),
        (outcome.is_cut, "the simulated threads hardly progress".to_owned()),
        (
            script.threads > cpus,
            format!("{} threads were recorded, and the machine has {cpus} CPUs", script.threads),
        ),
        (dropped != 0, format!("{dropped} threads found no room in the recording")),
        (
            anchor.yielding > MUCH,
            format!(
                "threads call sched_yield for {:.0} % of their time, and what they wait for is not recorded",
                100.0 * anchor.yielding
            ),
        ),
        (
            is_far && !(1.0 / STATES..=STATES).contains(&ratio),
            format!(
                "a cache line moved in {then:.0} ns when the program was recorded, and moves in {here:.0} ns \
                 in the machine's file"
            ),
        ),
        (
            is_far && anchor.ratio() < 1.0,
            "work between sections that is long once in thousands of acquisitions may be in no burst"
                .to_owned(),
        ),
        (
            is_far && anchor.ratio() > 1.0,
            "threads may wait in what is recorded as work, as in loops that poll".to_owned(),
        ),
        (
            asleep > MUCH,
            format!(
                "threads sleep or wait for conditions for {:.0} % of their time, which is replayed as long as it was",
                100.0 * asleep
            ),
        ),
    ]
    .into_iter()
    .filter_map(|(is_so, words)| is_so.then_some(words))
    .collect()
}

/// Nanoseconds in which a line moves from one core to the next, on a machine with two or more.
pub fn transfer(costs: &Costs) -> f64 {
    let first = costs.places[0];
    let next = costs.places.iter().find(|place| place.core != first.core);
    next.or(costs.places.get(1))
        .map_or(0.0, |next| costs.distance(&first, next) as f64 / of_nanos(1.0) as f64)
}
