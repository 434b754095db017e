//! A machine file together with its bases: found, merged, checked as a whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::bundled;
use super::document::Document;
use super::error::{MachineError, nearest};
use super::keys;
use super::leaves::{Leaf, Leaves, Value};
use super::spec::{
    Class, Clock, Cluster, Futex, Idle, Membarrier, Scheduler, Spec, StoreBuffer, Transfer,
};
use super::topology::MAX_THREADS;

/// A machine file: the machine that it describes, and where each number is from.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFile {
    spec: Spec,
    leaves: Leaves,
}

impl MachineFile {
    /// The bundled machine of that name, or the file at that path.
    ///
    /// A name without a slash and without `.toml` is a bundled machine's.
    ///
    /// # Errors
    ///
    /// [`MachineError`]: there is none, it cannot be read, or it is wrong.
    pub fn find(name_or_path: &str) -> Result<Self, MachineError> {
        if let Some(text) = bundled::text(name_or_path) {
            return Self::parse(&bundled_file(name_or_path), text);
        }
        let path = Path::new(name_or_path);
        let named =
            path.components().count() == 1 && path.extension().is_none_or(|it| it != "toml");
        if named && !path.exists() {
            return Err(MachineError::UnknownMachine {
                name: name_or_path.to_owned(),
                suggestion: nearest(name_or_path, bundled::names()),
                known: bundled::names().collect::<Vec<_>>().join(", "),
            });
        }
        Self::read(path)
    }

    /// Reads the file at that path.
    ///
    /// # Errors
    ///
    /// [`MachineError`]: it cannot be read, or it is wrong.
    pub fn read(path: &Path) -> Result<Self, MachineError> {
        let file = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&file, &text),
            Err(source) => Err(MachineError::Unreadable { file, source }),
        }
    }

    /// Reads the text of a machine file; `file` is for messages.
    ///
    /// # Errors
    ///
    /// [`MachineError`] for the first mistake.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        let document = Document::parse(file, text)?;
        let top = |key: &str, word: &Option<String>| {
            word.clone().ok_or_else(|| MachineError::Missing {
                file: file.to_owned(),
                key: key.to_owned(),
                needed: "a string at the top of the file".to_owned(),
                based: None,
            })
        };
        let (name, about) = (top("name", &document.name)?, top("about", &document.about)?);
        Self::of(name, about, Merged::of(document)?)
    }

    /// The machine of these leaves, which are of a file and its bases.
    fn of(name: String, about: String, mut merged: Merged) -> Result<Self, MachineError> {
        let clusters = merged.clusters()?;
        merged.fill_unused(&clusters);
        merged.require_all()?;
        let Merged { leaves, .. } = merged;
        let idle = paths(&leaves, "idle");
        let spec = Spec {
            name,
            about,
            clusters,
            classes: class_names(&leaves)
                .into_iter()
                .map(|class| {
                    let read = Class::read(&leaves, &format!("class.{class}"));
                    (class, read)
                })
                .collect(),
            transfer: Transfer::read(&leaves, "transfer"),
            store_buffer: StoreBuffer::read(&leaves, "store_buffer"),
            futex: Futex::read(&leaves, "futex"),
            membarrier: Membarrier::read(&leaves, "membarrier"),
            scheduler: Scheduler::read(&leaves, "scheduler"),
            idle: idle.iter().map(|path| Idle::read(&leaves, path)).collect(),
            clock: Clock::read(&leaves, "clock"),
        };
        Ok(Self { spec, leaves })
    }

    /// The machine.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The machine, without the sources of its numbers.
    pub fn into_spec(self) -> Spec {
        self.spec
    }

    /// The same machine with another value for one of its keys: `word` is a number, or one of the key's words.
    ///
    /// # Errors
    ///
    /// [`MachineError`]: the machine has no such key, the value is out of the key's range, or the machine would then
    /// lack something that it has no use for now.
    pub fn changed(&self, key: &str, word: &str) -> Result<Self, MachineError> {
        let name = &self.spec.name;
        let Some((path, leaf)) = self.leaves().find(|(path, _)| *path == key) else {
            return Err(MachineError::NoSuchKey {
                machine: name.clone(),
                key: key.to_owned(),
                suggestion: nearest(key, self.leaves().map(|(path, _)| path)),
            });
        };
        let value = keys::of_path(path).read(word).map_err(|range| MachineError::NotAllowed {
            key: key.to_owned(),
            value: word.to_owned(),
            range,
        })?;
        let changed = Leaf { value, from: "asked for".to_owned(), fitted: None, ..leaf.clone() };
        let used = self.leaves.0.iter().filter(|(_, leaf)| leaf.line > 0);
        let mut leaves: BTreeMap<_, _> =
            used.map(|(path, leaf)| (path.clone(), leaf.clone())).collect();
        leaves.insert(path.to_owned(), changed);
        let merged = Merged { file: name.clone(), bases: Vec::new(), leaves: Leaves(leaves) };
        Self::of(name.clone(), self.spec.about.clone(), merged)
    }

    /// All values by key (`transfer.memory`, `class.core.pause`, `idle[0].exit`), each with where it is from.
    ///
    /// Values that no file needs to have, because the machine has no use for them, are not among them.
    pub fn leaves(&self) -> impl Iterator<Item = (&str, &Leaf)> {
        let used = self.leaves.0.iter().filter(|(_, leaf)| leaf.line > 0);
        used.map(|(key, leaf)| (key.as_str(), leaf))
    }
}

/// How messages name a bundled file.
fn bundled_file(name: &str) -> String {
    format!("bundled {name}.toml")
}

/// A file and its bases, joined.
struct Merged {
    file: String,
    /// Its bases, nearest first.
    bases: Vec<String>,
    leaves: Leaves,
}

impl Merged {
    fn of(document: Document) -> Result<Self, MachineError> {
        let mut merged =
            Self { file: document.file.to_string(), bases: Vec::new(), leaves: Leaves::default() };
        let mut next = Some(document);
        while let Some(document) = next {
            merged.add(document.leaves, &document.file)?;
            next = match document.base {
                None => None,
                Some((base, line)) => {
                    let Some(text) = bundled::base_text(&base) else {
                        return Err(MachineError::UnknownBase {
                            file: document.file.to_string(),
                            line,
                            suggestion: nearest(&base, bundled::base_names()),
                            known: bundled::base_names().collect::<Vec<_>>().join(", "),
                            base,
                        });
                    };
                    let parsed = Document::parse(&bundled_file(&base), text)?;
                    merged.bases.push(base);
                    Some(parsed)
                }
            };
        }
        Ok(merged)
    }

    /// Adds a base's leaves where there are none yet. Lists and topologies are taken as a whole, or not.
    fn add(&mut self, mut base: Leaves, file: &str) -> Result<(), MachineError> {
        if base.has_section("topology") && base.has_section("cluster") {
            return Err(MachineError::TwoTopologies { file: file.to_owned() });
        }
        if self.leaves.has_section("topology") || self.leaves.has_section("cluster") {
            base.remove_section("cluster");
            base.remove_section("topology");
        }
        if self.leaves.has_section("idle") {
            base.remove_section("idle");
        }
        for (key, leaf) in base.0 {
            self.leaves.0.entry(key).or_insert(leaf);
        }
        Ok(())
    }

    /// The clusters, of either way to write them.
    fn clusters(&self) -> Result<Vec<Cluster>, MachineError> {
        let classes = class_names(&self.leaves);
        if classes.is_empty() {
            return Err(self.missing("class", "a section [class.NAME] with the costs of its cores"));
        }
        let listed = paths(&self.leaves, "cluster");
        let clusters =
            if listed.is_empty() { self.equal(&classes)? } else { self.listed(&listed)? };
        let threads = clusters.iter().map(|it| u64::from(it.cores) * u64::from(it.smt)).sum();
        if threads > MAX_THREADS {
            return Err(MachineError::TooManyThreads { file: self.file.clone(), threads });
        }
        Ok(clusters)
    }

    /// `[topology]`: equal clusters.
    fn equal(&self, classes: &[String]) -> Result<Vec<Cluster>, MachineError> {
        if !self.leaves.has_section("topology") {
            return Err(self.missing("topology", "a section [topology], or a list [[cluster]]"));
        }
        self.require("topology", "topology")?;
        let [class] = classes else {
            return Err(MachineError::SeveralClasses {
                file: self.file.clone(),
                count: classes.len(),
                classes: classes.join(", "),
            });
        };
        let count = |name| match self.leaves.get("topology", name) {
            Value::Count(count) => u32::try_from(*count).unwrap_or(u32::MAX),
            other => unreachable!("{other} has passed for a whole number"),
        };
        let (cores, smt) = (count("cores_per_cluster"), count("smt"));
        let cluster = |socket| Cluster { socket, class: class.clone(), cores, smt };
        let sockets = 0..count("sockets");
        Ok(sockets
            .flat_map(|it| (0..count("clusters_per_socket")).map(move |_| it))
            .map(cluster)
            .collect())
    }

    /// `[[cluster]]`: one after the other.
    fn listed(&self, paths: &[String]) -> Result<Vec<Cluster>, MachineError> {
        let classes = class_names(&self.leaves);
        let mut clusters = Vec::new();
        for path in paths {
            self.require("cluster[]", path)?;
            let cluster = Cluster::read(&self.leaves, path);
            if !classes.contains(&cluster.class) {
                let key = format!("{path}.class");
                let leaf = &self.leaves.0[&key];
                return Err(MachineError::OutOfRange {
                    file: leaf.file.to_string(),
                    line: leaf.line,
                    key,
                    value: leaf.value.to_string(),
                    range: format!("the file has the classes {}", classes.join(", ")),
                });
            }
            clusters.push(cluster);
        }
        Ok(clusters)
    }

    /// What a machine without such neighbours has no use for need not be in its file.
    fn fill_unused(&mut self, clusters: &[Cluster]) {
        let first = &clusters[0];
        let one_socket = clusters.iter().all(|it| it.socket == first.socket);
        let in_socket = |socket| clusters.iter().filter(|it| it.socket == socket).count();
        let one_cluster = clusters.iter().all(|it| in_socket(it.socket) == 1);
        let one_core = clusters.iter().all(|it| it.cores == 1);
        let no_smt = clusters.iter().all(|it| it.smt == 1);
        // Each from the next nearer one; the nearest of all, which not even one core has, costs nothing.
        let mut nearer = Value::Number(0.0);
        for (name, unused) in [
            ("smt_sibling", no_smt),
            ("same_cluster", one_core),
            ("same_socket", one_cluster),
            ("cross_socket", one_socket),
        ] {
            let key = format!("transfer.{name}");
            if unused {
                self.fill(key.clone(), nearer.clone());
            }
            if let Some(leaf) = self.leaves.0.get(&key) {
                nearer = leaf.value.clone();
            }
        }
        for class in class_names(&self.leaves) {
            if clusters.iter().all(|it| it.class != class || it.smt == 1) {
                self.fill(format!("class.{class}.smt_speed"), Value::Number(1.0));
            }
        }
    }

    fn fill(&mut self, key: String, value: Value) {
        let leaf = Leaf {
            value,
            from: "not used".to_owned(),
            fitted: None,
            file: self.file.as_str().into(),
            line: 0,
        };
        self.leaves.0.entry(key).or_insert(leaf);
    }

    /// Refuses a file without one of the leaves that the engine reads.
    fn require_all(&self) -> Result<(), MachineError> {
        for section in ["transfer", "store_buffer", "futex", "membarrier", "scheduler", "clock"] {
            self.require(section, section)?;
        }
        for class in class_names(&self.leaves) {
            self.require("class.*", &format!("class.{class}"))?;
        }
        let idle = paths(&self.leaves, "idle");
        for path in &idle {
            self.require("idle[]", path)?;
        }
        for pair in idle.windows(2) {
            let of = |path: &str| self.leaves.get(path, "after").number();
            if of(&pair[1]) <= of(&pair[0]) {
                let key = format!("{}.after", pair[1]);
                let leaf = &self.leaves.0[&key];
                return Err(MachineError::OutOfRange {
                    file: leaf.file.to_string(),
                    line: leaf.line,
                    key,
                    value: leaf.value.to_string(),
                    range: format!(
                        "more than {}.after, because states are listed shallow to deep",
                        pair[0]
                    ),
                });
            }
        }
        Ok(())
    }

    /// Refuses a file in which the section at `path` lacks one of the keys of `kind`.
    fn require(&self, kind: &str, path: &str) -> Result<(), MachineError> {
        for key in keys::keys().filter(|key| key.section == kind) {
            let full = format!("{path}.{}", key.name);
            if !self.leaves.0.contains_key(&full) {
                return Err(self.missing(&full, &format!("{{ value = {key}, from = \"…\" }}")));
            }
        }
        Ok(())
    }

    fn missing(&self, key: &str, needed: &str) -> MachineError {
        MachineError::Missing {
            file: self.file.clone(),
            key: key.to_owned(),
            needed: needed.to_owned(),
            based: Some(self.bases.clone()),
        }
    }
}

/// The classes' names, in order.
fn class_names(leaves: &Leaves) -> Vec<String> {
    let names = leaves.0.keys().filter_map(|key| key.strip_prefix("class.")?.rsplit_once('.'));
    let mut names: Vec<_> = names.map(|(class, _)| class.to_owned()).collect();
    names.dedup();
    names
}

/// The paths of a list's items, in order: `idle[0]`, `idle[1]`.
fn paths(leaves: &Leaves, list: &str) -> Vec<String> {
    let path = |index: usize| format!("{list}[{index}]");
    (0..leaves.0.len()).map(path).take_while(|path| leaves.has_section(path)).collect()
}
