//! The answer as a document: what `--json` writes and the terminal's text is made of.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rules::{Effect, Rule, Source};
use super::use_case::UseCase;

/// The version of the JSON of an answer.
pub const SCHEMA_VERSION: u32 = 2;

/// Everything that there is to say.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// What was asked.
    pub situation: UseCase,
    /// Which parts of it the user did not say.
    pub assumed: Vec<String>,
    /// What was measured; `None` if there are only rules.
    pub measured: Option<MeasuredBy>,
    /// Which lock.
    pub answer: Answer,
    /// All locks that are left, the best first.
    pub ranking: Vec<Choice>,
    /// Locks that are out of the question, by the rule that says so.
    pub excluded: Vec<Excluded>,
    /// What to know about the situation.
    pub warnings: Vec<Remark>,
    /// The sources that the answer cites, by their words.
    pub sources: BTreeMap<String, Source>,
}

/// Where figures are from.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredBy {
    /// `this run`, or the report's name.
    pub by: String,
    /// What locks are ranked by.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The level of each pair's interval and test, in per cent.
    pub confidence: f64,
    /// A smaller difference is not worth a choice.
    pub least: f64,
    /// What the report says of its own figures: a busy machine, noise.
    pub warnings: Vec<String>,
    /// Locks that could not be measured, with what happened.
    pub failures: Vec<(String, String)>,
}

/// Which lock, if that is known.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Whether one lock is named: the best, or of several that are not told apart the one in use.
    pub known: bool,
    /// The first lock; `None` if none is left.
    pub lock: Option<String>,
    /// The locks that neither measuring nor rules tell apart, the first among them.
    pub alike: Vec<String>,
    /// Why, or why not.
    pub why: String,
}

/// A lock in the ranking.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The lock.
    pub lock: String,
    /// Locks of one tier are not told apart by measuring.
    pub tier: usize,
    /// Bytes of the lock.
    pub bytes: usize,
    /// Bytes that each thread brings to it.
    pub context_bytes: usize,
    /// Medians of what was measured.
    pub figures: BTreeMap<String, f64>,
    /// How many rounds the ranking's metric has.
    pub rounds: usize,
    /// How it compares with the first lock; for the first, with the second.
    pub against: Option<Versus>,
    /// What rules say for it and against it.
    pub reasons: Vec<Remark>,
}

/// A lock against another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Versus {
    /// The other lock.
    pub than: String,
    /// Above 1 it is better, whichever direction of the metric that is.
    pub ratio: f64,
    /// What the ratio may be.
    pub interval: Option<(f64, f64)>,
    /// Of the Mann-Whitney test.
    pub p: f64,
    /// Whether that is more than chance, and worth a choice.
    pub differs: bool,
}

/// Locks that a rule excludes.
#[derive(Clone, Debug, Serialize)]
pub struct Excluded {
    /// The rule.
    #[serde(flatten)]
    pub rule: Remark,
    /// The locks.
    pub locks: Vec<String>,
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The rule's name.
    pub rule: String,
    /// What it does.
    pub effect: Effect,
    /// Why.
    pub reason: String,
    /// The word of its source.
    pub source: String,
}

impl From<&Rule> for Remark {
    fn from(rule: &Rule) -> Self {
        Self {
            rule: rule.name.clone(),
            effect: rule.effect,
            reason: rule.reason.clone(),
            source: rule.source.clone(),
        }
    }
}

impl Advice {
    /// As indented JSON with a newline at its end.
    ///
    /// # Panics
    ///
    /// Never: every type of it can be written as JSON.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("it has only JSON types");
        text.push('\n');
        text
    }
}
