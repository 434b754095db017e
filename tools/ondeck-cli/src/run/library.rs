//! The places of the libraries that are preloaded, and the value of LD_PRELOAD.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::outcome::Failure;

/// A library that is preloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// Gives the program ondeck's locks.
    Shim,
    /// Observes the program's own.
    Observer,
}

impl Library {
    const ALL: [Self; 2] = [Self::Shim, Self::Observer];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shim => "libondeck_preload.so",
            Self::Observer => "libondeck_observe.so",
        }
    }

    /// The variable that names its file.
    fn variable(self) -> &'static str {
        match self {
            Self::Shim => "ONDECK_PRELOAD_LIBRARY",
            Self::Observer => "ONDECK_OBSERVE_LIBRARY",
        }
    }

    /// What builds it.
    pub(crate) fn script(self) -> &'static str {
        match self {
            Self::Shim => "locks/ondeck-preload/link.sh",
            Self::Observer => "tools/ondeck-observe/link.sh",
        }
    }
}

const LD_PRELOAD: &str = "LD_PRELOAD";

/// The places beside the executable, in the order of the search: a folder with both, an installed
/// command, and one that cargo built.
const BESIDE: [&str; 4] = ["", "../lib/ondeck", "../lib", "../native/lib"];

/// Finds a library: at the place that the environment names, otherwise near the executable,
/// otherwise beside the other library that the environment names.
pub(crate) fn find(library: Library) -> Result<PathBuf, Failure> {
    let named =
        |library: Library| env::var_os(library.variable()).filter(|named| !named.is_empty());
    if let Some(named) = named(library) {
        let named = PathBuf::from(named);
        return match named.canonicalize() {
            Ok(path) if path.is_file() => usable(library, path),
            _ => Err(Failure::own(format!(
                "${} names {}, which is no file; name {}, or unset it",
                library.variable(),
                named.display(),
                library.name()
            ))),
        };
    }
    let executable = env::current_exe().ok();
    let folder = executable.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    let others = Library::ALL.into_iter().filter_map(named).map(PathBuf::from);
    let others = others.filter_map(|other| Some(other.parent()?.to_owned()));
    near(library, folder, &others.collect::<Vec<_>>())
}

fn near(library: Library, folder: &Path, others: &[PathBuf]) -> Result<PathBuf, Failure> {
    let places = BESIDE.iter().map(|place| folder.join(place)).chain(others.iter().cloned());
    let places: Vec<PathBuf> = places.map(|place| place.join(library.name())).collect();
    let is_file = |path: &PathBuf| path.is_file();
    if let Some(path) = places.iter().find_map(|place| place.canonicalize().ok().filter(is_file)) {
        return usable(library, path);
    }
    let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    Err(Failure::own(format!(
        "{} is in none of these places:\n  {}\nbuild it with {}, install it with packaging/install.sh, or name it in \
         ${}",
        library.name(),
        looked.join("\n  "),
        library.script(),
        library.variable()
    )))
}

/// Refuses unusable paths: the loader splits LD_PRELOAD at blanks and colons, and replaces names
/// after a dollar sign.
fn usable(library: Library, path: PathBuf) -> Result<PathBuf, Failure> {
    if path.as_os_str().as_bytes().iter().any(|byte| b" :$".contains(byte)) {
        return Err(Failure::own(format!(
            "LD_PRELOAD cannot name {}, because of a blank, a colon or a dollar sign; move {}, and name it in ${}",
            path.display(),
            library.name(),
            library.variable()
        )));
    }
    Ok(path)
}

/// The variable and its value with a library before the existing entries.
pub(crate) fn in_front(library: &Path) -> (&'static str, OsString) {
    let mut value = library.as_os_str().to_owned();
    for other in others() {
        value.push(":");
        value.push(other);
    }
    (LD_PRELOAD, value)
}

/// The variable and its value without any copy of the libraries; no value if there are no other
/// entries.
pub(crate) fn left_out() -> (&'static str, Option<OsString>) {
    let others = others();
    (LD_PRELOAD, (!others.is_empty()).then(|| others.join(OsStr::new(":"))))
}

/// The entries of LD_PRELOAD other than the libraries.
fn others() -> Vec<OsString> {
    without_ours(&env::var_os(LD_PRELOAD).unwrap_or_default())
}

fn without_ours(value: &OsStr) -> Vec<OsString> {
    value
        .as_bytes()
        .split(|byte| b" :".contains(byte))
        .filter(|word| !word.is_empty())
        .map(|word| OsString::from_vec(word.to_vec()))
        .filter(|word| {
            let file = Path::new(word).file_name();
            Library::ALL.iter().all(|library| file != Some(OsStr::new(library.name())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_a_cargo_build_and_an_installed_one_are_found_near_the_executable() {
        let near = |folder: &Path| near(Library::Shim, folder, &[]);
        for place in ["release", "lib/ondeck", "lib", "native/lib"] {
            let root = tempfile::tempdir().expect("a folder");
            let executables = root.path().join("release");
            std::fs::create_dir_all(&executables).expect("a folder");
            let error = near(&executables).expect_err("there is none").to_string();
            assert!(error.contains("native/lib") && error.contains("link.sh"), "{error}");
            std::fs::create_dir_all(root.path().join(place)).expect("a folder");
            let library = root.path().join(place).join(Library::Shim.name());
            std::fs::write(&library, "").expect("a file");
            let found = near(&executables).expect("it is there");
            assert_eq!(found, library.canonicalize().expect("it is there"));
        }
    }

    #[test]
    fn a_place_that_the_loader_would_split_is_refused() {
        for place in ["/a b/x.so", "/a:b/x.so", "/$LIB/x.so"] {
            assert!(usable(Library::Shim, PathBuf::from(place)).is_err(), "{place}");
        }
        assert!(usable(Library::Shim, PathBuf::from("/usr/lib/ondeck/x.so")).is_ok());
    }

    #[test]
    fn what_else_is_preloaded_stays_and_a_second_copy_of_ours_does_not() {
        let value = OsStr::new(
            "/a/libjemalloc.so.2 /old/libondeck_preload.so:/b/libondeck_observe.so:libother.so",
        );
        assert_eq!(without_ours(value), ["/a/libjemalloc.so.2", "libother.so"]);
    }
}
