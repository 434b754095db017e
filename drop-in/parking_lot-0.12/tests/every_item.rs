//! Every item that parking_lot 0.12 exports, used once.

use std::time::Duration;

use parking_lot::lock_api::{RawMutex as _, RawRwLockRecursive, RawRwLockRecursiveTimed};
use parking_lot::{
    FairMutex, Mutex, MutexGuard, RawRwLock, ReentrantMutex, RwLock, const_fair_mutex, const_mutex,
    const_reentrant_mutex, const_rwlock,
};

#[path = "../../shared/tests/items.rs"]
mod items;

#[test]
fn constants_are_made_by_functions() {
    static MUTEX: Mutex<u32> = const_mutex(1);
    static FAIR: FairMutex<u32> = const_fair_mutex(2);
    static REENTRANT: ReentrantMutex<u32> = const_reentrant_mutex(3);
    static LOCK: RwLock<u32> = const_rwlock(4);
    assert_eq!(*MUTEX.lock() + *FAIR.lock() + *REENTRANT.lock() + *LOCK.read(), 10);
}

#[test]
fn recursive_reads_are_methods() {
    fn recursive<T: RawRwLockRecursive + RawRwLockRecursiveTimed>() {}
    recursive::<RawRwLock>();
    let lock = RwLock::new(1);
    let outer = lock.read();
    let inner = lock.read_recursive();
    assert!(lock.try_read_recursive().is_some());
    assert!(lock.try_read_recursive_for(Duration::from_millis(1)).is_some());
    drop((outer, inner));
    assert!(lock.try_write().is_some());
}

#[test]
fn guards_are_forgotten_and_made_anew() {
    let (mutex, lock) = (Mutex::new(1), RwLock::new(2));
    *MutexGuard::leak(mutex.lock()) += 1;
    // SAFETY: the mutex is locked, as its guard was leaked; nothing else uses what it protects.
    unsafe {
        assert_eq!((*mutex.data_ptr(), mutex.raw().is_locked()), (2, true));
        drop(mutex.make_guard_unchecked());
    }
    std::mem::forget(mutex.lock());
    // SAFETY: the lock's guard is forgotten, here and below.
    unsafe { mutex.force_unlock_fair() };
    assert!(!mutex.is_locked());
    std::mem::forget(lock.read());
    // SAFETY: as above.
    unsafe { lock.force_unlock_read() };
    std::mem::forget(lock.write());
    // SAFETY: as above.
    unsafe { lock.force_unlock_write_fair() };
    std::mem::forget(lock.upgradable_read());
    // SAFETY: as above.
    let upgradable = unsafe { lock.make_upgradable_guard_unchecked() };
    drop(upgradable);
    assert!(lock.try_write().is_some());
}
