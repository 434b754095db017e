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
    use crate::{CondvarKind, LockInfo, RawLock, SequenceCondvar};

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

    #[test]
    fn no_two_locks_share_a_name() {
        let names: Vec<_> = everything().iter().map(|(info, _)| info.name).collect();
        let distinct: HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
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
}
