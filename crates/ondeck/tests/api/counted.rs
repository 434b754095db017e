//! Reads of a reader-writer lock that any thread may unlock.

use std::time::Duration;

use ondeck::platform::{Native, Platform};
use ondeck::rwlock::RawRwLock;

use super::watchdog;

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
    // SAFETY: locked above; what it leaves is unlocked by the next call.
    unsafe {
        let _ = lock.downgrade();
        lock.unlock_shared_counted();
    }
    let _ = lock.lock_shared_recursive();
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    // SAFETY: a recursive read is counted.
    unsafe { lock.unlock_shared_counted() };
    assert!(!lock.is_locked());
}
