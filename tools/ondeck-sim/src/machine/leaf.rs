//! The values of a machine file, each with its source, and possible errors in them.

use std::collections::BTreeMap;

use super::key::Value;

/// An error in a machine file, in one line: the file, the line, the key, the value, the allowed
/// values.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MachineError(pub(super) String);

/// Returns the error with that text.
macro_rules! wrong {
    ($($text:tt)*) => { Err($crate::machine::MachineError(format!($($text)*))) };
}
pub(super) use wrong;

/// One value with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The value.
    pub value: Value,
    /// The source of the value: a publication, a manual, a measurement, or an estimate with its
    /// reason.
    pub from: String,
    /// The file that contains it: the machine's own, or one of its bases.
    pub file: String,
    /// The line of that file, from 1.
    pub line: usize,
}

/// All leaves by key: `transfer.memory`, `class.core.pause`, `idle[0].exit`.
pub(super) type Leaves = BTreeMap<String, Leaf>;

/// The text `, did you mean …?`, if a name is similar to the word; `section` precedes the name
/// there.
pub(super) fn like<'a>(section: &str, word: &str, names: impl Iterator<Item = &'a str>) -> String {
    /// Below this similarity two words are unrelated.
    const ALIKE: f64 = 0.75;
    names
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|&(likeness, _)| likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| format!(", did you mean {section}{name}?"))
        .unwrap_or_default()
}
