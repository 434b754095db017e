//! The text of one machine file becomes its leaves; each is checked against its key.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::bundled;
use super::error::{MachineError, nearest};
use super::fitted::Fitted;
use super::key::Key;
use super::keys;
use super::leaves::{Leaf, Leaves, Value};

/// What one file says, without its bases.
pub(super) struct Document {
    /// The file, for messages.
    pub(super) file: Arc<str>,
    pub(super) name: Option<String>,
    pub(super) about: Option<String>,
    /// The base and its line.
    pub(super) base: Option<(String, usize)>,
    pub(super) leaves: Leaves,
}

impl Document {
    /// Reads one file; `file` is for messages.
    ///
    /// # Errors
    ///
    /// The first mistake of the file, in the order of the sections' names.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        let reader = Reader { file: file.into(), text };
        let table = DeTable::parse(text).map_err(|error| MachineError::NotToml {
            file: file.to_owned(),
            line: error.span().map_or(1, |span| reader.line(&span)),
            message: error.message().to_owned(),
        })?;
        let mut document = Self {
            file: Arc::clone(&reader.file),
            name: None,
            about: None,
            base: None,
            leaves: Leaves::default(),
        };
        for (section, value) in table.get_ref() {
            let word = section.get_ref().as_ref();
            let leaves = &mut document.leaves;
            match word {
                "name" => document.name = Some(reader.word(word, value)?.0),
                "about" => document.about = Some(reader.word(word, value)?.0),
                "base" => document.base = Some(reader.word(word, value)?),
                "cluster" | "idle" => reader.list(leaves, word, value)?,
                "class" => {
                    let classes = reader.table(word, value)?;
                    for (class, value) in classes {
                        let path = format!("class.{}", class.get_ref());
                        reader.section(leaves, "class.*", &path, value)?;
                    }
                }
                _ if keys::keys().any(|key| key.section == word) => {
                    reader.section(leaves, word, word, value)?;
                }
                _ => return Err(reader.unknown(word, section.span(), top_level())),
            }
        }
        Ok(document)
    }
}

/// What can stand at the top of a file.
fn top_level() -> Vec<&'static str> {
    let mut words = vec!["name", "about", "base", "cluster", "class", "idle"];
    words.extend(
        keys::keys().map(|key| key.section).filter(|section| !section.contains(['[', '.'])),
    );
    words.dedup();
    words
}

/// A file that is being read.
struct Reader<'a> {
    file: Arc<str>,
    text: &'a str,
}

type Item<'i> = Spanned<DeValue<'i>>;

impl Reader<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        self.text.as_bytes().iter().take(span.start).filter(|&&byte| byte == b'\n').count() + 1
    }

    fn unknown(&self, key: &str, span: Range<usize>, known: Vec<&str>) -> MachineError {
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
        let suggestion = nearest(name, known.into_iter())
            .map(|like| if section.is_empty() { like } else { format!("{section}.{like}") });
        MachineError::UnknownKey {
            file: self.file.to_string(),
            line: self.line(&span),
            key: key.to_owned(),
            suggestion,
        }
    }

    fn wrong_type(&self, key: &str, value: &Item, expected: &str) -> MachineError {
        MachineError::WrongType {
            file: self.file.to_string(),
            line: self.line(&value.span()),
            key: key.to_owned(),
            found: found(value.get_ref()),
            expected: expected.to_owned(),
        }
    }

    /// A plain string and its line.
    fn word(&self, key: &str, value: &Item) -> Result<(String, usize), MachineError> {
        match value.get_ref() {
            DeValue::String(word) if !word.trim().is_empty() => {
                Ok((word.to_string(), self.line(&value.span())))
            }
            _ => Err(self.wrong_type(key, value, "a string that is not empty")),
        }
    }

    fn table<'v, 'i>(
        &self,
        key: &str,
        value: &'v Item<'i>,
    ) -> Result<&'v DeTable<'i>, MachineError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong_type(key, value, "a table")),
        }
    }

    /// A list of sections: `[[idle]]`.
    fn list(&self, leaves: &mut Leaves, word: &str, value: &Item) -> Result<(), MachineError> {
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong_type(word, value, &format!("a list of tables, [[{word}]],")));
        };
        for (index, item) in items.iter().enumerate() {
            self.section(leaves, &format!("{word}[]"), &format!("{word}[{index}]"), item)?;
        }
        Ok(())
    }

    /// The section that keys call `kind` and that is at `path` in this file.
    fn section(
        &self,
        leaves: &mut Leaves,
        kind: &str,
        path: &str,
        value: &Item,
    ) -> Result<(), MachineError> {
        for (name, value) in self.table(path, value)? {
            let word = name.get_ref().as_ref();
            let path = format!("{path}.{word}");
            let Some(key) = keys::find(kind, word) else {
                let known = keys::keys().filter(|key| key.section == kind).map(|key| key.name);
                return Err(self.unknown(&path, name.span(), known.collect()));
            };
            let leaf = self.leaf(key, &path, value)?;
            leaves.0.insert(path, leaf);
        }
        Ok(())
    }

    /// `{ value = …, from = "…" }`, with a value in the key's range, and the mark `fitted` if it was fitted.
    fn leaf(&self, key: &Key, path: &str, item: &Item) -> Result<Leaf, MachineError> {
        let shape = "{ value = …, from = \"…\" }";
        let DeValue::Table(table) = item.get_ref() else {
            return Err(self.wrong_type(path, item, shape));
        };
        let mut value = None;
        let mut from = None;
        let mut fitted = None;
        for (name, part) in table {
            match name.get_ref().as_ref() {
                "value" => value = Some(part),
                "from" => from = Some(part),
                "fitted" => fitted = Some(self.fitted(&format!("{path}.fitted"), part)?),
                other => {
                    let path = format!("{path}.{other}");
                    return Err(self.unknown(&path, name.span(), vec!["value", "from", "fitted"]));
                }
            }
        }
        let Some(value) = value else {
            return Err(self.wrong_type(path, item, shape));
        };
        let number = self.value(key, path, value)?;
        let line = self.line(&value.span());
        let from = match from.map(Spanned::get_ref) {
            Some(DeValue::String(from)) if !from.trim().is_empty() => from.to_string(),
            _ => {
                let (file, key) = (self.file.to_string(), path.to_owned());
                return Err(MachineError::NoSource { file, line, key });
            }
        };
        Ok(Leaf { value: number, from, fitted, file: Arc::clone(&self.file), line })
    }

    /// `{ table = "…", locks = ["…"], threads = [2, 4] }`: which numbers a value was fitted to.
    fn fitted(&self, path: &str, item: &Item) -> Result<Fitted, MachineError> {
        let mut table = None;
        let mut machine = None;
        let (mut locks, mut threads) = (Vec::new(), Vec::new());
        for (name, part) in self.table(path, item)? {
            let word = name.get_ref().as_ref();
            let path = format!("{path}.{word}");
            match word {
                "table" => table = Some(self.word(&path, part)?.0),
                "machine" => {
                    let (name, _) = self.word(&path, part)?;
                    if bundled::text(&name).is_none() {
                        return Err(self.wrong_type(&path, part, "the name of a bundled machine"));
                    }
                    machine = Some(name);
                }
                "locks" => {
                    for lock in self.array(&path, part)? {
                        locks.push(self.word(&path, lock)?.0);
                    }
                }
                "threads" => {
                    for count in self.array(&path, part)? {
                        threads.push(self.count(&path, count)?);
                    }
                }
                _ => {
                    let known = vec!["table", "machine", "locks", "threads"];
                    return Err(self.unknown(&path, name.span(), known));
                }
            }
        }
        match table {
            Some(table) if !locks.is_empty() => Ok(Fitted { table, machine, locks, threads }),
            _ => Err(self.wrong_type(path, item, "{ table = \"…\", locks = [\"…\"] }")),
        }
    }

    fn array<'v, 'i>(
        &self,
        path: &str,
        item: &'v Item<'i>,
    ) -> Result<&'v [Item<'i>], MachineError> {
        match item.get_ref() {
            DeValue::Array(items) => Ok(items),
            _ => Err(self.wrong_type(path, item, "a list")),
        }
    }

    fn count(&self, path: &str, item: &Item) -> Result<u32, MachineError> {
        let count = match item.get_ref() {
            DeValue::Integer(count) => u32::from_str_radix(count.as_str(), count.radix()).ok(),
            _ => None,
        };
        count
            .filter(|&count| count > 0)
            .ok_or_else(|| self.wrong_type(path, item, "a whole number from 1 on"))
    }

    fn value(&self, key: &Key, path: &str, item: &Item) -> Result<Value, MachineError> {
        let value = match item.get_ref() {
            DeValue::String(word) => Some(Value::Word(word.to_string())),
            DeValue::Integer(count) => {
                i64::from_str_radix(count.as_str(), count.radix()).ok().map(Value::Count)
            }
            DeValue::Float(number) => number.as_str().parse().ok().map(Value::Number),
            _ => None,
        };
        let Some(value) = value else {
            return Err(self.wrong_type(path, item, &key.to_string()));
        };
        if let Err(expected) = key.range.type_of(&value) {
            return Err(self.wrong_type(path, item, &format!("{expected}, {key},")));
        }
        if !key.range.contains(&value) {
            return Err(MachineError::OutOfRange {
                file: self.file.to_string(),
                line: self.line(&item.span()),
                key: path.to_owned(),
                value: value.to_string(),
                range: key.to_string(),
            });
        }
        Ok(value)
    }
}

/// A value as a message shows it.
fn found(value: &DeValue) -> String {
    match value {
        DeValue::String(word) => format!("the string {word:?}"),
        DeValue::Integer(count) => format!("the whole number {count}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(truth) => format!("{truth}"),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
