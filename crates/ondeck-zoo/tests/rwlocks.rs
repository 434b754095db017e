//! Every reader-writer lock of the registry keeps its promises on the real machine, and locks that break one
//! are noticed.

#[path = "support/rw_conformance.rs"]
mod rw_conformance;

use std::collections::HashSet;

use ondeck::platform::{AtomicInt, Native, Ordering, Platform};
use ondeck_zoo::{CondvarKind, LockInfo, Origin, RawRwLock, RwVisitor, registry};
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
    for peer in ["abseil_rwlock", "nsync_rwlock", "tbb_rwlock", "tbb_spin_rwlock", "ck_rwlock"] {
        assert_eq!(names.contains(peer), cfg!(feature = "peers-cpp"), "{peer}");
    }
}

/// A counter of readers and a writer's bit, broken in one place.
struct Broken<const MISTAKE: u8>(<Native as Platform>::AtomicU32);

/// A writer does not wait for readers.
const OVERTAKES: u8 = 0;
/// A reader does not wait for a writer.
const PEEKS: u8 = 1;
/// A reader that leaves is not counted.
const STAYS: u8 = 2;
/// An attempt to read waits for no reader at all.
const ALONE: u8 = 3;

const WRITER: u32 = 1 << 31;

// SAFETY: not sound, which is the point. What it guards here are atomic numbers that are checked.
unsafe impl<const MISTAKE: u8> RawRwLock<Native> for Broken<MISTAKE> {
    const INFO: LockInfo = LockInfo {
        name: "broken_rwlock",
        origin: Origin::Literature,
        waiting: ondeck_zoo::Waiting::Yields,
        fairness: ondeck_zoo::Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Without,
        source: "this test",
        teaches: "what a broken lock looks like",
    };
    type Read = ();
    type Write = ();

    fn new() -> Self {
        Self(AtomicInt::new(0))
    }
    unsafe fn read(&self, (): &()) {
        if MISTAKE == PEEKS {
            self.0.fetch_add(1, Ordering::Acquire);
            return;
        }
        // SAFETY: as the caller promises.
        while !unsafe { self.try_read(&()) } {
            Native::yield_now();
        }
    }
    unsafe fn try_read(&self, (): &()) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        state & WRITER == 0
            && !(MISTAKE == ALONE && state != 0)
            && self
                .0
                .compare_exchange(state, state + 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }
    unsafe fn unlock_read(&self, (): &()) {
        if MISTAKE != STAYS || self.0.load(Ordering::Relaxed) > 1 {
            self.0.fetch_sub(1, Ordering::Release);
        }
    }
    unsafe fn write(&self, (): &()) {
        // SAFETY: as the caller promises.
        while !unsafe { self.try_write(&()) } {
            Native::yield_now();
        }
    }
    unsafe fn try_write(&self, (): &()) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        let possible = if MISTAKE == OVERTAKES { state & WRITER == 0 } else { state == 0 };
        possible
            && self
                .0
                .compare_exchange(state, state | WRITER, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }
    unsafe fn unlock_write(&self, (): &()) {
        self.0.fetch_and(!WRITER, Ordering::Release);
    }
    fn is_idle(&mut self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn a_writer_among_readers_is_noticed() {
    let what = attempts::<Broken<OVERTAKES>>().expect_err("a writer overtakes readers");
    assert!(what.contains("a writer got in beside a reader"), "{what}");
    let what = exclusion::<Broken<OVERTAKES>>().expect_err("a writer overtakes readers");
    assert!(what.contains("in halves"), "{what}");
}

#[test]
fn a_reader_among_writers_is_noticed() {
    let what = exclusion::<Broken<PEEKS>>().expect_err("a reader does not wait");
    assert!(what.contains("in halves"), "{what}");
}

#[test]
fn a_reader_that_is_left_behind_is_noticed() {
    let what = attempts::<Broken<STAYS>>().expect_err("a reader stays in");
    assert!(what.contains("not at rest"), "{what}");
}

#[test]
fn readers_that_exclude_each_other_are_noticed() {
    let what = attempts::<Broken<ALONE>>().expect_err("readers do not share");
    assert!(what.contains("a second reader was kept out"), "{what}");
}
