//! The mutex that remembers a panic.

use std::panic::{self, AssertUnwindSafe};
use std::sync::TryLockError;
use std::thread;

use ondeck::poison::{Mutex, MutexGuard};

/// A mutex whose owner panicked in the middle of a change.
fn poisoned() -> Mutex<u32> {
    let mutex = Mutex::new(1);
    let half_way = panic::catch_unwind(|| {
        let mut guard = mutex.lock().expect("not yet");
        *guard = 2;
        panic!("on purpose");
    });
    assert!(half_way.is_err());
    mutex
}

#[test]
fn a_mutex_is_not_poisoned_without_a_panic() {
    let mutex = Mutex::new(1);
    *mutex.lock().expect("no panic") += 1;
    *mutex.try_lock().expect("free, and no panic") += 1;
    assert!(!mutex.is_poisoned());
    assert_eq!(mutex.into_inner().expect("no panic"), 3);
    assert_eq!(*Mutex::<u32>::default().lock().expect("no panic"), 0);
}

#[test]
fn a_thread_that_locks_after_a_panic_is_told_and_has_the_lock() {
    let mutex = poisoned();
    assert!(mutex.is_poisoned());
    let guard = mutex.lock().expect_err("poisoned").into_inner();
    assert_eq!(*guard, 2, "the value is as the panic left it");
    assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)), "it is locked");
    drop(guard);
    let Err(TryLockError::Poisoned(told)) = mutex.try_lock() else { panic!("not told") };
    assert_eq!(**told.get_ref(), 2);
    drop(told);
    assert!(mutex.is_poisoned(), "a section without a panic puts nothing right");
    assert_eq!(mutex.into_inner().expect_err("poisoned").into_inner(), 2);
}

#[test]
fn an_attempt_at_a_held_mutex_would_block() {
    let mutex = Mutex::new(1);
    let guard = mutex.lock().expect("no panic");
    thread::scope(|scope| {
        scope.spawn(|| assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock))));
    });
    drop(guard);
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn the_poison_can_be_cleared() {
    let mutex = poisoned();
    mutex.clear_poison();
    assert!(!mutex.is_poisoned());
    assert_eq!(*mutex.lock().expect("cleared"), 2);
}

/// A destructor that runs because of a panic may lock and unlock, because its section did not panic.
#[test]
fn a_section_that_begins_after_the_panic_does_not_poison() {
    struct Uses<'a>(&'a Mutex<u32>);
    impl Drop for Uses<'_> {
        fn drop(&mut self) {
            assert!(thread::panicking());
            *self.0.lock().expect("not poisoned") += 1;
        }
    }
    let mutex = Mutex::new(1);
    let unwound = panic::catch_unwind(AssertUnwindSafe(|| {
        let _uses = Uses(&mutex);
        panic!("on purpose");
    }));
    assert!(unwound.is_err());
    assert!(!mutex.is_poisoned());
    assert_eq!(mutex.into_inner().expect("not poisoned"), 2);
}

#[test]
fn it_shows_its_value_unless_it_is_held() {
    let mutex = poisoned();
    let shown = format!("{mutex:?}");
    assert!(shown.contains('2') && shown.contains("poisoned: true"), "{shown}");
    mutex.clear_poison();
    let guard: MutexGuard<'_, u32> = mutex.lock().expect("cleared");
    assert_eq!(format!("{guard:?}"), "2");
    let shown = format!("{mutex:?}");
    assert!(shown.contains("locked") && shown.contains("poisoned: false"), "{shown}");
}
