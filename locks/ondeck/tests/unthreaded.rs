//! The system without threads, chosen by `--cfg ondeck_system="unthreaded"`
//! (`ci/systems.sh unthreaded`): an endless wait is a panic with that message, and a wait with a
//! deadline reaches it at once.
//!
//! Each test is one thread; they run one after the other.
#![cfg(ondeck_system = "unthreaded")]

use std::process::Command;
use std::time::Duration;

use ondeck::platform::{Native, Platform, Timestamp};
use ondeck::{Condvar, FairMutex, Latch, Mutex, RwLock, Semaphore};

#[test]
fn locks_that_are_free_are_locked() {
    let (mutex, lock) = (Mutex::new(0), RwLock::new(0));
    for _ in 0..1_000 {
        *mutex.lock() += 1;
        *lock.write() += 1;
        assert_eq!(*lock.read(), *mutex.lock());
    }
}

/// By the clock of the deadline.
#[track_caller]
fn lasts(timeout: Duration, wait: impl FnOnce()) {
    let before = Native::now();
    wait();
    let lasted = Native::now().since(before);
    assert!(lasted >= timeout, "{lasted:?} of {timeout:?}");
}

#[test]
fn waits_with_a_deadline_end() {
    for timeout in [1, 50, 5_000, 1_000_000_000].map(Duration::from_millis) {
        let mutex = Mutex::new(());
        let mut guard = mutex.lock();
        lasts(timeout, || assert!(mutex.try_lock_for(timeout).is_none()));
        // Its deadline is converted from the standard library's clock, which advances in the
        // meantime.
        assert!(Condvar::new().wait_for(&mut guard, timeout).timed_out());
        lasts(timeout, || assert!(!Latch::new(1).wait_for(timeout)));
    }
    // Many short waits in a row take no longer than their sum.
    let before = Native::now();
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let mut guard = mutex.lock();
    (0..10_000).for_each(|_| _ = condvar.wait_for(&mut guard, Duration::from_secs(1)));
    assert!(Native::now() < before.after(Duration::from_secs(10_000_000)));
    assert!(Native::now() < Timestamp::from_nanos(u64::MAX / 2));
}

/// Runs the deadlock of each name in a separate process.
#[test]
#[ignore = "a part of the next test, which runs it in processes of its own"]
fn a_deadlock() {
    match std::env::var("ONDECK_TEST_DEADLOCK").as_deref() {
        Ok("mutex") => {
            let mutex = FairMutex::new(());
            let _held = mutex.lock();
            drop(mutex.lock());
        }
        Ok("condvar") => {
            let mutex = Mutex::new(());
            Condvar::new().wait(&mut mutex.lock());
        }
        Ok("read") => {
            let lock = RwLock::new(());
            let _held = lock.write();
            drop(lock.read());
        }
        Ok("semaphore") => Semaphore::new(0).acquire(),
        Ok("latch") => Latch::new(1).wait(),
        other => panic!("{other:?}: no such deadlock"),
    }
}

#[test]
fn waits_without_an_end_are_reported() {
    for deadlock in ["mutex", "condvar", "read", "semaphore", "latch"] {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "a_deadlock", "--nocapture"])
            .env("ONDECK_TEST_DEADLOCK", deadlock)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&child.stderr);
        assert!(!child.status.success(), "{deadlock} ended");
        assert!(told.contains("deadlock: this thread waits"), "{deadlock}: {told}");
    }
}
