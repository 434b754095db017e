//! A notified waiter frees the condition variable, the mutex or both: the notifier does not touch again
//! what is freed.

use crate::condvar::{First, pair};
use crate::loom_platform::{Setting, join, spawn};
use crate::scenario::{HANDED, POLLS, SLEEPS, explore};

/// The waiter frees both as soon as it has been notified, while the notifier is still in its call.
fn the_waiter_frees(setting: Setting, preemptions: usize) {
    explore(setting, preemptions, || {
        let (shared, condition) = pair(First::Mutex);
        let waiter = spawn(move || {
            condition.wait_for_count(shared);
            // SAFETY: the notifier's last access to either was before this thread could go on, which is
            // what is checked. The notifier owns the mutex while it notifies, so by then it does not use
            // the condition variable's byte any more.
            unsafe {
                condition.free();
                shared.free();
            }
        });
        shared.lock();
        shared.count();
        condition.0.notify_one();
        shared.unlock();
        join(waiter);
    });
}

#[test]
fn the_waiter_frees_both() {
    the_waiter_frees(SLEEPS, 3);
}

#[test]
fn the_waiter_frees_both_handed_over() {
    the_waiter_frees(HANDED, 3);
}

/// A notified waiter frees both. The notifier, which does not own the mutex, may still be in its call.
fn a_notified_waiter_frees_both(setting: Setting, preemptions: usize) {
    explore(setting, preemptions, || {
        let (shared, condition) = pair(First::Mutex);
        let waiter = spawn(move || {
            shared.lock();
            let notified = shared.counted() == 0 && condition.wait(shared, None);
            shared.unlock();
            if notified {
                // SAFETY: there was no other waiter, so the notifier does not use either any more.
                unsafe {
                    condition.free();
                    shared.free();
                }
            }
            notified
        });
        shared.lock_and_count();
        condition.0.notify_one();
        if !join(waiter) {
            condition.end();
            shared.end(1);
        }
    });
}

#[test]
fn a_notified_waiter_frees_both_asleep() {
    a_notified_waiter_frees_both(SLEEPS, 4);
}

#[test]
fn a_notified_waiter_frees_both_polling() {
    a_notified_waiter_frees_both(POLLS, 4);
}

#[test]
fn a_notified_waiter_frees_both_handed_over() {
    a_notified_waiter_frees_both(HANDED, 4);
}

#[test]
fn a_notified_waiter_frees_both_polling_and_overdue() {
    a_notified_waiter_frees_both(Setting { polls: true, ..HANDED }, 3);
}

/// The waiter frees the mutex as soon as it has been notified. The notifier, which does not own the mutex,
/// may still be in its call.
fn the_waiter_frees_the_mutex(setting: Setting, preemptions: usize) {
    explore(setting, preemptions, || {
        let (shared, condition) = pair(First::Mutex);
        let waiter = spawn(move || {
            condition.wait_for_count(shared);
            // SAFETY: the notifier's section was before, and it now uses the condition variable only.
            unsafe { shared.free() };
        });
        shared.lock_and_count();
        condition.0.notify_one();
        join(waiter);
        condition.end();
    });
}

#[test]
fn the_waiter_frees_the_mutex_asleep() {
    the_waiter_frees_the_mutex(SLEEPS, 4);
}

#[test]
fn the_waiter_frees_the_mutex_polling() {
    the_waiter_frees_the_mutex(POLLS, 4);
}

#[test]
fn the_waiter_frees_the_mutex_handed_over() {
    the_waiter_frees_the_mutex(HANDED, 4);
}

#[test]
fn the_waiter_frees_the_mutex_polling_and_overdue() {
    the_waiter_frees_the_mutex(Setting { polls: true, ..HANDED }, 3);
}
