//! The rules as they stand in a file, read and checked.
//!
//! A rule says in which situations (`when`), of which locks (`lock`) and after which measurements
//! (`measured`) something is so. Whatever a condition does not name does not matter.

use std::collections::BTreeMap;
use std::ops::Range;

use ondeck_lab::sample::{
    CPU_PER_OP, INVOLUNTARY, LONGEST_GAP, PAIR, SHARE, STARVED_WINDOWS, THROUGHPUT, VOLUNTARY,
};
use ondeck_lab::select;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use wildmatch::WildMatch;

use super::conditions::{Measured, When, Which};

/// The rules that come with the program.
pub const BUILT_IN: &str = include_str!("rules.toml");

/// The version of the format.
pub const FORMAT: u32 = 1;

/// What is wrong with a file of rules, in one line that says where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} line {line} column {column}: {problem}")]
pub struct Wrong {
    /// The file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong, and what there could be instead.
    pub problem: String,
}

/// A file of rules.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    format: Spanned<u32>,
    /// When two measurements count as different.
    pub different: Different,
    /// Where rules are from, by the word that rules use.
    pub source: BTreeMap<String, Source>,
    /// What locks are ranked by: the first whose condition holds.
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
    /// Less than this part is not worth a choice.
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
    /// What was measured or proved there.
    pub measured: String,
}

/// What locks are ranked by.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judge {
    /// In which situations.
    #[serde(default)]
    pub when: When,
    /// The metric.
    pub metric: Spanned<String>,
}

/// What a rule does to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The lock is out of the question.
    Exclude,
    /// Of locks that are not told apart this one is first.
    Prefer,
    /// The lock is behind others that it is not told apart from, and the answer says why.
    Warn,
    /// Nothing can be said: of the lock, or without a condition on locks of the situation.
    Unknown,
}

/// One rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, which answers use.
    pub name: Spanned<String>,
    /// What it does.
    pub effect: Effect,
    /// The word of its source.
    pub source: Spanned<String>,
    /// In which situations; always, if not said.
    #[serde(default)]
    pub when: When,
    /// Of which locks. Without it the rule is about the situation.
    pub lock: Option<Which>,
    /// After which measurement.
    pub measured: Option<Measured>,
    /// Why, in a sentence without a full stop.
    pub reason: Spanned<String>,
}

/// What can be measured of a lock in a situation, and is known to rules.
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
    /// If they are wrong, which a test would have found.
    pub fn built_in() -> Self {
        Self::parse("rules.toml", BUILT_IN).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Reads rules; `name` is for the error.
    ///
    /// # Errors
    ///
    /// [`Wrong`] for the first mistake.
    pub fn parse(name: &str, text: &str) -> Result<Self, Wrong> {
        let wrong = |span: Range<usize>, problem: String| {
            let before = text.get(..span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            Wrong {
                name: name.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                problem,
            }
        };
        let rules: Self = toml::from_str(text).map_err(|error| {
            // The parser's message may have lines.
            let problem: Vec<&str> = error.message().split_whitespace().collect();
            wrong(error.span().unwrap_or(0..0), problem.join(" "))
        })?;
        rules.check().map_err(|(span, problem)| wrong(span, problem))?;
        Ok(rules)
    }

    /// Checks what the types cannot.
    fn check(&self) -> Result<(), (Range<usize>, String)> {
        if *self.format.get_ref() != FORMAT {
            let problem =
                format!("format is {}, and this program reads {FORMAT}", self.format.get_ref());
            return Err((self.format.span(), problem));
        }
        let metric = |word: &Spanned<String>| {
            if METRICS.contains(&word.get_ref().as_str()) {
                return Ok(());
            }
            let problem =
                format!("no metric `{}`; there are {}", word.get_ref(), METRICS.join(", "));
            Err((word.span(), problem))
        };
        let start = self.format.span();
        let part = |value: f64| (0.0..1.0).contains(&value);
        if !part(self.different.alpha) || !part(self.different.least) || self.different.alpha == 0.0
        {
            let problem = "[different] needs `alpha` above 0 and `least` from 0, both below 1";
            return Err((start, problem.to_owned()));
        }
        for judge in &self.judge {
            metric(&judge.metric)?;
        }
        if self.judge.is_empty() {
            return Err((start, "no [[judge]]; name at least one metric to rank by".to_owned()));
        }
        let locks = select::lock_names();
        let mut seen: Vec<&str> = Vec::new();
        for rule in &self.rule {
            let at = |spanned: &Spanned<String>, problem: String| Err((spanned.span(), problem));
            let name = rule.name();
            if name.trim().is_empty() || seen.contains(&name) {
                return at(&rule.name, format!("two rules are named `{name}`, or it is empty"));
            }
            seen.push(name);
            if !self.source.contains_key(rule.source()) {
                return at(&rule.source, format!("no [source.{}]", rule.source()));
            }
            let reason = rule.reason.get_ref();
            if reason.trim().is_empty() || reason.contains('\n') {
                return at(&rule.reason, format!("rule `{name}` needs a reason of one line"));
            }
            let which = rule.lock.iter();
            let names =
                which.flat_map(|which| which.names.iter().chain(&which.not_names).flatten());
            for word in names {
                let pattern = WildMatch::new(word.get_ref());
                if !locks.iter().any(|lock| pattern.matches(lock)) {
                    return at(word, format!("no lock `{}`; see `ondeck list`", word.get_ref()));
                }
            }
            match &rule.measured {
                Some(measured) => metric(&measured.metric)?,
                None if rule.lock.is_none()
                    && matches!(rule.effect, Effect::Exclude | Effect::Prefer) =>
                {
                    let problem = format!("rule `{name}` needs a [rule.lock]: it is about locks");
                    return at(&rule.name, problem);
                }
                None => {}
            }
        }
        Ok(())
    }
}

impl Rule {
    /// Its name.
    pub fn name(&self) -> &str {
        self.name.get_ref()
    }

    /// The word of its source.
    pub fn source(&self) -> &str {
        self.source.get_ref()
    }

    /// Why.
    pub fn reason(&self) -> &str {
        self.reason.get_ref()
    }

    /// Whether it is about the situation and not about a lock.
    pub fn of_situation(&self) -> bool {
        self.lock.is_none() && self.measured.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_are_right() {
        assert!(!Rules::built_in().rule.is_empty());
    }

    #[test]
    fn a_mistake_is_one_line_with_its_place() {
        let line = |text: &str| {
            let lines = BUILT_IN.lines();
            lines.clone().position(|line| line.contains(text)).expect("it is in the rules") + 1
        };
        for (right, mistake, says) in [
            ("format = 1", "format = 2", "format is 2"),
            ("format = 1", "format = ", "value"),
            ("metric = \"pair\"", "metric = \"pears\"", "no metric `pears`"),
            ("effect = \"exclude\"", "effect = \"forbid\"", "unknown variant `forbid`"),
            ("over_budget = true", "over_budgte = true", "unknown field `over_budgte`"),
            ("over_budget = true", "over_budget = 7", "expected a boolean"),
            ("not_names = [\"nsync\"]", "not_names = [\"nsnc\"]", "no lock `nsnc`"),
            ("name = \"specimen\"", "name = \"small\"", "two rules are named `small`"),
            ("source = \"inheritance\"", "source = \"hearsay\"", "no [source.hearsay]"),
        ] {
            assert!(BUILT_IN.contains(right), "{right}");
            let wrong =
                Rules::parse("my.toml", &BUILT_IN.replacen(right, mistake, 1)).expect_err(mistake);
            assert!(wrong.problem.contains(says), "{mistake}: {wrong}");
            assert_eq!(wrong.line, line(right), "{mistake}: {wrong}");
            assert!(wrong.to_string().starts_with("my.toml line "), "{wrong}");
            assert!(!wrong.to_string().contains('\n'), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_file_of_rules_is_told_and_never_panics() {
        for text in ["", "format = 1", "\u{0}", "[[rule]]", "é = \"", "{}"] {
            assert!(Rules::parse("x", text).is_err(), "{text:?}");
        }
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..300 {
            let mut bytes = BUILT_IN.as_bytes().to_vec();
            let place = rng.usize(..bytes.len());
            bytes[place] = rng.u8(..);
            bytes.truncate(rng.usize(..bytes.len() * 4));
            if let Err(wrong) = Rules::parse("x", &String::from_utf8_lossy(&bytes)) {
                assert!(!wrong.to_string().contains('\n'), "{wrong}");
            }
        }
    }
}
