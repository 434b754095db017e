//! Known locks that are not in this build: locks of libraries that the build omits, and of other
//! systems.

use super::Unknown;

/// The mutexes of the feature `peers-cpp`, and Debian's names of their libraries.
pub const CPP_MUTEXES: &[&str] = &["abseil", "nsync"];
/// The reader-writer locks of that feature, of the same libraries.
pub const CPP_RWLOCKS: &[&str] = &["abseil_rwlock", "nsync_rwlock"];

/// The advice of a build without the C and C++ peers.
pub(super) const CPP_FIX: &str =
    "install Debian's libabsl-dev and libnsync-dev, and build with --features peers-cpp";

/// The mutexes of Linux and of its C libraries.
const LINUX_MUTEXES: &[&str] = &[
    "glibc",
    "glibc_adaptive",
    "glibc_pi",
    "glibc_recursive",
    "ondeck_ipc",
    "ondeck_pi",
    "pthread_spin",
];
/// Their reader-writer locks.
const LINUX_RWLOCKS: &[&str] = &["glibc_rwlock", "glibc_writer_rwlock"];

/// The locks that a build may lack.
pub(super) fn locks() -> impl Iterator<Item = &'static str> {
    [CPP_MUTEXES, CPP_RWLOCKS, LINUX_MUTEXES, LINUX_RWLOCKS].concat().into_iter()
}

/// Why a word selects no lock here although it would elsewhere.
pub(super) fn why(word: &str) -> Option<Unknown> {
    let among = |lists: [&[&str]; 2]| lists.concat().contains(&word);
    if !cfg!(feature = "peers-cpp") && among([CPP_MUTEXES, CPP_RWLOCKS]) {
        return Some(Unknown(format!("lock `{word}` is not in this build; {CPP_FIX}")));
    }
    among([LINUX_MUTEXES, LINUX_RWLOCKS]).then(|| {
        Unknown(format!(
            "lock `{word}` is there on Linux with glibc only; `ondeck list` shows those of this system"
        ))
    })
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

    #[test]
    fn a_lock_of_linux_is_there_or_the_reason_is() {
        let everything = Subject::of_every_kind();
        for name in LINUX_MUTEXES.iter().chain(LINUX_RWLOCKS) {
            match locks(&everything, &[(*name).to_owned()]) {
                Ok(found) => assert_eq!(found[0].info.name, *name),
                Err(error) if cfg!(all(target_os = "linux", target_env = "gnu")) => {
                    panic!("{error}")
                }
                Err(error) => {
                    assert!(error.to_string().contains("on Linux with glibc"), "{error}");
                }
            }
        }
    }
}
