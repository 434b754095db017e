//! The reader-writer lock with the maximum number of read guards that it can count, which only
//! forgotten guards can reach.

use std::mem::forget;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use ondeck::rwlock::ReadRecursive;
use ondeck::{RwLock, RwLockUpgradableReadGuard};

use crate::again::{again, is_child};

/// The maximum number of guards.
const MOST: u32 = 1 << 23;
const SHORT: Duration = Duration::from_millis(1);

/// Forgets another `count` guards.
fn forget_guards(lock: &RwLock<u32>, count: u32) {
    for _ in 0..count {
        forget(lock.read_recursive());
    }
}

/// Each attempt fails, and each wait panics: none of them makes the count wrap to 0, which would
/// let a writer in.
#[test]
fn no_guard_is_given_beyond_the_most() {
    let lock = RwLock::new(7);
    let reader = lock.read_recursive();
    let upgradable = lock.upgradable_read();
    forget_guards(&lock, MOST - 1);
    assert!(lock.try_read().is_none() && lock.try_read_recursive().is_none());
    assert!(lock.try_write().is_none() && lock.try_write_for(SHORT).is_none());
    // The existing guard may become another one.
    forget(RwLockUpgradableReadGuard::downgrade(upgradable));
    for _ in 0..3 {
        assert!(lock.try_upgradable_read().is_none());
    }
    let panics = |call: &dyn Fn()| catch_unwind(AssertUnwindSafe(call)).is_err();
    assert!(panics(&|| forget(lock.read())));
    assert!(panics(&|| forget(lock.read_recursive())));
    assert!(panics(&|| forget(lock.try_read_for(SHORT))));
    assert!(panics(&|| forget(lock.upgradable_read())));
    assert!(panics(&|| forget(lock.try_upgradable_read_for(SHORT))));
    assert!(lock.is_locked() && lock.try_write().is_none());
    assert_eq!(*reader, 7);
}

/// A guard that was temporarily unlocked cannot be locked again, but would still be dropped.
#[test]
fn a_bump_that_cannot_end_ends_the_process() {
    static LOCK: RwLock<u32> = RwLock::new(7);
    if is_child() {
        let mut upgradable = LOCK.upgradable_read();
        forget_guards(&LOCK, MOST);
        thread::spawn(|| drop(LOCK.write()));
        // Does nothing until the writer has parked.
        loop {
            RwLockUpgradableReadGuard::bump(&mut upgradable);
            thread::sleep(SHORT);
        }
    }
    let output = again(|_| ());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{}: {told}", output.status);
    assert!(told.contains("given up for a moment cannot be had again"), "{told}");
}
