//! The mutex and the reader-writer lock with poisoning.

use std::panic::{self, AssertUnwindSafe};
use std::sync::TryLockError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::poison::{
    Condvar, MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex, MutexGuard,
    RwLock, RwLockReadGuard, RwLockWriteGuard,
};

use super::watchdog;
use crate::until::until;

/// Panics on purpose in a section of the lock.
fn panic_with<G>(lock: impl FnOnce() -> G) {
    let unwound = panic::catch_unwind(AssertUnwindSafe(|| {
        let _guard = lock();
        panic!("on purpose");
    }));
    assert!(unwound.is_err());
}

/// Returns a mutex whose owner panicked in the middle of a change.
fn poisoned() -> Mutex<u32> {
    let mutex = Mutex::new(1);
    panic_with(|| {
        let mut guard = mutex.lock().expect("not yet");
        *guard = 2;
        guard
    });
    mutex
}

/// Returns a reader-writer lock whose writer did the same.
fn poisoned_rwlock() -> RwLock<u32> {
    let lock = RwLock::new(1);
    panic_with(|| {
        let mut guard = lock.write().expect("not yet");
        *guard = 2;
        guard
    });
    lock
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
fn the_poison_can_be_cleared() {
    let mutex = poisoned();
    mutex.clear_poison();
    assert!(!mutex.is_poisoned());
    assert_eq!(*mutex.lock().expect("cleared"), 2);
}

/// A destructor that runs because of a panic may lock and unlock, because its section did not
/// panic.
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
fn a_guard_of_a_part_poisons_like_the_whole() {
    let mutex = Mutex::new((1, Some(2)));
    let guard = mutex.lock().expect("not poisoned");
    let whole = MutexGuard::filter_map(guard, |_| None::<&mut u32>).expect_err("no such part");
    let mut part = MutexGuard::filter_map(whole, |pair| pair.1.as_mut()).expect("there");
    *part += 1;
    assert_eq!(format!("{part:?} {part}"), "3 3");
    assert!(mutex.try_lock().is_err());
    let part = MappedMutexGuard::map(part, |part| part);
    let part = MappedMutexGuard::filter_map(part, |_| None::<&mut u32>).expect_err("none");
    let part = MappedMutexGuard::filter_map(part, |part| Some(part)).expect("there");
    drop(part);
    assert!(!mutex.is_poisoned() && mutex.try_lock().is_ok());
    panic_with(|| MutexGuard::map(mutex.lock().expect("not poisoned"), |pair| &mut pair.0));
    assert!(mutex.is_poisoned());
    mutex.clear_poison();
    let unwound = panic::catch_unwind(|| {
        let lock = mutex.lock().expect("cleared");
        drop(MutexGuard::map(lock, |_| -> &mut u32 { panic!("on purpose") }));
    });
    assert!(unwound.is_err() && mutex.is_poisoned(), "a part of the section panicked");
    assert!(mutex.try_lock().is_err_and(|told| matches!(told, TryLockError::Poisoned(_))));
}

/// A waiting thread learns of the panic of a thread that had the lock during the wait.
#[test]
fn a_wait_is_told_of_a_panic() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::default());
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| {
            let mut guard = mutex.lock().expect("not poisoned");
            *guard = 1;
            let told = condvar.wait(guard).expect_err("poisoned");
            assert_eq!(**told.get_ref(), 2);
        });
        let panics = scope.spawn(|| {
            // The other thread waits as soon as it has written, because its wait unlocks the mutex.
            loop {
                let mut guard = mutex.lock().expect("not poisoned");
                if *guard == 1 {
                    *guard = 2;
                    condvar.notify_one();
                    panic!("on purpose");
                }
                drop(guard);
                thread::yield_now();
            }
        });
        assert!(panics.join().is_err());
        waiter.join().expect("it is told");
    });
    assert!(mutex.is_poisoned());
}

#[test]
fn a_wait_with_a_time_ends_not_before_it() {
    const SHORT: Duration = Duration::from_millis(5);
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    let lock = || mutex.lock().expect("not poisoned");
    let start = Instant::now();
    let (guard, result) = condvar.wait_timeout(lock(), SHORT).expect("not poisoned");
    assert!(result.timed_out() && start.elapsed() >= SHORT);
    drop(guard);
    let waits = condvar.wait_timeout_while(lock(), SHORT, |value| *value == 0);
    assert!(waits.expect("not poisoned").1.timed_out());
    let waits = condvar.wait_timeout_while(lock(), Duration::MAX, |value| *value != 0);
    assert!(!waits.expect("not poisoned").1.timed_out(), "the condition did not hold");
    #[allow(deprecated, reason = "it is there for those that have it")]
    let waits = condvar.wait_timeout_ms(lock(), 1);
    assert!(!waits.expect("not poisoned").1);
    let has_looked = AtomicBool::new(false);
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| {
            let waits = condvar.wait_timeout_while(lock(), Duration::MAX, |value| {
                has_looked.store(true, Ordering::Relaxed);
                *value == 0
            });
            waits.expect("not poisoned").1.timed_out()
        });
        until(|| has_looked.load(Ordering::Relaxed));
        // The waiter has the mutex until it waits.
        *lock() = 1;
        condvar.notify_one();
        assert!(!waiter.join().expect("no panic"));
    });
    let poisoned = poisoned();
    let guard = poisoned.lock().expect_err("poisoned").into_inner();
    let told = condvar.wait_timeout(guard, SHORT).expect_err("still poisoned").into_inner();
    assert!(told.1.timed_out() && *told.0 == 2);
}

/// Once the time is over, the condition is checked once more at most.
#[test]
fn notifications_do_not_put_off_the_end_of_a_wait() {
    const TIME: Duration = Duration::from_millis(200);
    let (mutex, condvar, is_over) = (Mutex::new(()), Condvar::new(), AtomicBool::new(false));
    let (mut end, mut checks) = (None, 0);
    watchdog::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                condvar.notify_all();
                thread::sleep(Duration::from_millis(1));
            }
        });
        let lock = mutex.lock().expect("not poisoned");
        let waits = condvar.wait_timeout_while(lock, TIME, |()| {
            let now = Instant::now();
            // Later than the time at which the wait has begun.
            checks += u32::from(now >= *end.get_or_insert(now + TIME));
            checks < 10
        });
        is_over.store(true, Ordering::Relaxed);
        assert!(waits.expect("not poisoned").1.timed_out());
    });
    assert!(checks <= 1, "{checks}");
}

#[test]
fn a_writer_poisons_and_a_reader_does_not() {
    let lock = poisoned_rwlock();
    assert!(lock.is_poisoned());
    assert_eq!(**lock.read().expect_err("poisoned").get_ref(), 2);
    assert_eq!(**lock.write().expect_err("poisoned").get_ref(), 2);
    assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
    assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
    lock.clear_poison();
    panic_with(|| lock.read().expect("cleared"));
    assert!(!lock.is_poisoned());
    let mut lock = poisoned_rwlock();
    assert_eq!(**lock.get_mut().expect_err("poisoned").get_ref(), 2);
    assert_eq!(lock.into_inner().expect_err("poisoned").into_inner(), 2);
}

#[test]
fn guards_of_a_part_are_like_those_of_the_whole() {
    let lock = RwLock::new((1, Some(2)));
    let whole = lock.read().expect("no panic");
    let whole = RwLockReadGuard::filter_map(whole, |_| None::<&u32>).expect_err("no such part");
    let part = RwLockReadGuard::filter_map(whole, |pair| pair.1.as_ref()).expect("there");
    let part = MappedRwLockReadGuard::map(part, |part| part);
    let part = MappedRwLockReadGuard::filter_map(part, |_| None::<&u32>).expect_err("none");
    assert_eq!(format!("{part:?} {part}"), "2 2");
    assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    drop(RwLockReadGuard::map(lock.read().expect("no panic"), |pair| &pair.0));
    drop(part);
    let whole = lock.write().expect("no panic");
    let whole = RwLockWriteGuard::filter_map(whole, |_| None::<&mut u32>).expect_err("none");
    let mut part = RwLockWriteGuard::filter_map(whole, |pair| pair.1.as_mut()).expect("there");
    *part += 1;
    let part = MappedRwLockWriteGuard::map(part, |part| part);
    let part = MappedRwLockWriteGuard::filter_map(part, |_| None::<&mut u32>).expect_err("none");
    assert_eq!(format!("{part:?} {part}"), "3 3");
    assert!(lock.try_read().is_err());
    drop(part);
    assert!(lock.try_write().is_ok());
    let unwound = panic::catch_unwind(|| {
        let lock = lock.write().expect("not poisoned");
        drop(RwLockWriteGuard::map(lock, |_| -> &mut u32 { panic!("on purpose") }));
    });
    assert!(unwound.is_err() && lock.is_poisoned());
}

/// As in the standard library, a read guard is covariant in its reference, and `map` has two
/// arguments.
#[test]
fn its_guards_have_the_standard_librarys_types() {
    type Parts<'a, 'b> = (RwLockReadGuard<'a, &'b u32>, MappedRwLockReadGuard<'a, &'b u32>);
    fn shorter<'a>(guards: Parts<'a, 'static>, _: &'a u32) -> Parts<'a, 'a> {
        guards
    }
    fn is_sync(_: &impl Sync) {}
    let (lock, one) = (RwLock::new(&1), 1);
    let part = RwLockReadGuard::map::<&u32, _>(lock.read().expect("new"), |value| value);
    let guards = shorter((lock.read().expect("new"), part), &one);
    assert_eq!(**guards.0 + **guards.1, 2);
    is_sync(&guards);
    drop(guards);
    let part = RwLockWriteGuard::map::<&u32, _>(lock.write().expect("new"), |value| value);
    is_sync(&part);
    assert_eq!(**part, 1);
}

/// Compares the output of both libraries for the same locks, and for their guards, before and after
/// a panic in the last section.
macro_rules! shown_alike {
    ($Lock:ident, $value:expr, $($lock:ident)*, $last:ident) => {{
        let (ours, theirs) = ($Lock::from($value), std::sync::$Lock::from($value));
        let same = || {
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
            assert_eq!(format!("{ours:#?}"), format!("{theirs:#?}"));
        };
        same();
        $({
            let (own, other) = (ours.$lock().expect("new"), theirs.$lock().expect("new"));
            same();
            assert_eq!(format!("{own:?}"), format!("{other:?}"));
        })*
        panic_with(|| (ours.$last(), theirs.$last()));
        same();
        assert_eq!(format!("{:?}", ours.$last()), format!("{:?}", theirs.$last()));
    }};
}

#[test]
fn they_are_shown_as_the_standard_librarys() {
    shown_alike!(Mutex, vec![1], lock, lock);
    shown_alike!(RwLock, vec![1], read write, write);
    let (ours, theirs) = (Mutex::new(7), std::sync::Mutex::new(7));
    assert_eq!(ours.lock().expect("new").to_string(), theirs.lock().expect("new").to_string());
    assert_eq!(format!("{:?}", Condvar::new()), format!("{:?}", std::sync::Condvar::new()));
}

/// As the standard library's: a closure may borrow a guard and panic.
#[test]
fn guards_may_cross_a_panic() {
    use std::panic::{RefUnwindSafe, UnwindSafe};

    fn crosses<G: UnwindSafe + RefUnwindSafe>(guard: G) {
        drop(guard);
    }
    let (mutex, lock) = (Mutex::new(std::cell::Cell::new(0)), RwLock::new(0));
    crosses(mutex.lock().expect("no panic"));
    crosses(lock.read().expect("no panic"));
    crosses(lock.write().expect("no panic"));
}
