//! The machine files that are compiled in.

/// Declares the files of `machines/` by name.
macro_rules! bundled {
    ($($name:literal),+ $(,)?) => {
        const FILES: &[(&str, &str)] = &[
            $( ($name, include_str!(concat!("../../machines/", $name, ".toml"))), )+
        ];
    };
}

bundled! {
    "amd-epyc-2",
    "epyc-9454p",
    "epyc-9454p-64",
    "epyc-9754",
    "future-256",
    "graviton3",
    "i5-12500",
    "i7-13700h",
    "i9-10980xe",
    "m1",
    "m1-ultra",
    "m1-ultra-wfe",
    "opteron-6272x4",
    "ryzen-7-1700",
    "xeon-8488cx2",
    "xeon-d-2191",
    "xeon-e5-2680v4x2",
    "xeon-e5-2699v4x2",
    "xeon-e7-4830v3x4",
    "xeon-gold-6148x2",
}

/// Files that are bases only, not machines.
const BASES: &[(&str, &str)] = &[
    ("linux", include_str!("../../machines/linux.toml")),
    ("linux-cfs", include_str!("../../machines/linux-cfs.toml")),
    ("linux-guest", include_str!("../../machines/linux-guest.toml")),
];

/// The names of the bundled machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The names of all possible bases: the bundled machines, and files that are bases only.
pub(super) fn base_names() -> impl Iterator<Item = &'static str> {
    BASES.iter().chain(FILES).map(|(name, _)| *name)
}

/// The text of a bundled machine.
pub(super) fn text(name: &str) -> Option<&'static str> {
    find(FILES, name)
}

/// The text of a base.
pub(super) fn base_text(name: &str) -> Option<&'static str> {
    find(BASES, name).or_else(|| text(name))
}

fn find(files: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    files.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
