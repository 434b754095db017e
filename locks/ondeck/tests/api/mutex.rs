//! The mutex as programs use it.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::platform::Native;
use ondeck::{MappedMutexGuard, Mutex, MutexGuard};

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn an_attempt_fails_while_the_lock_is_held() {
    let mutex = Mutex::new(1);
    let guard = mutex.lock();
    watchdog::scope(|scope| {
        scope.spawn(|| assert!(mutex.try_lock().is_none()));
    });
    assert!(mutex.is_locked());
    drop(guard);
    assert!(!mutex.is_locked());
    assert_eq!(mutex.try_lock().as_deref(), Some(&1));
}

#[test]
fn an_attempt_with_a_deadline_gets_the_lock_that_is_unlocked_before() {
    let mutex = Mutex::new(0);
    let guard = mutex.lock();
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| mutex.try_lock_for(Duration::MAX).map(|guard| *guard));
        thread::sleep(SHORT);
        drop(guard);
        assert_eq!(waiter.join().expect("no panic"), Some(0));
    });
}

#[test]
fn a_fair_unlock_without_parked_threads_is_an_unlock() {
    let raw = <RawMutex<Native> as lock_api::RawMutex>::INIT;
    let mut guard = lock_api::RawMutex::lock(&raw);
    // SAFETY: held since the line above.
    unsafe {
        lock_api::RawMutexFair::bump(&raw, &mut guard);
        assert!(raw.is_locked());
        lock_api::RawMutexFair::unlock_fair(&raw, guard);
    }
    assert!(!raw.is_locked());
}

#[test]
fn guards_can_be_mapped() {
    let mutex = Mutex::new((1, 2));
    let mut second: MappedMutexGuard<'_, i32> = MutexGuard::map(mutex.lock(), |pair| &mut pair.1);
    *second += 1;
    drop(second);
    assert_eq!(*mutex.lock(), (1, 3));
}

#[test]
fn a_panic_in_a_section_unlocks() {
    let mutex = Arc::new(Mutex::new(0));
    let panicking = Arc::clone(&mutex);
    let ended = thread::spawn(move || {
        let _guard = panicking.lock();
        panic!("on purpose");
    })
    .join();
    assert!(ended.is_err());
    assert!(mutex.try_lock().is_some());
}

#[test]
fn a_lock_works_in_the_destructor_of_a_thread_local_value() {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    struct LocksOnDrop;
    impl Drop for LocksOnDrop {
        fn drop(&mut self) {
            *MUTEX.lock() += 1;
        }
    }
    thread_local!(static VALUE: Cell<Option<LocksOnDrop>> = const { Cell::new(None) });
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| VALUE.set(Some(LocksOnDrop)))).collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert_eq!(*MUTEX.lock(), 4);
}

/// A second panic would end the process.
#[test]
fn a_locked_mutex_may_be_dropped_by_a_panic() {
    let unwound = panic::catch_unwind(AssertUnwindSafe(|| {
        let mutex = Mutex::new(());
        std::mem::forget(mutex.lock());
        panic!("on purpose");
    }));
    let message = *unwound.expect_err("a panic").downcast::<&str>().expect("with a message");
    assert_eq!(message, "on purpose");
}

#[test]
fn a_mutex_made_at_run_time_is_free() {
    for mutex in [RawMutex::<Native>::new(), RawMutex::default()] {
        assert!(!mutex.is_locked());
        assert!(mutex.try_lock());
        assert!(mutex.is_locked());
        assert!(!mutex.try_lock());
        assert_eq!(format!("{mutex:?}"), "RawMutex { locked: true }");
        // SAFETY: locked above.
        unsafe { mutex.unlock() };
        assert_eq!(format!("{mutex:?}"), "RawMutex { locked: false }");
    }
}
