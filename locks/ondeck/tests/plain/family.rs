//! Other locks, each with data that is not atomic.

use std::cell::UnsafeCell;

use ondeck::platform::Native;
use ondeck::rwlock::RawRwLock;
use ondeck::{Barrier, Latch, Once};

use super::{Freed, crew, round_count, soon, watched};

/// A lock, and the number that it guards.
struct Guarded<L> {
    lock: L,
    number: UnsafeCell<u32>,
}

// SAFETY: `number` is accessed only as the lock allows.
unsafe impl<L: Sync> Sync for Guarded<L> {}

impl<L> Guarded<L> {
    fn new(lock: L) -> Self {
        Self { lock, number: UnsafeCell::new(0) }
    }

    /// # Safety
    ///
    /// No other thread accesses the number during the call.
    unsafe fn add(&self) {
        // SAFETY: as the caller promises.
        unsafe { *self.number.get() += 1 };
    }

    /// # Safety
    ///
    /// No other thread writes the number during the call.
    unsafe fn get(&self) -> u32 {
        // SAFETY: as the caller promises.
        unsafe { *self.number.get() }
    }
}

#[test]
fn a_writer_excludes_readers_with_a_bias_and_without() {
    let _watchdog = watched();
    let shared = Guarded::new(RawRwLock::<Native>::new());
    let lock = &shared.lock;
    crew(4, |thread| {
        for round in 0..round_count() {
            // SAFETY: the lock allows each access, and each unlock matches a lock.
            unsafe {
                match (round + thread) % 4 {
                    0 => {
                        lock.lock_exclusive();
                        shared.add();
                        let held = lock.downgrade();
                        shared.get();
                        lock.unlock_shared(held);
                    }
                    1 => {
                        lock.lock_upgradable();
                        shared.get();
                        lock.upgrade();
                        shared.add();
                        lock.unlock_exclusive_fair();
                    }
                    2 => lock.consider_bias(),
                    _ => {
                        let held = lock.lock_shared();
                        shared.get();
                        lock.unlock_shared(held);
                        if let Some(held) = lock.try_lock_shared_until(soon(20)) {
                            shared.get();
                            lock.unlock_shared(held);
                        }
                    }
                }
            }
        }
    });
    assert_eq!(shared.number.into_inner(), 2 * round_count());
}

#[test]
fn what_was_done_before_a_latch_and_a_once_is_seen_after() {
    let _watchdog = watched();
    for _ in 0..round_count().div_ceil(4) {
        let latch = Guarded::new(Latch::<Native>::on_platform(1));
        let once = Guarded::new(Once::<Native>::on_platform());
        crew(3, |thread| {
            // SAFETY: only the first thread adds to one of the numbers, before it signals; and
            // only one thread adds to the other, in the closure that runs once.
            unsafe {
                if thread == 0 {
                    latch.add();
                    latch.lock.count_down();
                }
                once.lock.call_once(|| once.add());
                latch.lock.wait();
                assert_eq!((latch.get(), once.get()), (1, 1));
            }
        });
    }
}

/// Each wait of a barrier's last round may be the one that frees it.
#[test]
fn the_first_that_has_met_frees_the_barrier() {
    let _watchdog = watched();
    for _ in 0..round_count().div_ceil(10) {
        let barrier = Freed(Box::into_raw(Box::new(Barrier::<Native>::on_platform(3))));
        crew(3, |_| {
            let barrier = barrier.get();
            // SAFETY: it lives until all have arrived. Then only the leader uses it, if no wait
            // accesses it after that.
            unsafe {
                if (*barrier).wait().is_leader() {
                    drop(Box::from_raw(barrier));
                }
            }
        });
    }
}
