//! The numbers and words of a machine file, each with where it is from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::fitted::Fitted;

/// A value of a machine file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number with a point or an exponent.
    Number(f64),
    /// A whole number.
    Count(i64),
    /// A word.
    Word(String),
}

impl Value {
    /// The value as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Count(count) => Some(*count as f64),
            Self::Word(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number:?}"),
            Self::Count(count) => write!(out, "{count}"),
            Self::Word(word) => write!(out, "{word:?}"),
        }
    }
}

/// One value, and where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The value.
    pub value: Value,
    /// Where the value is from: a publication, a manual, a measurement, an estimate with its reason.
    pub from: String,
    /// The published numbers to which the value was fitted, if it was.
    pub fitted: Option<Fitted>,
    /// The file that has it: the machine's own, or one of its bases.
    pub file: Arc<str>,
    /// The line of that file, from 1.
    pub line: usize,
}

/// All leaves by key: `transfer.memory`, `class.core.pause`, `idle[0].exit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Leaves(pub(super) BTreeMap<String, Leaf>);

impl Leaves {
    /// The value of `name` in the section at `path`.
    ///
    /// # Panics
    ///
    /// If there is none: [`file`](super::file) has refused such a file.
    pub(super) fn get(&self, path: &str, name: &str) -> &Value {
        match self.0.get(&format!("{path}.{name}")) {
            Some(leaf) => &leaf.value,
            None => unreachable!("{path}.{name} was found to be there"),
        }
    }

    /// Whether there is any leaf in the section at `path`.
    pub(super) fn has_section(&self, path: &str) -> bool {
        self.0.keys().any(|key| in_section(key, path))
    }

    /// Removes the section at `path`.
    pub(super) fn remove_section(&mut self, path: &str) {
        self.0.retain(|key, _| !in_section(key, path));
    }
}

/// `idle` has `idle[0].exit`, `class` has `class.core.pause`; `class.p` has not `class.performance.pause`.
fn in_section(key: &str, path: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// What a field of a section is made of. The value is in its key's range.
pub(super) trait FromValue {
    /// The field of that value.
    fn from_value(value: &Value) -> Self;
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Self {
        value.number().unwrap_or_else(|| unreachable!("{value} has passed for a number"))
    }
}

impl FromValue for u32 {
    fn from_value(value: &Value) -> Self {
        match value {
            Value::Count(count) => u32::try_from(*count).ok(),
            _ => None,
        }
        .unwrap_or_else(|| unreachable!("{value} has passed its range"))
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Self {
        match value {
            Value::Word(word) => word.clone(),
            _ => unreachable!("{value} has passed for a word"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_section;

    #[test]
    fn a_section_is_told_from_one_that_begins_like_it() {
        assert!(in_section("class.p.pause", "class.p"));
        assert!(in_section("idle[0].exit", "idle"));
        assert!(!in_section("class.performance.pause", "class.p"));
        assert!(!in_section("idle[10].exit", "idle[1]"));
    }
}
