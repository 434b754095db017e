//! Every item that parking_lot 0.12 exports, used once.

use std::time::Duration;

use parking_lot::lock_api::{RawRwLockRecursive, RawRwLockRecursiveTimed};
use parking_lot::{
    FairMutex, Mutex, RawRwLock, ReentrantMutex, RwLock, const_fair_mutex, const_mutex,
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
