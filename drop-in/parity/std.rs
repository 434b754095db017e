//! Uses each item of the standard library that docs/data/parity.md names once.

use std::hint;
use std::panic;
use std::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, OnceState, PoisonError,
    RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};
use std::thread;
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(1);

#[test]
fn a_mutex_is_tried_and_made_in_a_constant() {
    static LOCK: Mutex<u32> = Mutex::new(1);
    let guard: MutexGuard<'_, u32> = LOCK.lock().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(LOCK.try_lock().is_err()));
    });
    assert_eq!(*guard, 1);
}

#[test]
fn a_reader_writer_lock_is_tried_and_a_writer_becomes_a_reader() {
    static LOCK: RwLock<u32> = RwLock::new(1);
    let written: RwLockWriteGuard<'_, u32> = LOCK.write().unwrap();
    assert!(LOCK.try_read().is_err());
    let read: RwLockReadGuard<'_, u32> = RwLockWriteGuard::downgrade(written);
    assert!(LOCK.try_write().is_err() && LOCK.try_read().is_ok());
    assert_eq!(*read, 1);
}

#[test]
fn a_condition_variable_waits_while_and_until() {
    let (lock, condvar) = (Mutex::new(true), Condvar::new());
    let guard = lock.lock().unwrap();
    let (guard, ended): (_, WaitTimeoutResult) = condvar.wait_timeout(guard, MOMENT).unwrap();
    assert!(ended.timed_out() || *guard);
    let (guard, ended) = condvar.wait_timeout_while(guard, MOMENT, |it| *it).unwrap();
    assert!(ended.timed_out());
    drop(guard);
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.lock().unwrap() = false;
            condvar.notify_one();
        });
        let guard = condvar.wait_while(lock.lock().unwrap(), |it| *it).unwrap();
        assert!(!*guard);
    });
}

#[test]
fn a_once_is_forced() {
    static ONCE: Once = Once::new();
    panic::catch_unwind(|| ONCE.call_once(|| panic!("on purpose"))).unwrap_err();
    ONCE.call_once_force(|state: &OnceState| assert!(state.is_poisoned()));
    assert!(ONCE.is_completed());
}

#[test]
fn a_value_is_made_once() {
    static CELL: OnceLock<u32> = OnceLock::new();
    static LAZY: LazyLock<u32> = LazyLock::new(|| 2);
    assert_eq!((*CELL.get_or_init(|| 1), *LAZY), (1, 2));
}

#[test]
fn a_panic_poisons() {
    let lock = Arc::new(Mutex::new(1));
    let theirs = Arc::clone(&lock);
    let panicked = thread::spawn(move || {
        let _guard = theirs.lock();
        panic!("on purpose");
    });
    panicked.join().unwrap_err();
    assert_eq!(*lock.lock().unwrap_or_else(PoisonError::into_inner), 1);
}

#[test]
fn threads_meet_and_park() {
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            barrier.wait();
            thread::park_timeout(Duration::from_secs(600));
        });
        barrier.wait();
        hint::spin_loop();
        other.thread().unpark();
    });
}
