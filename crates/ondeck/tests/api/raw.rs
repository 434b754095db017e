//! Locks that are made at run time, and what their `Debug` implementations say.

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::Native;

use super::watchdog;

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

#[test]
fn a_condvar_made_at_run_time_has_no_waiters() {
    for condvar in [RawCondvar::<Native>::new(), RawCondvar::default()] {
        assert!(!condvar.has_waiters());
        assert_eq!((condvar.notify_one(), condvar.notify_all()), (0, 0));
        assert_eq!(format!("{condvar:?}"), "RawCondvar { has_waiters: false }");
    }
}

#[test]
fn a_condvar_says_that_it_has_a_waiter() {
    let (mutex, condvar) = (RawMutex::<Native>::new(), RawCondvar::<Native>::new());
    watchdog::scope(|scope| {
        scope.spawn(|| {
            mutex.lock();
            // SAFETY: locked above, and locked again when the wait is over.
            unsafe {
                assert!(condvar.wait(&mutex, None));
                mutex.unlock();
            }
        });
        while !condvar.has_waiters() {
            std::thread::yield_now();
        }
        // This thread got the mutex, so the waiter has unlocked it and waits.
        mutex.lock();
        assert_eq!(format!("{condvar:?}"), "RawCondvar { has_waiters: true }");
        assert_eq!(condvar.notify_all(), 1);
        assert!(!condvar.has_waiters());
        assert!(mutex.is_locked());
        // SAFETY: locked above.
        unsafe { mutex.unlock() };
    });
    assert!(!mutex.is_locked());
}
