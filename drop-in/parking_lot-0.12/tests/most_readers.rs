//! Takes the maximum number of read guards that a lock can count. Deadlock detection would keep a
//! list of them.
#![cfg(not(feature = "deadlock_detection"))]

use std::mem::forget;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use parking_lot::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard};

/// Set in the child.
const CHILD: &str = "ONDECK_TEST_CHILD";
const MOST: u32 = 1 << 23;

/// Checks that `test`, run in a child process, ends that process with SIGABRT.
fn aborts(test: &str, child: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        child();
        return;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("the child starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(6), "{}: {told}", output.status);
    assert!(told.contains("2^23 read guards"), "{told}");
}

fn forget_guards(lock: &RwLock<u32>, count: u32) {
    for _ in 0..count {
        forget(lock.read_recursive());
    }
}

/// If it unwound, the guard would be dropped although it is not held.
#[test]
fn a_guard_that_is_given_up_and_cannot_be_had_again_ends_the_process() {
    aborts("a_guard_that_is_given_up_and_cannot_be_had_again_ends_the_process", || {
        let lock = RwLock::new(1);
        let mut reader = lock.read_recursive();
        RwLockReadGuard::unlocked(&mut reader, || forget_guards(&lock, MOST));
    });
}

#[test]
fn an_upgradable_guard_ends_it_too() {
    aborts("an_upgradable_guard_ends_it_too", || {
        let lock = RwLock::new(1);
        let mut reader = lock.upgradable_read();
        RwLockUpgradableReadGuard::unlocked(&mut reader, || forget_guards(&lock, MOST));
    });
}
