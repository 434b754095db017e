//! Every portable lock under the loom model checker.
//!
//! Bounds: two threads with two acquisitions each, at most three involuntary switches an
//! execution; loom's memory model. What that cannot see is written in `docs/limits.md`.

#[path = "support/loom_platform.rs"]
mod loom_platform;

use std::sync::Arc;

use loom::cell::UnsafeCell;
use ondeck_zoo::{RawLock, Visitor, locks};
use loom_platform::Loom;

/// Two threads count on a plain cell under the lock: loom reports a race if exclusion or a
/// happens-before edge is missing, and a deadlock if a wake is lost.
fn exclusion<L: RawLock<Loom>>() {
    struct Shared<L> {
        lock: L,
        count: UnsafeCell<u32>,
    }
    // SAFETY: `count` is only touched under the lock; loom checks that this is true.
    unsafe impl<L: Sync> Sync for Shared<L> {}

    loom_platform::model(3, || {
        let shared = Arc::new(Shared { lock: L::new(), count: UnsafeCell::new(0) });
        let work = |shared: Arc<Shared<L>>, rounds: u32| {
            let context = L::Context::default();
            for _ in 0..rounds {
                // SAFETY: the context stays here and serves this acquisition alone; the cell is
                // guarded by the lock.
                unsafe {
                    shared.lock.lock(&context);
                    shared.count.with_mut(|count| *count += 1);
                    shared.lock.unlock(&context);
                }
            }
        };
        let other = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || work(shared, 2))
        };
        work(Arc::clone(&shared), 2);
        other.join().expect("the other thread ends");
        let mut shared = Arc::into_inner(shared).expect("both threads have ended");
        shared.count.with(|count| {
            // SAFETY: no other thread is left.
            assert_eq!(unsafe { *count }, 4);
        });
        assert!(shared.lock.is_idle(), "a mark was left behind");
    });
}

#[test]
fn every_portable_lock_excludes_and_loses_no_wake() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            let start = std::time::Instant::now();
            exclusion::<L>();
            println!("{}: {:?}", L::INFO.name, start.elapsed());
        }
    }
    locks::for_each_portable::<Loom>(&mut Check);
}
