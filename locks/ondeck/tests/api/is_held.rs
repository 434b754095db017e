//! The question to a lock whether the calling thread holds it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use ondeck::{
    Condvar, FairMutex, IsHeld, Mutex, ReentrantMutex, RwLock, RwLockUpgradableReadGuard,
    RwLockWriteGuard, poison,
};

/// The answer of a build that observes, else none.
fn seen(answer: bool) -> Option<bool> {
    cfg!(debug_assertions).then_some(answer)
}

/// The answer to another thread.
fn elsewhere(lock: &(impl IsHeld + Sync)) -> Option<bool> {
    thread::scope(|scope| scope.spawn(|| lock.is_held_by_current_thread()).join().expect("none"))
}

#[test]
fn mutexes_know_their_owner_where_builds_observe() {
    let (mutex, fair, condvar) = (Mutex::new(()), FairMutex::new(()), Condvar::new());
    for lock in [&mutex as &dyn IsHeld, &fair] {
        assert_eq!(lock.is_held_by_current_thread(), Some(false), "it is free");
    }
    let (mut guard, fair_guard) = (mutex.lock(), fair.try_lock().expect("it is free"));
    for lock in [&mutex as &dyn IsHeld, &fair] {
        assert_eq!(lock.is_held_by_current_thread(), seen(true));
        lock.assert_held();
    }
    assert_eq!([elsewhere(&mutex), elsewhere(&fair)], [seen(false); 2]);
    let (poisoning, poisoning_lock) = (poison::Mutex::new(()), poison::RwLock::new(()));
    let _guards = (poisoning.lock(), poisoning_lock.write());
    assert_eq!(poisoning.is_held_by_current_thread(), seen(true));
    assert_eq!(poisoning_lock.is_held_by_current_thread(), seen(true));
    assert_eq!([elsewhere(&poisoning), elsewhere(&poisoning_lock)], [seen(false); 2]);
    condvar.wait_for(&mut guard, Duration::from_millis(1));
    mutex.assert_held();
    drop((guard, fair_guard));
    assert_eq!(mutex.is_held_by_current_thread(), Some(false));
}

#[test]
fn a_reader_writer_lock_knows_its_writer() {
    let lock = RwLock::new(());
    let reads = lock.upgradable_read();
    assert_eq!(lock.is_held_by_current_thread(), Some(false));
    let writes = RwLockUpgradableReadGuard::upgrade(reads);
    assert_eq!([lock.is_held_by_current_thread(), elsewhere(&lock)], [seen(true), seen(false)]);
    let reads = RwLockWriteGuard::downgrade_to_upgradable(writes);
    assert_eq!(lock.is_held_by_current_thread(), Some(false));
    let writes = RwLockUpgradableReadGuard::try_upgrade(reads).expect("no other reader");
    assert_eq!(lock.is_held_by_current_thread(), seen(true));
    drop(RwLockWriteGuard::downgrade(writes));
    assert_eq!(lock.is_held_by_current_thread(), Some(false));
}

#[test]
fn an_owner_is_known_in_every_build_where_the_lock_has_it() {
    let mutex = ReentrantMutex::new(());
    let (one, other) = (mutex.lock(), mutex.lock());
    drop(one);
    assert_eq!(mutex.is_held_by_current_thread(), Some(true));
    assert_eq!(elsewhere(&mutex), Some(false));
    drop(other);
    let panic = catch_unwind(AssertUnwindSafe(|| mutex.assert_held())).expect_err("a panic");
    assert_eq!(panic.downcast_ref(), Some(&"this thread does not hold the lock"));
}

#[test]
#[cfg(all(target_os = "linux", not(ondeck_system = "portable")))]
fn an_owner_with_inherited_priority_is_known() {
    let mutex = ondeck::PiMutex::new(());
    let guard = mutex.lock();
    assert_eq!([mutex.is_held_by_current_thread(), elsewhere(&mutex)], [Some(true), Some(false)]);
    drop(guard);
    assert_eq!(mutex.is_held_by_current_thread(), Some(false));
}
