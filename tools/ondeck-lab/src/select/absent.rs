//! Known locks that are not in this build: those of libraries that it omits.

use super::Unknown;

/// The mutexes of the feature `peers-cpp`, and Debian's names of their libraries.
pub const CPP_MUTEXES: &[&str] = &["abseil", "nsync"];
/// The reader-writer locks of that feature, of the same libraries.
pub const CPP_RWLOCKS: &[&str] = &["abseil_rwlock", "nsync_rwlock"];

/// The advice of a build without the C and C++ peers.
pub(super) const CPP_FIX: &str =
    "install Debian's libabsl-dev and libnsync-dev, and build with --features peers-cpp";

/// The locks that a build may lack.
pub(super) fn locks() -> impl Iterator<Item = &'static str> {
    CPP_MUTEXES.iter().chain(CPP_RWLOCKS).copied()
}

/// Why a word selects no lock here although it would elsewhere.
pub(super) fn why(word: &str) -> Option<Unknown> {
    (!cfg!(feature = "peers-cpp") && locks().any(|name| name == word))
        .then(|| Unknown(format!("lock `{word}` is not in this build; {CPP_FIX}")))
}

#[cfg(test)]
mod tests {
    use super::super::locks;
    use super::*;
    use crate::workload::Subject;

    #[test]
    fn a_lock_that_was_left_out_of_the_build_is_known() {
        for &name in CPP_MUTEXES.iter().chain(CPP_RWLOCKS) {
            match locks(&Subject::of_every_kind(), &[name.to_owned()]) {
                Ok(found) => assert_eq!(found[0].info.name, name),
                Err(error) => assert!(error.to_string().contains("peers-cpp"), "{error}"),
            }
        }
    }
}
