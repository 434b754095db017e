//! Which keys a machine file has.

use super::key::Key;
use super::spec;

/// All keys that a machine file can have, section by section.
///
/// `name`, `about` and `base` are not among them: they are plain strings at the top of the file.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    spec::KEYS.iter().copied().flatten()
}

/// The key of this name in this section.
pub(super) fn find(section: &str, name: &str) -> Option<&'static Key> {
    keys().find(|key| key.section == section && key.name == name)
}

/// The key of a value at this path: that of `class.*`, `pause` for `class.core.pause`.
///
/// # Panics
///
/// If there is none: paths come from a file that was read.
pub(super) fn of_path(path: &str) -> &'static Key {
    let (section, name) = path.rsplit_once('.').unwrap_or((path, ""));
    let kind = match section.split_once(['.', '[']) {
        Some(("class", _)) => "class.*".to_owned(),
        Some((list, _)) => format!("{list}[]"),
        None => section.to_owned(),
    };
    find(&kind, name).unwrap_or_else(|| unreachable!("{path} was read as a key"))
}
