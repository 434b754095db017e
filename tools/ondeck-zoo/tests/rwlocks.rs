//! Every reader-writer lock of the registry keeps its promises on the real machine, and locks that
//! break one are noticed.

#[macro_use]
#[path = "../src/adapter.rs"]
mod adapter;
#[allow(dead_code, reason = "each test has mistakes of its own")]
#[path = "support/broken_rwlock.rs"]
mod broken_rwlock;
#[path = "support/rw_conformance.rs"]
mod rw_conformance;

use std::collections::HashSet;

use broken_rwlock::{ALONE, Broken, OVERTAKES, PEEKS, STAYS};
use ondeck::platform::Native;
use ondeck_zoo::{CondvarKind, LockInfo, RawRwLock, RwVisitor, registry};
use rw_conformance::{attempts, exclusion};

#[test]
fn every_lock_excludes_comes_to_rest_and_shares() {
    struct Check;
    impl RwVisitor<Native> for Check {
        fn visit<L: RawRwLock<Native>>(&mut self) {
            exclusion::<L>().unwrap_or_else(|what| panic!("{}: {what}", L::INFO.name));
            attempts::<L>().unwrap_or_else(|what| panic!("{}: {what}", L::INFO.name));
        }
    }
    registry::for_each_rwlock(&mut Check);
}

#[test]
fn every_lock_says_what_it_is() {
    #[derive(Default)]
    struct Collect(Vec<LockInfo>);
    impl RwVisitor<Native> for Collect {
        fn visit<L: RawRwLock<Native>>(&mut self) {
            self.0.push(L::INFO);
        }
    }
    let mut locks = Collect::default();
    registry::for_each_rwlock(&mut locks);
    let names: HashSet<_> = locks.0.iter().map(|info| info.name).collect();
    assert_eq!(names.len(), locks.0.len(), "{names:?}");
    for info in &locks.0 {
        assert!(info.name.ends_with("_rwlock"), "{}", info.name);
        assert!(!info.source.is_empty() && !info.teaches.ends_with('.'), "{}", info.name);
        assert_eq!(info.condvar, CondvarKind::Without, "{}", info.name);
    }
    for peer in ["std_rwlock", "parking_lot_rwlock", "usync_rwlock", "spin_rwlock"] {
        assert!(names.contains(peer), "{peer}");
    }
    for peer in ["abseil_rwlock", "nsync_rwlock"] {
        assert_eq!(names.contains(peer), cfg!(feature = "peers-cpp"), "{peer}");
    }
}

#[test]
fn a_writer_among_readers_is_noticed() {
    let what = attempts::<Broken<Native, OVERTAKES>>().expect_err("a writer overtakes readers");
    assert!(what.contains("a writer got in beside a reader"), "{what}");
    let what = exclusion::<Broken<Native, OVERTAKES>>().expect_err("a writer overtakes readers");
    assert!(what.contains("in halves"), "{what}");
}

#[test]
fn a_reader_among_writers_is_noticed() {
    let what = exclusion::<Broken<Native, PEEKS>>().expect_err("a reader does not wait");
    assert!(what.contains("in halves"), "{what}");
}

#[test]
fn a_reader_that_is_left_behind_is_noticed() {
    let what = attempts::<Broken<Native, STAYS>>().expect_err("a reader stays in");
    assert!(what.contains("not at rest"), "{what}");
}

#[test]
fn readers_that_exclude_each_other_are_noticed() {
    let what = attempts::<Broken<Native, ALONE>>().expect_err("readers do not share");
    assert!(what.contains("a second reader was kept out"), "{what}");
}
