//! The mutex as programs use it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ondeck::mutex::RawMutex;
use ondeck::platform::Native;
use ondeck::{MappedMutexGuard, Mutex, MutexGuard};

use crate::rest::until_at_rest;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

/// Waits until `condition` holds, by what another thread is about to do.
fn eventually(condition: impl Fn() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_raw_mutex_is_one_byte_and_constant() {
    static CONSTANT: Mutex<()> = Mutex::new(());
    assert_eq!(size_of::<RawMutex<Native>>(), 1);
    assert_eq!(size_of_val(&CONSTANT), 1);
    drop(CONSTANT.lock());
}

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
fn an_attempt_with_a_deadline_ends_not_before_it() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    watchdog::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            assert!(mutex.try_lock_for(SHORT).is_none());
            assert!(start.elapsed() >= SHORT);
            let deadline = Instant::now() + SHORT;
            assert!(mutex.try_lock_until(deadline).is_none());
            assert!(Instant::now() >= deadline);
            assert!(mutex.try_lock_until(deadline).is_none(), "the deadline has long passed");
            assert!(mutex.try_lock_for(Duration::ZERO).is_none());
        });
    });
    drop(guard);
    assert!(mutex.try_lock_for(Duration::ZERO).is_some(), "a free lock needs no time");
    assert!(mutex.try_lock_until(Instant::now()).is_some(), "nor does it need a deadline");
    until_at_rest((&raw const mutex).addr());
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
fn a_fair_unlock_gives_the_lock_to_the_parked_thread() {
    let mutex = Mutex::new(0);
    let waiting = AtomicBool::new(false);
    watchdog::scope(|scope| {
        let guard = mutex.lock();
        scope.spawn(|| {
            waiting.store(true, Ordering::Relaxed);
            *mutex.lock() += 1;
        });
        eventually(|| waiting.load(Ordering::Relaxed));
        // Most likely long enough for the waiter to poll and to park. If it is not, the test passes as well.
        thread::sleep(Duration::from_millis(20));
        MutexGuard::unlock_fair(guard);
        let mut guard = mutex.lock();
        MutexGuard::bump(&mut guard);
        assert!(*guard <= 1);
    });
    assert_eq!(mutex.into_inner(), 1);
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
#[cfg(feature = "arc_lock")]
fn guards_can_own_a_share_of_the_mutex() {
    let guard = Arc::new(Mutex::new(5)).lock_arc();
    assert_eq!(*guard, 5);
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

#[test]
fn contended_increments_are_all_there() {
    let mutex = Mutex::new(0_u64);
    watchdog::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    *mutex.lock() += 1;
                }
            });
        }
    });
    until_at_rest((&raw const mutex).addr());
    assert_eq!(mutex.into_inner(), 160_000);
}
