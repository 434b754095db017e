//! The self-check of a replay: the recorded program is replayed as it was recorded, and its rate is compared.

use crate::recording::Recording;
use crate::run::{Outcome, Setup, run};
use crate::script::{Script, Step};

/// The lock with which programs are recorded: the recorder is in it.
pub const RECORDED_WITH: &str = "ondeck";
/// The ratio of rates beyond which a program cannot be predicted.
const BELIEVED: f64 = 1.3;

/// The rate that was recorded beside that of its replay, both in acquisitions a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// As it was recorded.
    pub recorded: f64,
    /// As it is simulated.
    pub replayed: f64,
}

impl Anchor {
    /// Replays the unchanged recording, with [`RECORDED_WITH`] and as many threads as were recorded.
    pub fn new(recording: &Recording, setup: &Setup<'_>) -> (Self, Outcome) {
        let script = Script::new(recording, &[]);
        let outcome = run(&script, &Setup { threads: script.threads, ..setup.clone() });
        let recorded = script.acquisitions as f64 / recording.seconds.max(1e-9);
        (Self { recorded, replayed: outcome.rate }, outcome)
    }

    /// What simulated rates are multiplied by.
    pub fn ratio(&self) -> f64 {
        if self.replayed > 0.0 { self.recorded / self.replayed } else { 1.0 }
    }

    /// Whether the replay is near enough to what it replays.
    pub fn is_believed(&self) -> bool {
        self.replayed > 0.0 && (1.0 / BELIEVED..=BELIEVED).contains(&self.ratio())
    }
}

/// The known reasons why the replay of a recording may differ from the program, on a machine with that many CPUs.
pub fn reasons(
    (anchor, outcome): (&Anchor, &Outcome),
    recording: &Recording,
    script: &Script,
    cpus: usize,
) -> Vec<String> {
    /// A part of the time that explains a wrong rate.
    const MUCH: f64 = 0.2;
    let steps = || script.parts.iter().flat_map(|part| part.threads.iter().flatten());
    let (mut all, mut asleep) = (0.0, 0.0);
    for passage in steps() {
        let weight = passage.draw;
        for step in &passage.steps {
            match step {
                Step::Work(nanos) => all += weight * nanos,
                Step::Sleep(nanos) => {
                    all += weight * nanos;
                    asleep += weight * nanos;
                }
                _ => {}
            }
        }
    }
    let mut reasons = Vec::new();
    let mut add = |is_so: bool, words: String| {
        if is_so {
            reasons.push(words);
        }
    };
    let dropped = recording.dropped_threads;
    add(outcome.is_stuck, "the simulated threads wait for each other".to_owned());
    add(outcome.is_cut, "the simulated threads hardly progress".to_owned());
    add(
        script.threads > cpus,
        format!("{} threads were recorded, and the machine has {cpus} CPUs", script.threads),
    );
    add(dropped != 0, format!("{dropped} threads found no room in the recording"));
    add(
        !anchor.is_believed() && anchor.ratio() < 1.0,
        "sections that are long once in thousands of acquisitions may be in no burst".to_owned(),
    );
    add(
        !anchor.is_believed() && anchor.ratio() > 1.0,
        "threads may wait in what is recorded as work, as those that call sched_yield".to_owned(),
    );
    add(
        asleep > MUCH * all,
        format!(
            "threads sleep or wait for conditions for {:.0} % of their time, which is replayed as long as it was",
            100.0 * asleep / all
        ),
    );
    reasons
}
