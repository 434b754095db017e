//! The condition variable with the other locks, as programs use it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ondeck::{Condvar, FairMutex, Mutex, ReentrantMutex, RwLock};

use crate::rest::until_at_rest;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn a_wait_without_a_notification_has_the_lock_again() {
    let (fair, lock, reentrant) = (FairMutex::new(()), RwLock::new(()), ReentrantMutex::new(()));
    let condvar = Condvar::new();
    let mut guard = fair.lock();
    assert!(condvar.wait_for(&mut guard, SHORT).timed_out() && fair.is_locked());
    let mut guard = lock.read();
    assert!(condvar.wait_for(&mut guard, SHORT).timed_out());
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    drop(guard);
    let mut guard = lock.write();
    assert!(condvar.wait_for(&mut guard, SHORT).timed_out() && lock.is_locked_exclusive());
    let mut guard = reentrant.lock();
    assert!(condvar.wait_for(&mut guard, SHORT).timed_out());
    assert!(reentrant.is_owned_by_current_thread());
    until_at_rest(&raw const condvar);
}

/// Waiters with each lock at one condition variable. Each section ends before the notification,
/// which therefore finds each waiter, or a condition that has become false.
#[test]
fn one_condvar_serves_all_locks_at_once() {
    let (mutex, fair) = (Mutex::new(false), FairMutex::new(false));
    let (lock, other) = (RwLock::new(false), RwLock::new(false));
    let reentrant = ReentrantMutex::new(Cell::new(false));
    let condvar = Condvar::new();
    watchdog::scope(|scope| {
        scope.spawn(|| condvar.wait_while(&mut mutex.lock(), |come| !*come));
        scope.spawn(|| condvar.wait_while(&mut fair.lock(), |come| !*come));
        scope.spawn(|| condvar.wait_while(&mut other.write(), |come| !*come));
        for _ in 0..2 {
            scope.spawn(|| {
                let mut come = lock.read();
                while !*come {
                    condvar.wait(&mut come);
                }
            });
        }
        scope.spawn(|| {
            let mut come = reentrant.lock();
            while !come.get() {
                condvar.wait(&mut come);
            }
        });
        *mutex.lock() = true;
        *fair.lock() = true;
        *other.write() = true;
        *lock.write() = true;
        reentrant.lock().set(true);
        condvar.notify_all();
    });
    until_at_rest(&raw const condvar);
}

#[test]
fn a_wait_with_one_of_two_reentrant_guards_panics() {
    let (mutex, condvar) = (ReentrantMutex::new(()), Condvar::new());
    let outer = mutex.lock();
    let mut guard = mutex.lock();
    let wait = AssertUnwindSafe(|| condvar.wait_for(&mut guard, SHORT));
    let message = *catch_unwind(wait).expect_err("a panic").downcast::<String>().expect("a text");
    assert!(message.contains("several guards of a reentrant mutex"), "{message}");
    assert!(!condvar.notify_one(), "no waiter is left");
    drop(outer);
    assert!(condvar.wait_for(&mut guard, SHORT).timed_out(), "the guard is still one");
    drop(guard);
    assert!(!mutex.is_locked());
    until_at_rest(&raw const condvar);
}
