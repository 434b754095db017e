//! Misuse is found by a list of the locks that each thread owns. In these cases that list is wrong, and the
//! mutex works all the same.

use std::panic::{self, AssertUnwindSafe};

use lock_api::GuardNoSend;
use ondeck::Mutex;

use super::watchdog;

#[test]
fn a_mutex_that_another_thread_unlocked_can_be_locked_again() {
    let mutex = Mutex::new(1);
    for _ in 0..3 {
        std::mem::forget(mutex.lock());
        watchdog::scope(|scope| {
            // SAFETY: no thread uses the value, and the thread that locked the mutex does not unlock it.
            scope.spawn(|| unsafe { mutex.force_unlock(GuardNoSend::new()) });
        });
        assert!(!mutex.is_locked());
    }
    assert_eq!(*mutex.lock(), 1);
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
