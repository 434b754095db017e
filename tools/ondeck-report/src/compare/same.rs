//! Whether reports come from the same machine: the facts that must agree before their numbers are
//! compared.

use ondeck_lab::results::{Report, Settings};

use super::Input;

/// A fact of a report: its name and its value.
type Fact = (&'static str, String);

/// The facts that identify a machine, and the program on it.
pub(super) fn facts(report: &Report) -> [Fact; 8] {
    let machine = &report.machine;
    // Without the seed, in which repeated runs differ.
    let simulated =
        report.simulated.as_ref().map_or(String::new(), |simulated| simulated.machine.clone());
    [
        ("evidence", report.evidence.to_string()),
        ("simulated machine", simulated),
        ("architecture", machine.architecture.clone()),
        ("cpu", machine.cpu.clone()),
        ("cpus", machine.cpus.to_string()),
        ("usable_cpus", machine.usable_cpus.to_string()),
        ("kernel", machine.kernel.clone()),
        ("build profile", report.build.profile.clone()),
    ]
}

/// Where and how threads ran.
pub(super) fn conditions(settings: &Settings) -> [Fact; 5] {
    [
        ("policy", settings.policy.clone()),
        ("pinning", settings.pinning.clone()),
        ("slice", settings.slice.clone().unwrap_or_else(|| "default".to_owned())),
        ("quota", settings.quota.clone().unwrap_or_else(|| "none".to_owned())),
        ("background", settings.background.to_string()),
    ]
}

/// The facts in which two reports differ: the name, and both values.
pub(super) fn differing(
    one: impl IntoIterator<Item = Fact>,
    other: impl IntoIterator<Item = Fact>,
) -> impl Iterator<Item = (&'static str, String, String)> {
    let both = one.into_iter().zip(other);
    both.filter(|((_, one), (_, other))| one != other)
        .map(|((what, one), (_, other))| (what, one, other))
}

/// Reports of different machines, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Apart(String);

/// Refuses reports of different machines.
///
/// # Errors
///
/// [`Apart`] names the first two and their differences.
pub fn of_one_machine(inputs: &[Input]) -> Result<(), Apart> {
    let Some((first, others)) = inputs.split_first() else { return Ok(()) };
    for other in others {
        let differences: Vec<String> = differing(facts(&first.report), facts(&other.report))
            .map(|(what, one, other)| format!("{what} `{one}` and `{other}`"))
            .collect();
        if !differences.is_empty() {
            return Err(Apart(format!(
                "{} and {} are of different machines: {}",
                first.name,
                other.name,
                differences.join(", ")
            )));
        }
    }
    Ok(())
}
