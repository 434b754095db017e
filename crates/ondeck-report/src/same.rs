//! Whether reports are of the same machine: what must agree before their numbers are put side by
//! side.

use ondeck_lab::results::{Evidence, Report, Settings};

/// A fact of a report: its name and its value.
type Fact = (&'static str, String);

/// The facts that make a machine, and the program on it.
pub(crate) fn facts(report: &Report) -> [Fact; 8] {
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
pub(crate) fn conditions(settings: &Settings) -> [Fact; 4] {
    [
        ("policy", settings.policy.clone()),
        ("pinning", settings.pinning.clone()),
        ("slice", settings.slice.clone().unwrap_or_else(|| "default".to_owned())),
        ("background", settings.background.to_string()),
    ]
}

/// By which of these facts two reports differ: its name, and its value in either.
pub(crate) fn differing(
    one: impl IntoIterator<Item = Fact>,
    other: impl IntoIterator<Item = Fact>,
) -> impl Iterator<Item = (&'static str, String, String)> {
    let both = one.into_iter().zip(other);
    both.filter(|((_, one), (_, other))| one != other)
        .map(|((what, one), (_, other))| (what, one, other))
}
