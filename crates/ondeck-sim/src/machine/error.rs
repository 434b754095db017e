//! What is wrong with a machine file, and what to do about it.

use std::io;

use super::topology::MAX_THREADS;

/// What is wrong with a machine file. Its text is one line: the file, the line, the key, the value, what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// There is no bundled machine of that name, and no such file.
    #[error(
        "there is no machine \"{name}\"{} (give one of {known}, or the path of a machine file)",
        like(suggestion.as_deref())
    )]
    UnknownMachine {
        /// What was asked for.
        name: String,
        /// The name most like it.
        suggestion: Option<String>,
        /// All names.
        known: String,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{file}:{line}: is not TOML: {message}")]
    NotToml {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A key that no machine file has.
    #[error("{file}:{line}: {key} is unknown{} (docs/machines.md lists all keys)", like(suggestion.as_deref()))]
    UnknownKey {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// The key most like it.
        suggestion: Option<String>,
    },
    /// A key that the machine does not have, or has no use for.
    #[error(
        "{machine} has no {key}{} (docs/machines.md lists all keys)",
        like(suggestion.as_deref())
    )]
    NoSuchKey {
        /// The machine.
        machine: String,
        /// What was asked for.
        key: String,
        /// The key most like it.
        suggestion: Option<String>,
    },
    /// A value that a key of a machine cannot be changed to.
    #[error("{key} cannot be {value}: use {range}")]
    NotAllowed {
        /// The key.
        key: String,
        /// What was asked for.
        value: String,
        /// What is allowed.
        range: String,
    },
    /// The base is no bundled file.
    #[error(
        "{file}:{line}: base \"{base}\" is unknown{} (a base is one of {known})",
        like(suggestion.as_deref())
    )]
    UnknownBase {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The base.
        base: String,
        /// The name most like it.
        suggestion: Option<String>,
        /// All names.
        known: String,
    },
    /// A value of the wrong type, or something else where a leaf is to be.
    #[error("{file}:{line}: {key} is {found}: {expected} is needed")]
    WrongType {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// What stands there.
        found: String,
        /// What is to stand there.
        expected: String,
    },
    /// A leaf without a source.
    #[error(
        "{file}:{line}: {key} does not say where its value is from: add from = \"…\", a source, \
         \"measured by …\" or \"estimate: …\""
    )]
    NoSource {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
    },
    /// A value outside of its range.
    #[error("{file}:{line}: {key} = {value} is out of range: {range}")]
    OutOfRange {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What is allowed.
        range: String,
    },
    /// A key that is needed and that neither the file nor its bases have.
    #[error("{file}: {key} is missing: {needed}{}", bases(based.as_deref()))]
    Missing {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What is needed.
        needed: String,
        /// The bases that do not have it either; none if a base is not asked for the key.
        based: Option<Vec<String>>,
    },
    /// Both ways to write a topology in one file.
    #[error(
        "{file}: has both [topology] and [[cluster]]: [[cluster]] alone says which cores there are"
    )]
    TwoTopologies {
        /// The file.
        file: String,
    },
    /// More hardware threads than the simulator has room for.
    #[error("{file}: has {threads} hardware threads, and at most {MAX_THREADS} can be simulated")]
    TooManyThreads {
        /// The file.
        file: String,
        /// Hardware threads of all clusters.
        threads: u64,
    },
    /// A machine of equal clusters is of one class.
    #[error(
        "{file}: [topology] is for a machine with one [class.NAME], and there are {count} ({classes}): \
         write a [[cluster]] for each group of cores instead"
    )]
    SeveralClasses {
        /// The file.
        file: String,
        /// How many there are.
        count: usize,
        /// Their names.
        classes: String,
    },
}

/// `, did you mean …?`, if there is a suggestion.
fn like(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!(", did you mean {name}?")).unwrap_or_default()
}

fn bases(based: Option<&[String]>) -> String {
    match based {
        None => String::new(),
        Some([]) => ", or a base that has it".to_owned(),
        Some([base]) => format!("; its base {base} has none"),
        Some(several) => format!("; its bases {} have none", several.join(", ")),
    }
}

/// The name most like `word`, if any is like it at all.
pub(super) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Below this two words have nothing to do with each other.
    const ALIKE: f64 = 0.75;
    names
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|&(likeness, _)| likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name.to_owned())
}
