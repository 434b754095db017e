//! All locks by name: the one list that commands and reports go through.

use ondeck::platform::Linux;

use crate::{LockInfo, RawLock, Visitor, locks, peers};

/// Shows every lock that runs on this machine to `visitor`: the portable ones, then the peers.
pub fn for_each(visitor: &mut impl Visitor<Linux>) {
    locks::for_each_portable::<Linux>(visitor);
    peers::for_each_peer(visitor);
}

/// What can be said of a lock without running it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its facts.
    pub info: LockInfo,
    /// Bytes that the lock takes.
    pub size: usize,
    /// Bytes that each thread brings to an acquisition, padding to a cache line included.
    pub context_size: usize,
}

impl Entry {
    /// The row of the lock `L`.
    pub const fn of<L: RawLock<Linux>>() -> Self {
        Self { info: L::INFO, size: size_of::<L>(), context_size: size_of::<L::Context>() }
    }
}

/// The rows of all locks, in the order of [`for_each`].
pub fn entries() -> Vec<Entry> {
    struct Collect(Vec<Entry>);
    impl Visitor<Linux> for Collect {
        fn visit<L: RawLock<Linux>>(&mut self) {
            self.0.push(Entry::of::<L>());
        }
    }
    let mut collect = Collect(Vec::new());
    for_each(&mut collect);
    collect.0
}

/// The row of the lock that is called `name`, if there is one.
pub fn find(name: &str) -> Option<Entry> {
    entries().into_iter().find(|entry| entry.info.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Origin;

    struct Names(Vec<&'static str>);
    impl Visitor<Linux> for Names {
        fn visit<L: RawLock<Linux>>(&mut self) {
            self.0.push(L::INFO.name);
        }
    }

    fn names() -> Vec<&'static str> {
        entries().iter().map(|entry| entry.info.name).collect()
    }

    #[test]
    fn every_portable_lock_and_every_peer_is_there_once() {
        let mut listed = Names(Vec::new());
        locks::for_each_portable::<Linux>(&mut listed);
        let portable = listed.0.len();
        peers::for_each_peer(&mut listed);
        assert!(portable > 0 && listed.0.len() > portable);
        assert_eq!(names(), listed.0);

        let distinct: HashSet<_> = listed.0.iter().collect();
        assert_eq!(distinct.len(), listed.0.len(), "two locks share a name: {:?}", listed.0);
    }

    #[test]
    fn the_peers_of_the_design_are_there() {
        let names = names();
        for peer in ["std", "parking_lot", "usync", "spin", "pthread_spin"] {
            assert!(names.contains(&peer), "{peer}");
        }
        for peer in ["glibc", "glibc_adaptive", "glibc_pi", "glibc_recursive"] {
            assert_eq!(names.contains(&peer), cfg!(target_env = "gnu"), "{peer}");
        }
        for peer in ["abseil", "nsync", "tbb", "ck_mcs"] {
            assert_eq!(names.contains(&peer), cfg!(feature = "peers-cpp"), "{peer}");
        }
    }

    #[test]
    fn names_are_words_joined_by_underscores() {
        for name in names() {
            let is_word = |word: &str| {
                !word.is_empty()
                    && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            };
            assert!(name.split('_').all(is_word), "{name:?}");
            assert!(name.starts_with(|first: char| first.is_ascii_lowercase()), "{name:?}");
        }
    }

    #[test]
    fn every_lock_says_where_it_is_from_and_what_it_teaches() {
        for Entry { info, size, .. } in entries() {
            assert!(!info.source.trim().is_empty(), "{}", info.name);
            assert!(!info.teaches.trim().is_empty(), "{}", info.name);
            assert!(!info.teaches.ends_with('.'), "{}: a phrase, not a sentence", info.name);
            assert!(size > 0, "{} takes no memory", info.name);
        }
    }

    #[test]
    fn peers_and_only_peers_say_so() {
        let mut listed = Names(Vec::new());
        peers::for_each_peer(&mut listed);
        for Entry { info, .. } in entries() {
            assert_eq!(info.origin == Origin::Peer, listed.0.contains(&info.name), "{}", info.name);
        }
    }

    #[test]
    fn a_lock_is_found_by_its_name_only() {
        let entry = find("parking_lot").expect("it is listed");
        assert_eq!((entry.info.name, entry.size, entry.context_size), ("parking_lot", 1, 0));
        assert!(find("Parking_Lot").is_none());
        assert!(find("").is_none());
    }
}
