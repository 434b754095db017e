//! What one key of a machine file is, and what its value may be.

use std::fmt;

use super::leaves::Value;

/// One key of a machine file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its section: `transfer`, `class.*` for classes by name, `idle[]` for lists.
    pub section: &'static str,
    /// Its name in the section.
    pub name: &'static str,
    /// What its value may be.
    pub range: Range,
    /// The unit of its value; empty for words.
    pub unit: &'static str,
    /// What it is, in a sentence or a few.
    pub about: &'static str,
}

/// What a value may be.
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
    /// Whether the value is of the right type, or the type that would be right.
    pub(super) fn type_of(&self, value: &Value) -> Result<(), &'static str> {
        match (self, value) {
            (Self::Number(..), Value::Number(_) | Value::Count(_))
            | (Self::Count(..), Value::Count(_))
            | (Self::Word(_) | Self::Class, Value::Word(_)) => Ok(()),
            (Self::Number(..), _) => Err("a number"),
            (Self::Count(..), _) => Err("a whole number"),
            (Self::Word(_) | Self::Class, _) => Err("a string"),
        }
    }

    /// Whether the value, which is of the right type, is in the range.
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

impl Key {
    /// The value that a word of a command line stands for, or what it may be.
    pub(super) fn read(&self, word: &str) -> Result<Value, String> {
        let count = word.parse().ok().map(Value::Count);
        let number = || word.parse().ok().map(Value::Number);
        let text = || Some(Value::Word(word.to_owned()));
        let read = match self.range {
            Range::Number(..) => count.or_else(number),
            Range::Count(..) => count,
            Range::Word(_) | Range::Class => text(),
        };
        read.filter(|value| self.range.contains(value)).ok_or_else(|| self.to_string())
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(least, most) => write!(out, "{least} to {most}"),
            Self::Count(least, most) => write!(out, "{least} to {most}, whole"),
            Self::Word(words) => {
                for (index, word) in words.iter().enumerate() {
                    write!(out, "{}\"{word}\"", if index == 0 { "" } else { ", " })?;
                }
                Ok(())
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
