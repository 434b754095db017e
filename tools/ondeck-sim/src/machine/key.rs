//! A key of a machine file, and the values that it allows.

use std::fmt;

use serde::Deserialize;

/// A value of a machine file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a number or a string is needed")]
pub enum Value {
    /// A whole number.
    Count(i64),
    /// A number with a point or an exponent.
    Number(f64),
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

/// One key of a machine file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its section: `transfer`, `class.*` for classes by name, `idle[]` for lists.
    pub section: &'static str,
    /// Its name in the section.
    pub name: &'static str,
    /// The values that it allows.
    pub range: Range,
    /// The unit of its value; empty for words.
    pub unit: &'static str,
    /// Its description, in one or a few sentences.
    pub about: &'static str,
}

/// The values that a key allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// A number from the first to the second, both included.
    Number(f64, f64),
    /// A whole number from the first to the second, both included.
    Count(u32, u32),
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of a class of the file.
    Class,
}

impl Range {
    /// Whether the value is of the right type and in the range.
    pub(super) fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Number(least, most), value) => {
                value.number().is_some_and(|number| (*least..=*most).contains(&number))
            }
            (Self::Count(least, most), Value::Count(count)) => {
                (i64::from(*least)..=i64::from(*most)).contains(count)
            }
            (Self::Word(words), Value::Word(word)) => words.contains(&word.as_str()),
            (Self::Class, Value::Word(_)) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(least, most) => write!(out, "{least} to {most}"),
            Self::Count(least, most) => write!(out, "{least} to {most}, whole"),
            Self::Word(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                out.write_str(&words.join(", "))
            }
            Self::Class => out.write_str("the name of a class of the file"),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.range)?;
        if !self.unit.is_empty() {
            write!(out, " ({})", self.unit)?;
        }
        Ok(())
    }
}
