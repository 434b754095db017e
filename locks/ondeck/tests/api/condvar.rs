//! The condition variable as programs use it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::Native;
use ondeck::{Condvar, Mutex};

use crate::rest::until_at_rest;
use crate::until::until;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn a_wait_without_a_notification_times_out_and_has_the_lock() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let mut guard = mutex.lock();
    assert!(condvar.wait_for(&mut guard, SHORT).timed_out());
    assert!(mutex.is_locked());
    drop(guard);
    assert!(!condvar.notify_one(), "a waiter that timed out is gone");
    until_at_rest(&raw const condvar);
}

#[test]
fn notifications_say_how_many_they_reached() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    let woken = AtomicUsize::new(0);
    watchdog::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                let mut waiting = mutex.lock();
                *waiting += 1;
                condvar.wait(&mut waiting);
                woken.fetch_add(1, Ordering::Relaxed);
            });
        }
        // A thread that has counted itself and unlocked the mutex is already waiting.
        until(|| *mutex.lock() >= 5);
        assert!(condvar.notify_one());
        let guard = mutex.lock();
        assert_eq!(condvar.notify_all(), 4);
        assert_eq!(condvar.notify_all(), 0);
        drop(guard);
    });
    assert_eq!(woken.into_inner(), 5);
}

#[test]
fn a_condition_can_be_waited_for_with_a_deadline() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    let mut guard = mutex.lock();
    assert!(condvar.wait_while_for(&mut guard, |value| *value == 0, SHORT).timed_out());
    *guard = 1;
    assert!(!condvar.wait_while_for(&mut guard, |value| *value == 0, SHORT).timed_out());
}

#[test]
fn waiters_of_one_condvar_may_use_different_mutexes() {
    let mutexes = [Mutex::new(0), Mutex::new(0), Mutex::new(0)];
    let condvar = Condvar::new();
    watchdog::scope(|scope| {
        for mutex in &mutexes {
            scope.spawn(|| {
                let mut state = mutex.lock();
                *state = 1;
                condvar.wait(&mut state);
                *state = 2;
            });
        }
        until(|| mutexes.iter().all(|mutex| *mutex.lock() != 0));
        assert_eq!(condvar.notify_all(), 3);
    });
    assert!(mutexes.into_iter().all(|mutex| mutex.into_inner() == 2));
}

/// Two threads wait, the first for much longer than the second. One is notified, then the other.
/// Returns whether they were notified in the order of their arrival.
fn are_notified_in_the_order_of_arrival() -> bool {
    let (mutex, condvar) = (Mutex::new(false), Condvar::new());
    let first_notified = AtomicUsize::new(usize::MAX);
    watchdog::scope(|scope| {
        for number in 0..2 {
            let (mutex, condvar, first_notified) = (&mutex, &condvar, &first_notified);
            scope.spawn(move || {
                let mut waits = mutex.lock();
                *waits = true;
                condvar.wait(&mut waits);
                drop(waits);
                let order = Ordering::Relaxed;
                let _ = first_notified.compare_exchange(usize::MAX, number, order, order);
            });
            until(|| std::mem::take(&mut *mutex.lock()));
            if number == 0 {
                thread::sleep(SHORT);
            }
        }
        assert!(condvar.notify_one());
        until(|| first_notified.load(Ordering::Relaxed) != usize::MAX);
        assert!(condvar.notify_one());
    });
    first_notified.into_inner() == 0
}

#[test]
fn an_overdue_waiter_is_notified_first() {
    // Occasionally an overdue thread of another test's lock in the same bucket has been served just
    // before.
    assert!((0..100).any(|_| are_notified_in_the_order_of_arrival()));
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
        until(|| condvar.has_waiters());
        // This thread has acquired the mutex, so the waiter has unlocked it and waits.
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
