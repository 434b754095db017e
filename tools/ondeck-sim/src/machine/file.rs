//! A machine file: finds it, reads it with its bases, and checks it as a whole.

use std::fs;
use std::path::Path;

use super::bundled;
use super::costs::{Costs, MAX_CPUS};
use super::document::{Joined, bundled_file, has_section};
use super::key::Value;
use super::leaf::{Leaf, Leaves, MachineError, like, wrong};
use super::sections::{Cluster, keys};

/// A machine file: the machine that it describes, and the source of each number.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFile {
    name: String,
    about: String,
    costs: Costs,
    leaves: Leaves,
}

impl MachineFile {
    /// Returns the bundled machine of that name, or reads the file at that path.
    ///
    /// A name without a slash and without `.toml` names a bundled machine.
    ///
    /// # Errors
    ///
    /// [`MachineError`]: it does not exist, cannot be read, or is wrong.
    pub fn find(name_or_path: &str) -> Result<Self, MachineError> {
        if let Some(text) = bundled::text(name_or_path) {
            return Self::parse(&bundled_file(name_or_path), text);
        }
        let path = Path::new(name_or_path);
        let named =
            path.components().count() <= 1 && path.extension().is_none_or(|it| it != "toml");
        if named && !path.exists() {
            let meant = like("", name_or_path, bundled::names());
            let known = bundled::names().collect::<Vec<_>>().join(", ");
            return wrong!(
                "there is no machine \"{name_or_path}\"{meant} (give one of {known}, or the path of a machine \
                 file)"
            );
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
            Err(error) => wrong!(
                "{file}: cannot be read: {error} (give a machine file that you may read, or the name of a \
                 bundled machine)"
            ),
        }
    }

    /// Reads the text of a machine file; `file` is for messages.
    ///
    /// # Errors
    ///
    /// [`MachineError`] for the first mistake.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        let Joined { name, about, bases, leaves } = Joined::parse(file, text)?;
        let top = |key: &str, word: Option<String>| match word {
            Some(word) if !word.trim().is_empty() => Ok(word),
            _ => wrong!("{file}: {key} is missing: a string at the top of the file"),
        };
        let (name, about) = (top("name", name)?, top("about", about)?);
        let costs = Check { file, bases: &bases, leaves: &leaves }.costs()?;
        Ok(Self { name, about, costs, leaves })
    }

    /// The machine's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A sentence that describes the machine.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The machine, without the sources of its numbers.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// All values by key (`transfer.memory`, `class.core.pause`, `idle[0].exit`), each with its
    /// source.
    pub fn leaves(&self) -> impl Iterator<Item = (&str, &Leaf)> {
        self.leaves.iter().map(|(key, leaf)| (key.as_str(), leaf))
    }
}

/// Joined leaves, to check as a whole.
struct Check<'a> {
    file: &'a str,
    bases: &'a [String],
    leaves: &'a Leaves,
}

impl Check<'_> {
    /// The machine, if nothing is missing.
    fn costs(&self) -> Result<Costs, MachineError> {
        let classes = self.classes();
        if classes.is_empty() {
            return self.missing("class", "a section [class.NAME] with the costs of its cores");
        }
        let listed = self.paths("cluster");
        let clusters =
            if listed.is_empty() { self.equal(&classes)? } else { self.listed(&listed, &classes)? };
        let threads: usize = clusters.iter().map(|it| it.cores * it.smt).sum();
        if threads > MAX_CPUS {
            let file = self.file;
            return wrong!(
                "{file}: has {threads} hardware threads, and at most {MAX_CPUS} can be simulated"
            );
        }
        let leaves = with_unused(self.leaves, &clusters, &classes);
        let whole = Check { leaves: &leaves, ..*self };
        for section in ["transfer", "store_buffer", "futex", "membarrier", "scheduler", "clock"] {
            whole.require(section, section)?;
        }
        for class in &classes {
            whole.require("class.*", &format!("class.{class}"))?;
        }
        let idle = self.paths("idle");
        for path in &idle {
            whole.require("idle[]", path)?;
        }
        let costs = Costs::read(&leaves, &clusters, &classes, &idle);
        for (index, pair) in costs.idle.windows(2).enumerate() {
            if pair[1].after <= pair[0].after {
                let range = format!(
                    "more than {}.after, because states are listed shallow to deep",
                    idle[index]
                );
                return self.out_of_range(&format!("{}.after", idle[index + 1]), &range);
            }
        }
        Ok(costs)
    }

    /// The classes' names, in order.
    fn classes(&self) -> Vec<String> {
        let keys = self.leaves.keys();
        let names = keys.filter_map(|key| key.strip_prefix("class.")?.rsplit_once('.'));
        let mut names: Vec<_> = names.map(|(class, _)| class.to_owned()).collect();
        names.dedup();
        names
    }

    /// The paths of a list's items, in order: `idle[0]`, `idle[1]`.
    fn paths(&self, list: &str) -> Vec<String> {
        let path = |index: usize| format!("{list}[{index}]");
        (0..self.leaves.len()).map(path).take_while(|it| has_section(self.leaves, it)).collect()
    }

    /// The clusters of `[topology]`, which are equal.
    fn equal(&self, classes: &[String]) -> Result<Vec<Cluster>, MachineError> {
        if !has_section(self.leaves, "topology") {
            return self.missing("topology", "a section [topology], or a list [[cluster]]");
        }
        self.require("topology", "topology")?;
        let [class] = classes else {
            let (file, count, classes) = (self.file, classes.len(), classes.join(", "));
            return wrong!(
                "{file}: [topology] is for a machine with one [class.NAME], and there are {count} ({classes}): \
                 write a [[cluster]] for each group of cores instead"
            );
        };
        let count = |name| {
            self.leaves[&format!("topology.{name}")].value.number().unwrap_or_default() as usize
        };
        let (cores, smt) = (count("cores_per_cluster"), count("smt"));
        let of_socket = count("clusters_per_socket");
        let cluster =
            |number| Cluster { socket: number / of_socket, class: class.clone(), cores, smt };
        Ok((0..count("sockets") * of_socket).map(cluster).collect())
    }

    /// The clusters of `[[cluster]]`, one after the other.
    fn listed(&self, paths: &[String], classes: &[String]) -> Result<Vec<Cluster>, MachineError> {
        let mut clusters = Vec::new();
        for path in paths {
            self.require("cluster[]", path)?;
            let cluster = Cluster::read(self.leaves, path);
            if !classes.contains(&cluster.class) {
                let range = format!("the file has the classes {}", classes.join(", "));
                return self.out_of_range(&format!("{path}.class"), &range);
            }
            clusters.push(cluster);
        }
        Ok(clusters)
    }

    /// Refuses a file in which the section at `path` lacks one of the keys of `kind`.
    fn require(&self, kind: &str, path: &str) -> Result<(), MachineError> {
        for key in keys().filter(|key| key.section == kind) {
            let full = format!("{path}.{}", key.name);
            if !self.leaves.contains_key(&full) {
                return self.missing(&full, &format!("{{ value = {key}, from = \"…\" }}"));
            }
        }
        Ok(())
    }

    fn missing<T>(&self, key: &str, needed: &str) -> Result<T, MachineError> {
        let bases = match self.bases {
            [] => ", or a base that has it".to_owned(),
            [base] => format!("; its base {base} has none"),
            several => format!("; its bases {} have none", several.join(", ")),
        };
        wrong!("{}: {key} is missing: {needed}{bases}", self.file)
    }

    fn out_of_range<T>(&self, key: &str, range: &str) -> Result<T, MachineError> {
        let Leaf { file, line, value, .. } = &self.leaves[key];
        wrong!("{file}:{line}: {key} = {value} is out of range: {range}")
    }
}

/// The leaves, and values for keys that a machine without such neighbours need not have in its
/// file.
fn with_unused(leaves: &Leaves, clusters: &[Cluster], classes: &[String]) -> Leaves {
    let mut all = leaves.clone();
    let mut fill = |key: String, value: Value| {
        let (from, file) = ("not used".to_owned(), String::new());
        let unused = Leaf { value, from, file, line: 0 };
        all.entry(key).or_insert(unused).value.clone()
    };
    let in_socket = |socket| clusters.iter().filter(|it| it.socket == socket).count();
    // Each value comes from the next nearer one; the nearest, for a neighbour that not even one
    // core has, is zero.
    let mut nearer = Value::Number(0.0);
    for (name, is_unused) in [
        ("smt_sibling", clusters.iter().all(|it| it.smt == 1)),
        ("same_cluster", clusters.iter().all(|it| it.cores == 1)),
        ("same_socket", clusters.iter().all(|it| in_socket(it.socket) == 1)),
        ("cross_socket", clusters.iter().all(|it| it.socket == clusters[0].socket)),
    ] {
        let key = format!("transfer.{name}");
        if is_unused {
            nearer = fill(key, nearer);
        } else if let Some(leaf) = leaves.get(&key) {
            nearer = leaf.value.clone();
        }
    }
    for class in classes {
        if clusters.iter().all(|it| it.class != *class || it.smt == 1) {
            fill(format!("class.{class}.smt_speed"), Value::Number(1.0));
        }
    }
    all
}
