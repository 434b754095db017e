//! The values of a machine file, each with where it is from, and what can be wrong with them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::key::Value;

/// What is wrong with a machine file, in one line: the file, the line, the key, the value, what is allowed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MachineError(pub(super) String);

/// Returns the error with that text.
macro_rules! wrong {
    ($($text:tt)*) => { Err($crate::machine::MachineError(format!($($text)*))) };
}
pub(super) use wrong;

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
    pub file: String,
    /// The line of that file, from 1.
    pub line: usize,
}

/// The published numbers to which a value was fitted, so that they are not taken for predictions.
///
/// A machine inherits the marks of its bases.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted {
    /// The table, as the validation calls it.
    pub table: String,
    /// The machine file of those numbers, where it is not each file that has the value.
    pub machine: Option<String>,
    /// The locks: beginnings of their names in the table.
    pub locks: Vec<String>,
    /// The numbers of threads; all if there is none.
    #[serde(default)]
    pub threads: Vec<u32>,
}

impl Fitted {
    /// Whether the value was fitted to that lock's number with `threads` threads, in that table, of that machine file.
    pub fn covers(&self, table: &str, machine: &str, lock: &str, threads: u32) -> bool {
        self.table == table
            && self.machine.as_deref().is_none_or(|it| it == machine)
            && self.locks.iter().any(|it| lock.starts_with(it.as_str()))
            && (self.threads.is_empty() || self.threads.contains(&threads))
    }
}

/// All leaves by key: `transfer.memory`, `class.core.pause`, `idle[0].exit`.
pub(super) type Leaves = BTreeMap<String, Leaf>;

/// The text `, did you mean …?`, if one of the names is like the word; `section` is before the name there.
pub(super) fn like<'a>(section: &str, word: &str, names: impl Iterator<Item = &'a str>) -> String {
    /// Below this two words have nothing to do with each other.
    const ALIKE: f64 = 0.75;
    names
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|&(likeness, _)| likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| format!(", did you mean {section}{name}?"))
        .unwrap_or_default()
}
