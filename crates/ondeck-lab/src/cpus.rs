//! Two CPUs for measurements on two: of different cores where there are several.

use crate::system::{Here, System};

const ONE_CPU: &str = "this process may use only one CPU";

/// The first usable CPU.
pub(crate) fn first() -> usize {
    Here::usable_cpus().first().copied().unwrap_or(0)
}

/// A usable CPU on another core than the first's, or any other where there is none.
pub(crate) fn second() -> Result<usize, String> {
    let usable = Here::usable_cpus();
    let Some((first, others)) = usable.split_first() else { return Err(ONE_CPU.to_owned()) };
    let core = Here::siblings(*first);
    let elsewhere = others.iter().find(|other| Here::siblings(**other) != core);
    elsewhere.or(others.first()).copied().ok_or_else(|| ONE_CPU.to_owned())
}
