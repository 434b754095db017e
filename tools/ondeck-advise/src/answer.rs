//! The answer as a document: written by `--json`, and rendered as the terminal's text.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rules::{Effect, Rule, Source};
use super::use_case::UseCase;

/// The version of the JSON of an answer.
pub const SCHEMA_VERSION: u32 = 2;

/// The whole advice.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// The question.
    pub situation: UseCase,
    /// The parts of it that were assumed.
    pub assumed: Vec<String>,
    /// The measurement; `None` if there are only rules.
    pub measured: Option<MeasuredBy>,
    /// The recommended lock.
    pub answer: Answer,
    /// All remaining locks, the best first.
    pub ranking: Vec<Choice>,
    /// Locks that rules exclude, by rule.
    pub excluded: Vec<Excluded>,
    /// Remarks about the situation.
    pub warnings: Vec<Remark>,
    /// The sources that the answer cites, by their keys.
    pub sources: BTreeMap<String, Source>,
}

/// The origin of figures.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredBy {
    /// `this run`, or the report's name.
    pub by: String,
    /// The metric that ranks locks.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The level of each pair's interval and test, in per cent.
    pub confidence: f64,
    /// The least difference that is worth a choice.
    pub least: f64,
    /// The report's warnings about its figures: a busy machine, noise.
    pub warnings: Vec<String>,
    /// Locks that could not be measured, with the failure.
    pub failures: Vec<(String, String)>,
}

/// The recommended lock, if one is known.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Whether one lock is named: the best, or among several indistinguishable ones the one in use.
    pub known: bool,
    /// The first lock; `None` if none remains.
    pub lock: Option<String>,
    /// The locks that neither measurements nor rules distinguish, the first among them.
    pub alike: Vec<String>,
    /// Why, or why not.
    pub why: String,
}

/// A lock in the ranking.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The lock.
    pub lock: String,
    /// Measurements do not distinguish locks of one tier.
    pub tier: usize,
    /// Bytes of the lock.
    pub bytes: usize,
    /// Bytes that each thread brings to it.
    pub context_bytes: usize,
    /// Medians of the measurements.
    pub figures: BTreeMap<String, f64>,
    /// The number of rounds of the ranking's metric.
    pub rounds: usize,
    /// Its comparison with the first lock; for the first, with the second.
    pub against: Option<Versus>,
    /// The rules for it and against it.
    pub reasons: Vec<Remark>,
}

/// A lock compared with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Versus {
    /// The other lock.
    pub than: String,
    /// Above 1 the lock is better, whichever direction of the metric is better.
    pub ratio: f64,
    /// The confidence interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// The p-value of the Mann-Whitney test.
    pub p: f64,
    /// Whether the difference is more than chance, and worth a choice.
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

/// A rule's remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The rule's name.
    pub rule: String,
    /// Its effect.
    pub effect: Effect,
    /// Why.
    pub reason: String,
    /// The key of its source.
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
