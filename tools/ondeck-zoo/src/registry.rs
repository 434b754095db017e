//! All locks by name: the list that commands and reports use.

use ondeck::platform::Native;

use crate::{RwVisitor, Visitor, locks, own, peers, rwlocks};

/// Shows every lock that runs on this machine to `visitor`: this project's, the portable ones,
/// then the peers.
pub fn for_each(visitor: &mut impl Visitor<Native>) {
    locks::for_each_hosted::<Native>(visitor);
    own::for_each_own(visitor);
    peers::for_each_peer(visitor);
}

/// Shows every reader-writer lock that runs on this machine to `visitor`, in the same order.
pub fn for_each_rwlock(visitor: &mut impl RwVisitor<Native>) {
    rwlocks::for_each_hosted::<Native>(visitor);
    peers::rwlocks::for_each_peer(visitor);
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::collections::HashSet;

    use super::*;
    use crate::{CondvarKind, LockInfo, Origin, RawLock, SequenceCondvar};

    /// Collects the facts and the size of each lock.
    struct Collect(Vec<(LockInfo, usize)>);
    impl Visitor<Native> for Collect {
        fn visit<L: RawLock<Native>>(&mut self) {
            self.0.push((L::INFO, size_of::<L>()));
        }
    }

    fn everything() -> Vec<(LockInfo, usize)> {
        let mut collect = Collect(Vec::new());
        for_each(&mut collect);
        collect.0
    }

    fn names() -> Vec<&'static str> {
        everything().iter().map(|(info, _)| info.name).collect()
    }

    #[test]
    fn every_portable_lock_and_every_peer_is_there_once() {
        let mut listed = Collect(Vec::new());
        locks::for_each_hosted::<Native>(&mut listed);
        own::for_each_own(&mut listed);
        let portable = listed.0.len();
        peers::for_each_peer(&mut listed);
        assert!(portable > 0 && listed.0.len() > portable);

        let names = names();
        assert_eq!(names.len(), listed.0.len());
        let distinct: HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "two locks share a name: {names:?}");
    }

    #[test]
    fn the_peers_of_the_design_are_there() {
        let names = names();
        for peer in ["std", "parking_lot", "usync", "spin"] {
            assert!(names.contains(&peer), "{peer}");
        }
        assert_eq!(names.contains(&"pthread_spin"), cfg!(target_os = "linux"));
        for peer in ["glibc", "glibc_adaptive", "glibc_pi", "glibc_recursive"] {
            assert_eq!(
                names.contains(&peer),
                cfg!(all(target_os = "linux", target_env = "gnu")),
                "{peer}"
            );
        }
        for peer in ["abseil", "nsync"] {
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
        for (info, size) in everything() {
            assert!(!info.source.trim().is_empty(), "{}", info.name);
            assert!(!info.teaches.trim().is_empty(), "{}", info.name);
            assert!(!info.teaches.ends_with('.'), "{}: a phrase, not a sentence", info.name);
            assert!(size > 0, "{} takes no memory", info.name);
        }
    }

    #[test]
    fn every_lock_says_whose_its_condvar_is() {
        struct Compare;
        impl Visitor<Native> for Compare {
            fn visit<L: RawLock<Native>>(&mut self) {
                let generic = TypeId::of::<L::Condvar>() == TypeId::of::<SequenceCondvar<Native>>();
                assert_eq!(L::INFO.condvar == CondvarKind::Generic, generic, "{}", L::INFO.name);
            }
        }
        for_each(&mut Compare);
    }

    #[test]
    fn peers_and_only_peers_say_so() {
        let mut peers = Collect(Vec::new());
        peers::for_each_peer(&mut peers);
        for (info, _) in everything() {
            let listed = peers.0.iter().any(|(peer, _)| peer.name == info.name);
            assert_eq!(info.origin == Origin::Peer, listed, "{}", info.name);
        }
    }
}
