//! The threads' use of a lock in a model: shared by the tests that must pass and those of broken
//! locks that must fail.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use ondeck_zoo::RawLock;

use crate::loom_platform::{self, Loom};

/// A plain cell beside a lock. Loom reports a race if exclusion or a happens-before edge is
/// missing between two accesses to the cell.
struct Shared<L> {
    lock: L,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is only touched under the lock; loom checks that.
unsafe impl<L: Sync> Sync for Shared<L> {}

impl<L: RawLock<Loom>> Shared<L> {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: L::new(), count: UnsafeCell::new(0) })
    }

    fn lock_and_count(&self, rounds: u32) {
        let context = L::Context::default();
        for _ in 0..rounds {
            // SAFETY: the context stays here and serves this acquisition alone.
            unsafe { self.lock.lock(&context) };
            // SAFETY: the lock is held with this context; the cell is guarded by it.
            unsafe { self.count_and_unlock(&context) };
        }
    }

    fn try_lock_and_count(&self) -> u32 {
        let context = L::Context::default();
        // SAFETY: as above.
        let locked = unsafe { self.lock.try_lock(&context) };
        if locked {
            // SAFETY: as above.
            unsafe { self.count_and_unlock(&context) };
        }
        u32::from(locked)
    }

    /// # Safety
    ///
    /// The lock is held, acquired with `context`.
    unsafe fn count_and_unlock(&self, context: &L::Context) {
        self.count.with_mut(|count| {
            // SAFETY: the lock is held.
            unsafe { *count += 1 };
        });
        // SAFETY: as the caller promises.
        unsafe { self.lock.unlock(context) };
    }

    fn end(self: Arc<Self>, expected: u32) {
        let mut shared = Arc::into_inner(self).expect("all threads have ended");
        shared.count.with(|count| {
            // SAFETY: no other thread is left.
            assert_eq!(unsafe { *count }, expected);
        });
        assert!(shared.lock.is_idle(), "a mark was left behind");
    }
}

/// `threads` threads count `rounds` times each under the lock. Fails if exclusion is broken, if a
/// section does not happen before the next, if a wake is lost, or if a mark is left.
pub fn exclusion<L: RawLock<Loom>>(threads: u32, rounds: u32, preemptions: usize) {
    let what = format!("{}, {threads} × {rounds}", L::INFO.name);
    loom_platform::model(&what, preemptions, move || {
        let shared = Shared::<L>::new();
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let shared = Arc::clone(&shared);
                loom_platform::spawn(move || shared.lock_and_count(rounds))
            })
            .collect();
        shared.lock_and_count(rounds);
        for other in others {
            other.join().expect("the other thread ends");
        }
        shared.end(threads * rounds);
    });
}

/// One thread waits for the lock while another attempts to acquire it, twice.
pub fn attempt<L: RawLock<Loom>>(preemptions: usize) {
    let what = format!("{}, attempts", L::INFO.name);
    loom_platform::model(&what, preemptions, || {
        let shared = Shared::<L>::new();
        let other = {
            let shared = Arc::clone(&shared);
            loom_platform::spawn(move || shared.lock_and_count(1))
        };
        let attempts = shared.try_lock_and_count() + shared.try_lock_and_count();
        other.join().expect("the other thread ends");
        shared.end(attempts + 1);
    });
}
