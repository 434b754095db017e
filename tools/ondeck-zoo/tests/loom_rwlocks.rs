//! Every portable reader-writer lock under the loom model checker, and locks that are broken in one
//! place.
//!
//! Bounds: a writer and a reader with two acquisitions each, and two writers with one each, at most
//! three involuntary switches in an execution; a writer and two readers with one each, at most one.
//! Loom's memory model.

#[macro_use]
#[path = "../src/adapter.rs"]
mod adapter;
#[allow(dead_code, reason = "each test has mistakes of its own")]
#[path = "support/broken_rwlock.rs"]
mod broken_rwlock;
#[macro_use]
#[path = "support/noticed.rs"]
mod noticed;
#[path = "../../../locks/ondeck/tests/support/loom_platform.rs"]
mod loom_platform;

use std::sync::Arc;

use broken_rwlock::{Broken, NO_MISTAKE, OVERTAKES, RELAXED_READER, RELAXED_WRITER};
use loom::cell::UnsafeCell;
use loom_platform::{Loom, deeper};
use ondeck_zoo::{RawRwLock, RwVisitor, rwlocks};

/// A plain cell beside a lock. Loom reports a race if exclusion or a happens-before edge is
/// missing.
struct Shared<L> {
    lock: L,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is only touched under the lock; loom checks that.
unsafe impl<L: Sync> Sync for Shared<L> {}

impl<L: RawRwLock<Loom>> Shared<L> {
    fn write(&self, times: u32) {
        let context = L::Write::default();
        for _ in 0..times {
            // SAFETY: the context stays here and serves this acquisition alone; the cell is
            // guarded.
            unsafe {
                self.lock.write(&context);
                self.count.with_mut(|count| *count += 1);
                self.lock.unlock_write(&context);
            }
        }
    }

    fn read(&self, times: u32) {
        let context = L::Read::default();
        let mut last = 0;
        for _ in 0..times {
            // SAFETY: as above.
            unsafe {
                self.lock.read(&context);
                let now = self.count.with(|count| *count);
                assert!(now >= last, "a later read sees an earlier write");
                last = now;
                self.lock.unlock_read(&context);
            }
        }
    }

    fn attempt_read(&self) -> u32 {
        let read = L::Read::default();
        // SAFETY: as above; the unlock matches its acquisition.
        unsafe {
            if self.lock.try_read(&read) {
                self.count.with(|_| ());
                self.lock.unlock_read(&read);
            }
        }
        0
    }

    fn attempt_both(&self) -> u32 {
        self.attempt_read();
        let write = L::Write::default();
        // SAFETY: as above.
        unsafe {
            let writes = self.lock.try_write(&write);
            if writes {
                self.count.with_mut(|count| *count += 1);
                self.lock.unlock_write(&write);
            }
            u32::from(writes)
        }
    }
}

/// Runs these threads, the last of them on the model's own; each returns the number of its writes.
fn model<L: RawRwLock<Loom>>(what: &str, preemptions: usize, threads: &[fn(&Shared<L>) -> u32]) {
    let threads = threads.to_vec();
    loom_platform::model(&format!("{}, {what}", L::INFO.name), preemptions, move || {
        let shared = Arc::new(Shared { lock: L::new(), count: UnsafeCell::new(0) });
        let (&last, others) = threads.split_last().expect("a thread");
        let others: Vec<_> = others
            .iter()
            .map(|&thread| {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || thread(&shared))
            })
            .collect();
        let mut writes = last(&shared);
        for other in others {
            writes += other.join().expect("the other thread ends");
        }
        let mut shared = Arc::into_inner(shared).expect("all threads have ended");
        // SAFETY: no other thread is left.
        shared.count.with(|count| assert_eq!(unsafe { *count }, writes));
        assert!(shared.lock.is_idle(), "a mark was left behind");
    });
}

fn writes<L: RawRwLock<Loom>, const TIMES: u32>(shared: &Shared<L>) -> u32 {
    shared.write(TIMES);
    TIMES
}

fn reads<L: RawRwLock<Loom>, const TIMES: u32>(shared: &Shared<L>) -> u32 {
    shared.read(TIMES);
    0
}

#[test]
fn a_writer_excludes_readers_and_writers() {
    struct Check;
    impl RwVisitor<Loom> for Check {
        fn visit<L: RawRwLock<Loom>>(&mut self) {
            model::<L>("writer and reader", deeper(3), &[writes::<L, 2>, reads::<L, 2>]);
            model::<L>("two writers", deeper(3), &[writes::<L, 1>, writes::<L, 1>]);
            model::<L>(
                "writer and two readers",
                1,
                &[reads::<L, 1>, reads::<L, 1>, writes::<L, 1>],
            );
        }
    }
    rwlocks::for_each_portable::<Loom>(&mut Check);
}

#[test]
fn attempts_exclude_like_acquisitions() {
    struct Check;
    impl RwVisitor<Loom> for Check {
        fn visit<L: RawRwLock<Loom>>(&mut self) {
            let both = Shared::<L>::attempt_both;
            model::<L>("attempts and a writer", deeper(3), &[both, writes::<L, 1>]);
            model::<L>("attempts and a reader", deeper(3), &[both, reads::<L, 1>]);
            let read = Shared::<L>::attempt_read;
            model::<L>("attempt to read and a writer", deeper(3), &[read, writes::<L, 1>]);
        }
    }
    rwlocks::for_each_portable::<Loom>(&mut Check);
}

fn writer_and_reader<const MISTAKE: u8>() {
    model::<Broken<Loom, MISTAKE>>("writer and reader", 2, &[writes::<_, 1>, reads::<_, 1>]);
}

#[test]
fn the_same_lock_without_a_mistake_passes() {
    writer_and_reader::<NO_MISTAKE>();
}

noticed! {
    fn a_relaxed_unlock_of_a_reader_is_noticed, "Causality violation" =>
        writer_and_reader::<RELAXED_READER>();
    fn a_relaxed_unlock_of_a_writer_is_noticed, "Causality violation" =>
        writer_and_reader::<RELAXED_WRITER>();
    fn a_writer_that_overtakes_readers_is_noticed, "Causality violation" =>
        writer_and_reader::<OVERTAKES>();
}
