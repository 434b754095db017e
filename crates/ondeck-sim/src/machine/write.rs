//! The text of a machine file, of a machine that was measured.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::error::MachineError;
use super::file::MachineFile;
use super::key::Key;
use super::keys::keys;
use super::leaves::Value;
use super::spec::Cluster;

/// What was found out about a machine.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The machine's name.
    pub name: String,
    /// What machine it is, in a sentence.
    pub about: String,
    /// The base, for keys without a figure.
    pub base: String,
    /// Where the clusters are from.
    pub from: String,
    /// The clusters.
    pub clusters: Vec<Cluster>,
    /// The figures, in any order.
    pub figures: Vec<Figure>,
}

/// One figure, or why there is none.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The key: `transfer.memory`, `class.core.pause`, `idle[0].exit`.
    pub key: String,
    /// The value, or why it could not be measured.
    pub value: Result<Value, String>,
    /// Where the value is from.
    pub from: String,
}

/// The text of the machine file.
///
/// Keys that the base is needed for are in comments, with the reason. A figure that is out of its range is not
/// written if the base has the key: a machine that was busy is measured wrong.
///
/// # Errors
///
/// [`MachineError`] if the figures and the base are no machine: a figure that the base does not have is out of its
/// range, or missing.
pub fn write(measured: &Measured) -> Result<String, MachineError> {
    let mut measured = measured.clone();
    let mut refused = BTreeMap::new();
    loop {
        let text = measured.text(&[]);
        let error = match MachineFile::parse(&format!("the measured {}", measured.name), &text) {
            Ok(file) => {
                let of_base = file.leaves().filter(|(_, leaf)| leaf.file.starts_with("bundled"));
                let of_base: Vec<_> = of_base.map(|(key, _)| key).collect();
                return Ok(measured.text(&of_base));
            }
            Err(error) => error,
        };
        match &error {
            MachineError::OutOfRange { key, value, range, .. } => {
                let wrong = |figure: &&mut Figure| figure.key == *key && figure.value.is_ok();
                let Some(figure) = measured.figures.iter_mut().find(wrong) else {
                    return Err(error);
                };
                figure.value = Err(format!("{value} is out of range, {range}"));
                refused.insert(key.clone(), error);
            }
            // What is missing without a figure that was refused is that figure.
            MachineError::Missing { key, .. } => return Err(refused.remove(key).unwrap_or(error)),
            _ => return Err(error),
        }
    }
}

impl Measured {
    /// The file; `of_base` are the keys that come from the base.
    fn text(&self, of_base: &[&str]) -> String {
        let mut out = Text(String::new());
        out.plain("name", &self.name);
        out.plain("about", &self.about);
        out.plain("base", &self.base);
        for cluster in &self.clusters {
            out.head("[[cluster]]");
            for (name, value) in [
                ("socket", Value::Count(cluster.socket.into())),
                ("class", Value::Word(cluster.class.clone())),
                ("cores", Value::Count(cluster.cores.into())),
                ("smt", Value::Count(cluster.smt.into())),
            ] {
                out.leaf(name, &value, &self.from);
            }
        }
        let mut sections: Vec<_> = keys().map(|key| key.section).collect();
        sections.dedup();
        for kind in sections.into_iter().filter(|kind| !["topology", "cluster[]"].contains(kind)) {
            let of_kind: Vec<_> = keys().filter(|key| key.section == kind).collect();
            for path in self.paths(kind) {
                self.section(&mut out, &path, &of_kind, of_base);
            }
        }
        out.0
    }

    /// Where the sections of that kind are in the file.
    fn paths(&self, kind: &str) -> Vec<String> {
        if !kind.contains(['*', '[']) {
            return vec![kind.to_owned()];
        }
        let start = kind.trim_end_matches("[]").trim_end_matches('*');
        let mut paths: Vec<String> = Vec::new();
        for figure in self.figures.iter().filter(|figure| figure.key.starts_with(start)) {
            if let Some((path, _)) = figure.key.rsplit_once('.')
                && !paths.iter().any(|known| known == path)
            {
                paths.push(path.to_owned());
            }
        }
        paths
    }

    /// One section: its figures, and in comments what comes from the base.
    fn section(&self, out: &mut Text, path: &str, keys: &[&Key], of_base: &[&str]) {
        let head = match path.split_once('[') {
            Some((list, _)) => format!("[[{list}]]"),
            None => format!("[{path}]"),
        };
        out.head(&head);
        for key in keys {
            let full = format!("{path}.{}", key.name);
            match self.figures.iter().find(|figure| figure.key == full) {
                Some(Figure { value: Ok(value), from, .. }) => out.leaf(key.name, value, from),
                Some(Figure { value: Err(reason), .. }) => {
                    let base = &self.base;
                    out.comment(key.name, &format!("as in {base}; not measured: {reason}"));
                }
                None if of_base.contains(&full.as_str()) => {
                    out.comment(
                        key.name,
                        &format!("as in {}; no program can measure it", self.base),
                    );
                }
                None => out.comment(key.name, "not needed: the machine has no such pairs"),
            }
        }
    }
}

/// TOML that is being written.
struct Text(String);

impl Text {
    // Writing to a string cannot fail.
    fn line(&mut self, line: std::fmt::Arguments) {
        _ = self.0.write_fmt(line);
        self.0.push('\n');
    }

    fn head(&mut self, head: &str) {
        self.line(format_args!("\n{head}"));
    }

    fn plain(&mut self, key: &str, word: &str) {
        self.line(format_args!("{key} = {}", quoted(word)));
    }

    fn leaf(&mut self, key: &str, value: &Value, from: &str) {
        let value = match value {
            Value::Word(word) => quoted(word),
            other => other.to_string(),
        };
        self.line(format_args!("{key} = {{ value = {value}, from = {} }}", quoted(from)));
    }

    fn comment(&mut self, key: &str, text: &str) {
        // A line break would end the comment.
        self.line(format_args!("# {key}: {}", text.replace(['\n', '\r'], " ")));
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if control.is_control() => {
                _ = write!(out, "\\u{:04X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
