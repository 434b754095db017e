//! Whether reports are of the same machine: what must agree before their numbers are put side by
//! side.

use std::fmt;

use ondeck_lab::results::{Evidence, Report, Settings};

/// A fact by which two reports differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which fact: `cpu`, `kernel`, ...
    pub what: &'static str,
    /// In the one report.
    pub one: String,
    /// In the other.
    pub other: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} `{}` and `{}`", self.what, self.one, self.other)
    }
}

/// The facts that make a machine, and the program on it.
pub(crate) fn facts(report: &Report) -> [(&'static str, String); 8] {
    let machine = &report.machine;
    let evidence = match report.evidence {
        Evidence::Measured => "measured",
        Evidence::Simulated => "simulated",
    };
    // Not by its seed, which is what repeated runs differ in.
    let simulated =
        report.simulated.as_ref().map_or(String::new(), |simulated| simulated.machine.clone());
    [
        ("evidence", evidence.to_owned()),
        ("simulated machine", simulated),
        ("architecture", machine.architecture.clone()),
        ("cpu", machine.cpu.clone()),
        ("cpus", machine.cpus.to_string()),
        ("usable_cpus", machine.usable_cpus.to_string()),
        ("kernel", machine.kernel.clone()),
        ("build profile", report.build.profile.clone()),
    ]
}

/// The conditions that threads ran under. If they were the same for all series, no series names them.
pub(crate) fn conditions(settings: &Settings) -> [(&'static str, String); 6] {
    let given = |setting: &Option<String>| setting.clone().unwrap_or_else(|| "default".to_owned());
    [
        ("policy", settings.policy.to_string()),
        ("pinning", settings.pinning.to_string()),
        ("slice", given(&settings.slice)),
        ("nice", given(&settings.nice)),
        ("quota", given(&settings.quota)),
        ("background", settings.background.to_string()),
    ]
}

/// By what two reports are of different machines; nothing if they are of the same.
pub fn differences(one: &Report, other: &Report) -> Vec<Difference> {
    facts(one)
        .into_iter()
        .zip(facts(other))
        .filter(|((_, one), (_, other))| one != other)
        .map(|((what, one), (_, other))| Difference { what, one, other })
        .collect()
}

/// Differences as one clause of a sentence.
pub fn in_words(differences: &[Difference]) -> String {
    let words: Vec<String> = differences.iter().map(ToString::to_string).collect();
    words.join(", ")
}
