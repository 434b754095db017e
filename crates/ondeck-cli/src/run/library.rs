//! The place of the shim, and the value of LD_PRELOAD.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::outcome::Failure;

pub(crate) const NAME: &str = "libondeck_preload.so";

const VARIABLE: &str = "ONDECK_PRELOAD_LIBRARY";
const LD_PRELOAD: &str = "LD_PRELOAD";

/// The places beside the executable, in the order of the search: a folder with both, an installed
/// command, and one that cargo built.
const BESIDE: [&str; 4] = ["", "../lib/ondeck", "../lib", "../native/lib"];

/// Finds the shim: at the place that the environment names, otherwise near the executable.
pub(crate) fn find() -> Result<PathBuf, Failure> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return match named.canonicalize() {
            Ok(path) if path.is_file() => usable(path),
            _ => Err(Failure::own(format!(
                "${VARIABLE} names {}, which is no file; name {NAME}, or unset it",
                named.display()
            ))),
        };
    }
    let executable = env::current_exe().ok();
    let folder = executable.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    near(folder)
}

fn near(folder: &Path) -> Result<PathBuf, Failure> {
    let places = BESIDE.map(|place| folder.join(place).join(NAME));
    let is_file = |path: &PathBuf| path.is_file();
    if let Some(path) = places.iter().find_map(|place| place.canonicalize().ok().filter(is_file)) {
        return usable(path);
    }
    let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    Err(Failure::own(format!(
        "{NAME} is in none of these places:\n  {}\nbuild it with crates/ondeck-preload/link.sh, \
         install it with packaging/install.sh, or name it in ${VARIABLE}",
        looked.join("\n  ")
    )))
}

/// Refuses unusable paths: the loader splits LD_PRELOAD at blanks and colons, and replaces names
/// after a dollar sign.
fn usable(path: PathBuf) -> Result<PathBuf, Failure> {
    if path.as_os_str().as_bytes().iter().any(|byte| b" :$".contains(byte)) {
        return Err(Failure::own(format!(
            "LD_PRELOAD cannot name {}, because of a blank, a colon or a dollar sign; move {NAME}, \
             and name it in ${VARIABLE}",
            path.display()
        )));
    }
    Ok(path)
}

/// The variable and its value with the shim before the existing entries.
pub(crate) fn in_front(library: &Path) -> (&'static str, OsString) {
    let mut value = library.as_os_str().to_owned();
    for other in others() {
        value.push(":");
        value.push(other);
    }
    (LD_PRELOAD, value)
}

/// The variable and its value without any copy of the shim; no value if there are no other entries.
pub(crate) fn left_out() -> (&'static str, Option<OsString>) {
    let others = others();
    (LD_PRELOAD, (!others.is_empty()).then(|| others.join(OsStr::new(":"))))
}

/// The entries of LD_PRELOAD other than the shim.
fn others() -> Vec<OsString> {
    without_shim(&env::var_os(LD_PRELOAD).unwrap_or_default())
}

fn without_shim(value: &OsStr) -> Vec<OsString> {
    value
        .as_bytes()
        .split(|byte| b" :".contains(byte))
        .filter(|word| !word.is_empty())
        .map(|word| OsString::from_vec(word.to_vec()))
        .filter(|word| Path::new(word).file_name() != Some(OsStr::new(NAME)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shim_of_a_cargo_build_and_an_installed_one_are_found_near_the_executable() {
        for place in ["release", "lib/ondeck", "lib", "native/lib"] {
            let root = tempfile::tempdir().expect("a folder");
            let executables = root.path().join("release");
            std::fs::create_dir_all(&executables).expect("a folder");
            let error = near(&executables).expect_err("there is none").to_string();
            assert!(error.contains("native/lib") && error.contains("link.sh"), "{error}");
            std::fs::create_dir_all(root.path().join(place)).expect("a folder");
            let library = root.path().join(place).join(NAME);
            std::fs::write(&library, "").expect("a file");
            let found = near(&executables).expect("it is there");
            assert_eq!(found, library.canonicalize().expect("it is there"));
        }
    }

    #[test]
    fn a_place_that_the_loader_would_split_is_refused() {
        for place in ["/a b/x.so", "/a:b/x.so", "/$LIB/x.so"] {
            assert!(usable(PathBuf::from(place)).is_err(), "{place}");
        }
        assert!(usable(PathBuf::from("/usr/lib/ondeck/x.so")).is_ok());
    }

    #[test]
    fn what_else_is_preloaded_stays_and_a_second_copy_of_the_shim_does_not() {
        let value = OsStr::new("/a/libjemalloc.so.2 /old/libondeck_preload.so::libother.so");
        assert_eq!(without_shim(value), ["/a/libjemalloc.so.2", "libother.so"]);
    }
}
