//! A shape: the observations and actions of each thread in an outcome that must not happen.
//!
//! Each thread's path runs alone, in a memory in the state that the thread finds in that outcome: `before`, which is
//! common to all, and then the effects of others that the thread sees. The values that its loads return are the
//! outcome's. The checker then decides whether all threads together can have seen these values.
//!
//! Recorded accesses to locations that only one thread accesses, or that no thread writes, are left out: without them
//! the models allow more, so a forbidden outcome stays forbidden.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use ondeck_litmus::{Access, MODELS, Model, Test, Verdict, lower, weaken};

use crate::machine::{Setting, Step, record, renew, value_at};
use crate::memory::Memory;

/// The actions of a thread, or before it.
pub type Does = fn(&'static Memory);

/// One thread of a shape.
pub struct Actor {
    /// The effects of others that it sees, after the common `before`.
    sees: Does,
    /// Its path.
    does: Does,
    /// Whether the path ends with a sleep.
    sleeps: bool,
}

/// The view of a thread that sees no effects of others.
pub const NOTHING: Does = |_| ();

impl Actor {
    /// A path that runs to its end.
    pub const fn ends(sees: Does, does: Does) -> Self {
        Self { sees, does, sleeps: false }
    }

    /// A path that ends with a sleep.
    pub const fn sleeps(sees: Does, does: Does) -> Self {
        Self { sees, does, sleeps: true }
    }
}

/// An outcome that must not happen.
pub struct Shape {
    pub name: &'static str,
    pub asymmetric: bool,
    pub before: Does,
    pub actors: &'static [Actor],
}

/// Lines of the source, each with the models that need its ordering.
pub type Needed = Vec<(String, Vec<Model>)>;

/// The recorded paths of a shape.
pub struct Recorded {
    pub threads: Vec<Vec<Step>>,
    initial: Vec<(usize, u64)>,
}

impl Shape {
    /// Runs the paths.
    pub fn record(&self) -> Recorded {
        let of = |thread| Setting { asymmetric: self.asymmetric, thread };
        let begin = || {
            let memory = renew();
            record(of(0), self.before);
            memory
        };
        let mut threads = Vec::new();
        for (number, actor) in self.actors.iter().enumerate() {
            begin();
            record(of(0), actor.sees);
            let (steps, slept) = record(of(number), actor.does);
            assert_eq!(slept, actor.sleeps, "{}: thread {number} sleeps", self.name);
            threads.push(shorten(steps));
        }
        let memory = begin();
        let shared = shared(&threads);
        let is_kept = |step: &Step| step.access.location().is_none_or(|l| shared.contains_key(&l));
        for steps in &mut threads {
            steps.retain(is_kept);
        }
        let initial =
            shared.iter().map(|(&at, &width)| (at, value_at(memory, at, width))).collect();
        Recorded { threads, initial }
    }
}

/// Removes repeated reads: a loop that reads the same value repeatedly counts as reading it once.
fn shorten(steps: Vec<Step>) -> Vec<Step> {
    let mut short: Vec<Step> = Vec::new();
    for step in steps {
        let again = matches!(step.access, Access::Load { .. });
        if !again || short.last().is_none_or(|last| last.access != step.access) {
            short.push(step);
        }
    }
    short
}

/// Returns the locations that several threads access and one writes, with their widths.
fn shared(threads: &[Vec<Step>]) -> BTreeMap<usize, usize> {
    let mut users: BTreeMap<usize, (BTreeSet<usize>, bool, usize)> = BTreeMap::new();
    for (number, steps) in threads.iter().enumerate() {
        for step in steps {
            if let Some(location) = step.access.location() {
                let user = users.entry(location).or_default();
                user.0.insert(number);
                user.1 |= step.access.writes();
                user.2 = step.width;
            }
        }
    }
    let is_shared = |(_, (threads, written, _)): &(_, (BTreeSet<usize>, bool, _))| {
        threads.len() > 1 && *written
    };
    users.into_iter().filter(is_shared).map(|(location, (_, _, width))| (location, width)).collect()
}

impl Recorded {
    /// Returns the accesses of each thread.
    pub fn accesses(&self) -> Vec<Vec<Access>> {
        self.threads.iter().map(|steps| steps.iter().map(|step| step.access).collect()).collect()
    }

    /// Returns whether threads with these accesses may reach the outcome.
    pub fn verdict(&self, model: Model, threads: &[Vec<Access>]) -> Verdict {
        let threads = threads.iter().map(|accesses| lower(model, accesses)).collect();
        Test { threads, initial: self.initial.clone(), last: vec![] }.verdict(model)
    }

    /// Returns the accesses without whose ordering some model allows the outcome.
    pub fn needed(&self) -> Needed {
        let mut needed = Needed::new();
        for (thread, place, mutant) in weaken(&self.accesses()) {
            let allowed = |model: &Model| self.verdict(*model, &mutant).is_allowed();
            let models: Vec<Model> = MODELS.into_iter().filter(allowed).collect();
            let line = source_line(&self.threads[thread][place]);
            if models.is_empty() {
                continue;
            }
            // Threads may run the same line.
            match needed.iter_mut().find(|(other, _)| *other == line) {
                Some((_, all)) => all.extend(models),
                None => needed.push((line, models)),
            }
        }
        needed
    }

    /// Returns all steps, for the message of a failure.
    pub fn tell(&self) -> String {
        let mut text = format!("initially {:x?}\n", self.initial);
        for (number, steps) in self.threads.iter().enumerate() {
            for step in steps {
                let _ = writeln!(text, "{number}: {:x?}  {}", step.access, source_line(step));
            }
        }
        text
    }
}

/// Returns the file and the text of the line that made an access.
fn source_line(step: &Step) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = step.place.file();
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let line = text.lines().nth(step.place.line() as usize - 1).unwrap_or("?").trim();
    let short = file.split_once("crates/ondeck/src/").map_or(file, |(_, short)| short);
    format!("`{short}`: `{line}`")
}
