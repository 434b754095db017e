//! The reader-writer lock as programs use it, with the guards of `lock_api`.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::platform::{Native, Platform};
use ondeck::rwlock::{RawRwLock, ReadRecursive};
use ondeck::{
    MappedRwLockReadGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};

use crate::until::until;
use crate::watchdog::{self, Watchdog};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn readers_share_it_and_a_writer_does_not() {
    let lock = RwLock::new(1);
    let (first, second) = (lock.read(), lock.read());
    assert_eq!((*first, *second), (1, 1));
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    assert!(lock.try_write().is_none());
    drop((first, second));
    assert!(!lock.is_locked());
    let mut writer = lock.try_write().expect("free");
    *writer = 2;
    assert!(lock.is_locked_exclusive());
    assert!(lock.try_read().is_none() && lock.try_read_recursive().is_none());
    assert!(lock.try_write().is_none() && lock.try_upgradable_read().is_none());
    drop(writer);
    assert_eq!(*lock.try_read().expect("free"), 2);
}

#[test]
fn an_upgradable_reader_is_beside_readers_and_alone_of_its_kind() {
    let lock = RwLock::new(1);
    let reader = lock.read();
    let upgradable = lock.upgradable_read();
    assert!(lock.try_upgradable_read().is_none() && lock.try_write().is_none());
    assert!(lock.try_read().is_some());
    let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("a reader");
    drop(reader);
    let mut writer = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect("alone");
    *writer += 1;
    assert!(lock.try_read().is_none());
    let upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
    assert!(lock.try_read().is_some() && lock.try_write().is_none());
    let reader = RwLockUpgradableReadGuard::downgrade(upgradable);
    assert!(lock.try_upgradable_read().is_some() && lock.try_write().is_none());
    assert_eq!(*reader, 2);
    drop(reader);
    let reader = RwLockWriteGuard::downgrade(lock.write());
    assert!(lock.try_read().is_some() && lock.try_write().is_none());
    drop(reader);
    assert!(!lock.is_locked());
}

#[test]
fn guards_can_be_mapped() {
    let lock = RwLock::new((1, 2));
    let second: MappedRwLockReadGuard<'_, i32> = RwLockReadGuard::map(lock.read(), |pair| &pair.1);
    assert_eq!(*second, 2);
    assert!(lock.try_write().is_none());
    drop(second);
    *RwLockWriteGuard::map(lock.write(), |pair| &mut pair.0) = 5;
    assert_eq!(*lock.read(), (5, 2));
}

#[test]
fn attempts_end_at_their_deadlines() {
    let lock = RwLock::new(());
    let reader = lock.read();
    let start = Instant::now();
    assert!(lock.try_write_for(SHORT).is_none());
    assert!(lock.try_write_until(Instant::now() + SHORT).is_none());
    assert!(start.elapsed() >= 2 * SHORT);
    // The attempts have left no state that keeps readers out.
    drop(lock.try_read().expect("no writer"));
    let upgradable = lock.upgradable_read();
    let upgradable = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, SHORT)
        .expect_err("there is a reader");
    assert!(lock.try_upgradable_read_for(SHORT).is_none());
    drop(lock.try_read().expect("no writer"));
    drop((reader, upgradable));
    let writer = lock.write();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            assert!(lock.try_read_for(SHORT).is_none());
            assert!(lock.try_read_until(Instant::now() + SHORT).is_none());
            assert!(lock.try_read_recursive_for(SHORT).is_none());
            assert!(lock.try_upgradable_read_until(Instant::now() + SHORT).is_none());
        });
    });
    drop(writer);
    assert!(lock.try_write_for(SHORT).is_some());
}

/// Waits until a writer waits for the readers of `lock`.
fn until_a_writer_waits(lock: &RwLock<u32>) {
    until(|| lock.try_read().is_none());
}

#[test]
fn a_writer_that_waits_keeps_readers_out_but_not_recursive_ones() {
    let lock = RwLock::new(0);
    let reader = lock.read();
    watchdog::scope(|scope| {
        scope.spawn(|| *lock.write() = 1);
        until_a_writer_waits(&lock);
        assert!(!lock.is_locked_exclusive());
        let inner = lock.read_recursive();
        assert_eq!((*inner, *reader), (0, 0));
        drop(inner);
        drop(reader);
        // The writer has acquired the lock before this reader, or has already finished.
        assert_eq!(*lock.read(), 1);
    });
}

/// Bumps the lock by its guard until another thread has written. It eventually parks, and then a
/// bump hands it the lock.
fn bump_until_written<G: Deref<Target = u32>>(
    lock: &RwLock<u32>,
    mut guard: G,
    bump: fn(&mut G),
) -> G {
    let before = *guard;
    watchdog::scope_within(Duration::from_mins(1), |scope| {
        scope.spawn(|| *lock.write() += 1);
        while *guard == before {
            thread::sleep(SHORT);
            bump(&mut guard);
            assert!(lock.try_write().is_none(), "it is held again");
        }
    });
    guard
}

#[test]
fn a_fair_unlock_and_a_bump_hand_it_over() {
    let lock = RwLock::new(0);
    let writer = bump_until_written(&lock, lock.write(), RwLockWriteGuard::bump);
    RwLockWriteGuard::unlock_fair(writer);
    drop(bump_until_written(&lock, lock.read(), RwLockReadGuard::bump));
    drop(bump_until_written(&lock, lock.upgradable_read(), RwLockUpgradableReadGuard::bump));
    assert_eq!(*lock.read(), 3);
}

#[test]
fn a_forgotten_guard_keeps_the_lock() {
    let lock = RwLock::new(0);
    std::mem::forget(lock.read());
    assert!(lock.try_write().is_none());
    assert!(lock.try_read().is_some());
    // SAFETY: the guard was forgotten.
    unsafe { lock.force_unlock_read(RawRwLock::forgotten(lock.raw())) };
    assert!(lock.try_write().is_some());
}

/// Runs `turn` in three threads until `body` has ended.
fn beside(turn: impl Fn() + Sync, body: impl FnOnce()) {
    let over = AtomicBool::new(false);
    watchdog::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    turn();
                }
            });
        }
        body();
        over.store(true, Ordering::Relaxed);
    });
}

/// A stream of overlapping readers does not keep a writer out.
#[test]
fn overlapping_readers_do_not_starve_a_writer() {
    let lock = RwLock::new(0);
    let read = || {
        // Recursive reads would keep the writer waiting forever.
        let _reader = lock.read();
        (0..100).for_each(|_| std::hint::spin_loop());
    };
    beside(read, || (0..100).for_each(|_| *lock.write() += 1));
    assert_eq!(lock.into_inner(), 100);
}

/// Writers that lock repeatedly keep out neither a reader nor another writer.
#[test]
fn busy_writers_starve_no_thread() {
    let lock = RwLock::new(0_u64);
    let write = || {
        let mut writer = lock.write();
        *writer += 1;
        (0..1_000).for_each(|_| std::hint::spin_loop());
    };
    beside(write, || {
        for _ in 0..20 {
            drop(lock.read());
            drop(lock.upgradable_read());
            drop(lock.write());
        }
    });
}

/// Waits until `lock` has rested and the process may make another heavy fence, so that the lock is
/// biased.
pub fn until_biased<T>(lock: &RwLock<T>) {
    let _watchdog = Watchdog::start("a bias", Duration::from_mins(1));
    // SAFETY: the call only queries the state.
    let raw = unsafe { lock.raw() };
    while !raw.is_biased() {
        raw.consider_bias();
    }
}

#[test]
fn a_lock_that_is_read_again_and_again_is_biased_until_it_is_written() {
    let lock = RwLock::new(1);
    until_biased(&lock);
    let reader = lock.read();
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    assert!(lock.try_write().is_none() && lock.try_write_for(SHORT).is_none());
    let inner = lock.read();
    drop(reader);
    assert!(lock.try_write().is_none());
    drop(inner);
    assert!(!lock.is_locked());
    *lock.try_write().expect("free") = 2;
    // SAFETY: the call only queries the state.
    assert!(!unsafe { lock.raw() }.is_biased());
    assert_eq!(*lock.read(), 2);
}

#[test]
fn a_visible_reader_keeps_an_upgrade_waiting() {
    let lock = RwLock::new(1);
    until_biased(&lock);
    let upgradable = lock.upgradable_read();
    let reader = lock.read();
    let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("a reader");
    let upgradable =
        RwLockUpgradableReadGuard::try_upgrade_for(upgradable, SHORT).expect_err("a reader");
    drop(reader);
    drop(RwLockUpgradableReadGuard::try_upgrade(upgradable).expect("alone"));
    assert!(!lock.is_locked());
}

#[test]
fn a_thread_reads_many_biased_locks_at_once() {
    let locks: Vec<_> = (0..100).map(RwLock::new).collect();
    locks.iter().for_each(until_biased);
    let readers: Vec<_> = locks.iter().map(RwLock::read).collect();
    assert!(locks.iter().all(|lock| lock.try_write().is_none()));
    // In another order than the locks.
    let (odd, even): (Vec<_>, Vec<_>) = readers.into_iter().partition(|reader| **reader % 2 == 1);
    drop(even);
    assert!(locks.iter().enumerate().all(|(at, lock)| lock.try_write().is_some() == (at % 2 == 0)));
    drop(odd);
    assert!(locks.iter().all(|lock| lock.try_write().is_some()));
}

/// A forgotten guard keeps its lock locked, but not a later lock at the same address.
#[test]
fn a_forgotten_guard_keeps_no_other_lock() {
    let _watchdog = Watchdog::start("a forgotten guard", Duration::from_mins(1));
    let mut place = Box::new(RwLock::new(1));
    until_biased(&place);
    std::mem::forget(place.read());
    assert!(place.try_write().is_none());
    *place = RwLock::new(2);
    for _ in 0..10_000 {
        drop(place.read());
    }
    assert_eq!(*place.write(), 2);
    // Its address stays in a row forever: a lock of another test there would never be biased.
    Box::leak(place);
}

/// Thread-local values are destroyed in some order: a lock is read before and after the thread has
/// lost its row.
#[test]
fn destructors_of_a_thread_read_biased_locks() {
    static LOCK: RwLock<u32> = RwLock::new(0);
    struct Reads(Option<RwLockReadGuard<'static, u32>>);
    impl Drop for Reads {
        fn drop(&mut self) {
            drop(LOCK.read());
            self.0 = None;
            drop(LOCK.read());
        }
    }
    thread_local!(static READS: std::cell::RefCell<Reads> = const { std::cell::RefCell::new(Reads(None)) });
    for first in [false, true] {
        until_biased(&LOCK);
        let thread = thread::spawn(move || {
            if first {
                drop(LOCK.read());
            }
            READS.with_borrow_mut(|reads| reads.0 = Some(LOCK.read()));
        });
        thread.join().expect("no panic");
        assert!(!LOCK.is_locked());
        assert!(LOCK.try_write().is_some());
    }
}

#[test]
fn another_thread_unlocks_a_counted_read() {
    let lock = RawRwLock::<Native>::new();
    lock.lock_shared_counted();
    assert!(lock.try_lock_shared_counted());
    assert!(!lock.try_lock_exclusive());
    for _ in 0..2 {
        // SAFETY: there are two counted reads.
        watchdog::scope(|scope| scope.spawn(|| unsafe { lock.unlock_shared_counted() }).join())
            .unwrap();
    }
    assert!(!lock.is_locked());
    assert!(lock.try_lock_exclusive());
    let deadline = Native::now().after(Duration::from_millis(1));
    assert!(!lock.try_lock_shared_counted_until(deadline));
    // SAFETY: locked above.
    unsafe { lock.unlock_exclusive() };
    assert!(lock.try_lock_shared_counted_until(deadline));
    // SAFETY: as above.
    unsafe { lock.unlock_shared_counted() };
    assert!(!lock.is_locked());
}

#[test]
fn what_a_downgrade_leaves_is_counted() {
    let lock = RawRwLock::<Native>::new();
    lock.lock_exclusive();
    // SAFETY: locked above; the next call unlocks the remaining read lock.
    unsafe {
        let _ = lock.downgrade();
        lock.unlock_shared_counted();
    }
    lock.lock_shared_recursive_counted();
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    // SAFETY: a recursive read is counted.
    unsafe { lock.unlock_shared_counted() };
    assert!(!lock.is_locked());
}
