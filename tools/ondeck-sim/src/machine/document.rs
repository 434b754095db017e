//! Parses a machine file and its bases into leaves, each in the range of its key.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::bundled;
use super::key::{Key, Value};
use super::leaf::{Leaf, Leaves, MachineError, like, wrong};
use super::sections::keys;

/// A leaf as a file writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "{ value = …, from = \"…\" }")]
struct Written {
    value: Spanned<Value>,
    from: Option<String>,
}

/// The keys of a section.
type Section = BTreeMap<Spanned<String>, Written>;

/// A file without its bases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: Option<String>,
    about: Option<String>,
    base: Option<Spanned<String>>,
    #[serde(default)]
    class: BTreeMap<String, Section>,
    #[serde(default)]
    cluster: Vec<Section>,
    #[serde(default)]
    idle: Vec<Section>,
    #[serde(default)]
    topology: Section,
    #[serde(default)]
    transfer: Section,
    #[serde(default)]
    store_buffer: Section,
    #[serde(default)]
    futex: Section,
    #[serde(default)]
    membarrier: Section,
    #[serde(default)]
    scheduler: Section,
    #[serde(default)]
    clock: Section,
}

impl Document {
    /// All sections: the name in [`Key::section`], the path in the file, and the keys.
    fn sections(self) -> Vec<(&'static str, String, Section)> {
        let mut all = Vec::new();
        for (name, section) in self.class {
            all.push(("class.*", format!("class.{name}"), section));
        }
        for (kind, name, list) in
            [("cluster[]", "cluster", self.cluster), ("idle[]", "idle", self.idle)]
        {
            for (index, section) in list.into_iter().enumerate() {
                all.push((kind, format!("{name}[{index}]"), section));
            }
        }
        for (name, section) in [
            ("topology", self.topology),
            ("transfer", self.transfer),
            ("store_buffer", self.store_buffer),
            ("futex", self.futex),
            ("membarrier", self.membarrier),
            ("scheduler", self.scheduler),
            ("clock", self.clock),
        ] {
            all.push((name, name.to_owned(), section));
        }
        all
    }
}

/// The file's lines, for messages.
struct Lines<'a> {
    file: &'a str,
    text: &'a str,
}

impl Lines<'_> {
    fn number(&self, span: &Range<usize>) -> usize {
        self.text.as_bytes().iter().take(span.start).filter(|&&byte| byte == b'\n').count() + 1
    }

    /// The leaf of that key, if it is valid.
    fn leaf(&self, key: &Key, path: &str, written: Written) -> Result<Leaf, MachineError> {
        let (file, line) = (self.file, self.number(&written.value.span()));
        let value = written.value.into_inner();
        if !key.range.contains(&value) {
            return wrong!("{file}:{line}: {path} = {value} is out of range: {key}");
        }
        let Some(from) = written.from.filter(|from| !from.trim().is_empty()) else {
            return wrong!(
                "{file}:{line}: {path} does not say where its value is from: add from = \"…\", a source, \
                 \"measured by …\" or \"estimate: …\""
            );
        };
        Ok(Leaf { value, from, file: file.to_owned(), line })
    }

    /// The leaves of all sections.
    fn leaves(&self, document: Document) -> Result<Leaves, MachineError> {
        let mut leaves = Leaves::new();
        for (kind, path, section) in document.sections() {
            let known = || keys().filter(|key| key.section == kind);
            for (name, written) in section {
                let full = format!("{path}.{}", name.get_ref());
                let Some(key) = known().find(|key| key.name == name.get_ref()) else {
                    let (file, line) = (self.file, self.number(&name.span()));
                    let section = format!("{path}.");
                    let meant = like(&section, name.get_ref(), known().map(|key| key.name));
                    return wrong!(
                        "{file}:{line}: {full} is unknown{meant} (docs/data/machines.md lists all keys)"
                    );
                };
                let leaf = self.leaf(key, &full, written)?;
                leaves.insert(full, leaf);
            }
        }
        Ok(leaves)
    }
}

/// A file and its bases.
#[derive(Default)]
pub(super) struct Joined {
    pub(super) name: Option<String>,
    pub(super) about: Option<String>,
    /// Its bases, nearest first.
    pub(super) bases: Vec<String>,
    pub(super) leaves: Leaves,
}

impl Joined {
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        let lines = Lines { file, text };
        let mut document: Document = toml::from_str(text).or_else(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| lines.number(&span));
            let words = text.lines().nth(line - 1).unwrap_or_default().trim();
            wrong!("{file}:{line}: `{words:.80}`: {}", error.message().replace('\n', " "))
        })?;
        let (name, about) = (document.name.take(), document.about.take());
        let base = document.base.take();
        let own = lines.leaves(document)?;
        let (topology, cluster) = (has_section(&own, "topology"), has_section(&own, "cluster"));
        if topology && cluster {
            return wrong!(
                "{file}: has both [topology] and [[cluster]]: [[cluster]] alone says which cores there are"
            );
        }
        let mut joined = match base {
            None => Self::default(),
            Some(base) => Self::of_base(base.get_ref()).map_err(|error| match error {
                None => {
                    let (line, base) = (lines.number(&base.span()), base.get_ref());
                    let meant = like("", base, bundled::base_names());
                    let known = bundled::base_names().collect::<Vec<_>>().join(", ");
                    MachineError(format!(
                        "{file}:{line}: base \"{base}\" is unknown{meant} (a base is one of {known})"
                    ))
                }
                Some(error) => error,
            })?,
        };
        // Lists and topologies are inherited as a whole, or not at all.
        let replaced: &[&str] = match (topology || cluster, has_section(&own, "idle")) {
            (true, true) => &["topology", "cluster", "idle"],
            (true, false) => &["topology", "cluster"],
            (false, true) => &["idle"],
            (false, false) => &[],
        };
        joined.leaves.retain(|key, _| !replaced.iter().any(|path| in_section(key, path)));
        joined.leaves.extend(own);
        Ok(Self { name, about, ..joined })
    }

    /// The bundled file of that name with its own bases; the error is `None` if the file does not
    /// exist.
    pub(super) fn of_base(name: &str) -> Result<Self, Option<MachineError>> {
        let text = bundled::base_text(name).ok_or(None)?;
        let mut joined = Self::parse(&bundled_file(name), text).map_err(Some)?;
        joined.bases.insert(0, name.to_owned());
        Ok(joined)
    }
}

/// Whether the section at `path` has any leaf.
pub(super) fn has_section(leaves: &Leaves, path: &str) -> bool {
    leaves.keys().any(|key| in_section(key, path))
}

/// Whether the key is in the section: `idle` contains `idle[0].exit`, and `class.p` does not
/// contain `class.performance.pause`.
fn in_section(key: &str, path: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// The name of a bundled file in messages.
pub(super) fn bundled_file(name: &str) -> String {
    format!("bundled {name}.toml")
}
