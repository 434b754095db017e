//! A notified waiter frees the condition variable, the mutex or both: the notifier does not access
//! the freed memory.

use crate::condvar::{First, Notify, count_and, pair};
use crate::loom_platform::{Setting, join, spawn};
use crate::scenario::{LATE, POLLS, SLEEPS, explored};

/// The waiter frees both as soon as it has been notified, while the notifier is still in its call.
/// The notifier owns the mutex while it notifies, so it no longer uses the condition variable's
/// byte at that time.
fn the_waiter_frees() {
    let (shared, condition) = pair(First::Mutex);
    let waiter = spawn(move || {
        condition.wait_for_count(shared);
        condition.free();
        shared.free();
    });
    count_and(shared, Notify::Inside, || condition.raw().notify_one());
    join(waiter);
}

/// A notified waiter, which is the only one, frees both. The notifier, which does not own the
/// mutex, may still be in its call.
fn a_notified_waiter_frees_both() {
    let (shared, condition) = pair(First::Mutex);
    let waiter = spawn(move || {
        shared.lock();
        let notified = shared.counted() == 0 && condition.wait(shared, None);
        shared.unlock();
        if notified {
            condition.free();
            shared.free();
        }
        notified
    });
    shared.section();
    condition.raw().notify_one();
    if !join(waiter) {
        condition.end();
        shared.end(1);
    }
}

/// The waiter frees the mutex as soon as it has been notified. The notifier, whose section is over,
/// may still be in its call.
fn the_waiter_frees_the_mutex() {
    let (shared, condition) = pair(First::Mutex);
    let waiter = spawn(move || {
        condition.wait_for_count(shared);
        shared.free();
    });
    shared.section();
    condition.raw().notify_one();
    join(waiter);
    condition.end();
}

const POLLS_AND_LATE: Setting = Setting { polls: true, ..LATE };

explored! {
    fn the_waiter_frees_both on SLEEPS, 3 => the_waiter_frees;
    fn the_waiter_frees_both_late on LATE, 3 => the_waiter_frees;
    fn a_notified_waiter_frees_both_asleep on SLEEPS, 4 => a_notified_waiter_frees_both;
    fn a_notified_waiter_frees_both_polling on POLLS, 4 => a_notified_waiter_frees_both;
    fn a_notified_waiter_frees_both_late on LATE, 4 => a_notified_waiter_frees_both;
    fn a_notified_waiter_frees_both_polling_and_overdue on POLLS_AND_LATE, 3 => a_notified_waiter_frees_both;
    fn the_waiter_frees_the_mutex_asleep on SLEEPS, 4 => the_waiter_frees_the_mutex;
    fn the_waiter_frees_the_mutex_polling on POLLS, 4 => the_waiter_frees_the_mutex;
    fn the_waiter_frees_the_mutex_late on LATE, 4 => the_waiter_frees_the_mutex;
    fn the_waiter_frees_the_mutex_polling_and_overdue on POLLS_AND_LATE, 3 => the_waiter_frees_the_mutex;
}
