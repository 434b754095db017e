//! The rules in the form of their file.
//!
//! A rule states in which situations (`when`), for which locks (`lock`) and after which
//! measurements (`measured`) it holds. A condition that is not set does not matter.

use std::collections::BTreeMap;

use ondeck_lab::sample::{
    CPU_PER_OP, INVOLUNTARY, LONGEST_GAP, PAIR, SHARE, STARVED_WINDOWS, THROUGHPUT, VOLUNTARY,
};
use serde::{Deserialize, Serialize};

use super::conditions::{Measured, When, Which};

/// The rules that come with the program.
pub const BUILT_IN: &str = include_str!("rules.toml");

/// A file of rules.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// When two measurements count as different.
    pub different: Different,
    /// The sources of rules, by the keys that rules use.
    pub source: BTreeMap<String, Source>,
    /// The metrics that rank locks: the first whose condition holds.
    pub judge: Vec<Judge>,
    /// The rules.
    pub rule: Vec<Rule>,
}

/// When two measurements count as different.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Different {
    /// The probability of a difference by chance, over all pairs of locks together.
    pub alpha: f64,
    /// A smaller relative difference is not worth a choice.
    pub least: f64,
}

/// A text or a measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its author.
    pub author: String,
    /// Its title.
    pub title: String,
    /// The measurement or proof in it.
    pub measured: String,
}

/// The metric that ranks locks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judge {
    /// In which situations.
    #[serde(default)]
    pub when: When,
    /// The metric.
    pub metric: String,
}

/// The effect of a rule on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The lock is excluded.
    Exclude,
    /// This lock comes before locks that are not distinguished from it.
    Prefer,
    /// This lock comes after locks that are not distinguished from it, and the answer gives the
    /// reason.
    Warn,
    /// Nothing is known: about the lock, or, without a condition on locks, about the situation.
    Unknown,
}

/// One rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, which answers use.
    pub name: String,
    /// Its effect.
    pub effect: Effect,
    /// The key of its source.
    pub source: String,
    /// In which situations; always, if not set.
    #[serde(default)]
    pub when: When,
    /// For which locks. Without it the rule is about the situation.
    pub lock: Option<Which>,
    /// After which measurement.
    pub measured: Option<Measured>,
    /// Why, in a sentence without a full stop.
    pub reason: String,
}

/// The metrics that can be measured of a lock in a situation, and that rules may use.
pub const METRICS: &[&str] = &[
    PAIR.name,
    THROUGHPUT.name,
    CPU_PER_OP.name,
    VOLUNTARY.name,
    INVOLUNTARY.name,
    SHARE.name,
    LONGEST_GAP.name,
    STARVED_WINDOWS.name,
];

impl Rules {
    /// The rules that come with the program.
    ///
    /// # Panics
    ///
    /// If they are invalid, which a test would have found.
    pub fn built_in() -> Self {
        toml::from_str(BUILT_IN).unwrap_or_else(|error| panic!("rules.toml: {error}"))
    }
}

impl Rule {
    /// Whether it is about the situation and not about locks.
    pub fn of_situation(&self) -> bool {
        self.lock.is_none() && self.measured.is_none()
    }
}

#[cfg(test)]
mod tests {
    use ondeck_lab::select;
    use wildmatch::WildMatch;

    use super::*;

    #[test]
    fn the_built_in_rules_name_metrics_locks_and_sources_that_there_are() {
        let rules = Rules::built_in();
        assert!((0.0..1.0).contains(&rules.different.alpha) && rules.different.alpha > 0.0);
        assert!((0.0..1.0).contains(&rules.different.least) && !rules.judge.is_empty());
        let measured = rules.rule.iter().filter_map(|rule| rule.measured.as_ref());
        let judged = rules.judge.iter().map(|judge| &judge.metric);
        for metric in judged.chain(measured.map(|measured| &measured.metric)) {
            assert!(METRICS.contains(&&**metric), "no metric {metric}");
        }
        let locks = select::lock_names();
        for (place, rule) in rules.rule.iter().enumerate() {
            let name = &rule.name;
            let earlier = &rules.rule[..place];
            assert!(earlier.iter().all(|other| other.name != *name), "two rules {name}");
            assert!(rules.source.contains_key(&rule.source), "{name}: no source {}", rule.source);
            assert!(!rule.reason.trim().is_empty() && !rule.reason.contains('\n'), "{name}");
            let of_locks = matches!(rule.effect, Effect::Exclude | Effect::Prefer);
            assert!(!of_locks || !rule.of_situation(), "{name} is about no lock");
            let which = rule.lock.iter();
            for word in which.flat_map(|which| which.names.iter().chain(&which.not_names).flatten())
            {
                let pattern = WildMatch::new(word);
                assert!(locks.iter().any(|lock| pattern.matches(lock)), "{name}: no lock {word}");
            }
        }
    }
}
