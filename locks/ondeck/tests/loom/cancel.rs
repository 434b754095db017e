//! Waits that are driven step by step: cancelled while they are notified, and without a mutex of
//! this crate.

use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::platform::{FutexWait, Platform};

use crate::condvar::{Condition, First, Notify, count_and, notify_all, notify_one_twice, pair};
use crate::loom_platform::{Loom, join, spawn};
use crate::scenario::{LATE, ONE_BUCKET, POLLS, SLEEPS, Shared, explored};

/// Takes the first step of a wait that has begun, and cancels it instead of a sleep. Returns
/// whether it was notified before.
fn cancelled(waiter: &Waiter<Loom>) -> bool {
    // SAFETY: the wait has begun, and is not used after this.
    match unsafe { waiter.step(FutexWait::Woken) } {
        Step::Done { notified } => notified,
        Step::Sleep { .. } => {
            // SAFETY: as above.
            unsafe { waiter.cancel() };
            false
        }
    }
}

/// Begins to wait and is cancelled as soon as it sleeps: the caller owns the mutex, before and
/// after. Returns whether it was notified before it slept.
fn wait_cancelled(condition: &Condition, shared: &Shared) -> bool {
    let waiter = Waiter::new(condition.raw(), Some(shared.raw()), None);
    // SAFETY: the scenarios call it when they own the mutex; the waiter stays here.
    unsafe { waiter.begin() };
    let notified = cancelled(&waiter);
    // Loom reports a race if it returned without the mutex.
    let _ = shared.counted();
    notified
}

/// Waits for a notification. `own` is a lock unknown to the condition variable; the caller owns it,
/// before and after.
fn wait_without(condition: &Condition, own: &Shared) {
    let waiter = Waiter::<Loom>::new(condition.raw(), None, None);
    // SAFETY: the waiter stays here.
    unsafe { waiter.begin() };
    own.unlock();
    let mut slept = FutexWait::Woken;
    // SAFETY: the wait has begun, and no step is taken after the last one.
    while let Step::Sleep { word, expected, until } = unsafe { waiter.step(slept) } {
        // SAFETY: a word of the waiter.
        slept = Loom::futex_wait(unsafe { &*word }, expected, until);
    }
    // From here on a notifier must not access it.
    drop(waiter);
    own.lock();
}

/// Waits without a mutex of this crate until a thread has counted.
fn wait_for_count_without(condition: &Condition, own: &Shared) {
    own.lock();
    while own.counted() == 0 {
        wait_without(condition, own);
    }
    own.unlock();
}

/// Two threads wait, and one of them is cancelled while one is notified. The other one continues,
/// because the cancelled one leaves it the notification.
fn cancelled_beside_a_waiter(place: Notify) {
    let (shared, condition) = pair(First::Mutex);
    let cancelled = spawn(move || {
        shared.lock();
        let notified = shared.counted() == 0 && wait_cancelled(condition, shared);
        shared.unlock();
        if notified {
            // It was not cancelled, and does not need the notification.
            condition.raw().notify_one();
        }
    });
    let waiter = spawn(move || condition.wait_for_count(shared));
    count_and(shared, place, || condition.raw().notify_one());
    join(cancelled);
    join(waiter);
    condition.end();
    shared.end(1);
}

fn cancelled_beside_a_notifier_that_frees() {
    let (shared, condition) = pair(First::Mutex);
    let cancelled = spawn(move || {
        shared.lock();
        if shared.counted() == 0 {
            wait_cancelled(condition, shared);
        }
        shared.unlock();
    });
    let told = count_and(shared, Notify::Inside, || condition.raw().notify_one());
    if told == 1 {
        // The thread that was blocked on it was notified.
        condition.free();
    }
    join(cancelled);
    if told == 0 {
        condition.end();
    }
    shared.end(1);
}

/// A waiter without a mutex of this crate and one with a mutex wait for the same thing.
fn beside_a_mutex(notify: fn(&RawCondvar<Loom>)) {
    let (shared, condition) = pair(First::Mutex);
    let own = Shared::new();
    let foreign = spawn(move || wait_for_count_without(condition, own));
    let waiter = spawn(move || condition.wait_for_count(shared));
    own.section();
    shared.section();
    notify(condition.raw());
    join(foreign);
    join(waiter);
    condition.end();
    own.end(1);
    shared.end(1);
}

fn two_without_a_mutex() {
    let (own, condition) = pair(First::Mutex);
    let waiters = [0; 2].map(|_| spawn(move || wait_for_count_without(condition, own)));
    own.section();
    condition.raw().notify_all();
    waiters.into_iter().for_each(join);
    condition.end();
    own.end(1);
}

fn cancelled_without_a_mutex() {
    let (shared, condition) = pair(First::Mutex);
    let waiter = spawn(move || condition.wait_for_count(shared));
    let foreign = Waiter::<Loom>::new(condition.raw(), None, None);
    // SAFETY: it stays here.
    unsafe { foreign.begin() };
    let signals = spawn(move || {
        shared.section();
        condition.raw().notify_one();
    });
    let notified = cancelled(&foreign);
    // From here on the notifier must not access it.
    drop(foreign);
    if notified {
        condition.raw().notify_one();
    }
    join(signals);
    join(waiter);
    condition.end();
    shared.end(1);
}

fn freed_without_a_mutex() {
    let (own, condition) = pair(First::Mutex);
    let waiter = spawn(move || {
        own.lock();
        let waits = own.counted() == 0;
        if waits {
            wait_without(condition, own);
        }
        own.unlock();
        if waits {
            // There was no other waiter, so the notifier no longer uses it.
            condition.free();
        }
        waits
    });
    own.section();
    condition.raw().notify_one();
    if !join(waiter) {
        condition.end();
    }
    own.end(1);
}

explored! {
    fn a_cancelled_waiter_leaves_its_notification_to_another on SLEEPS, 3 =>
        || cancelled_beside_a_waiter(Notify::Inside);
    fn a_cancelled_waiter_leaves_its_notification_to_another_outside on SLEEPS, 2 =>
        || cancelled_beside_a_waiter(Notify::Outside);
    fn a_cancelled_waiter_leaves_its_notification_to_another_polling on POLLS, 2 =>
        || cancelled_beside_a_waiter(Notify::Outside);
    fn a_cancelled_waiter_leaves_its_notification_to_another_late on LATE, 2 =>
        || cancelled_beside_a_waiter(Notify::Outside);
    fn a_cancelled_waiter_leaves_its_notification_to_another_in_one_bucket on ONE_BUCKET, 1 =>
        || cancelled_beside_a_waiter(Notify::Outside);
    /// One thread waits and is cancelled while it is notified. The notifier frees the condition
    /// variable as soon as it has notified it.
    fn a_cancelled_waiter_does_not_touch_a_freed_condition_variable on SLEEPS, 3 =>
        cancelled_beside_a_notifier_that_frees;
    fn a_waiter_without_a_mutex_beside_one_with_a_mutex on SLEEPS, 1 => || beside_a_mutex(notify_all);
    fn a_waiter_without_a_mutex_beside_one_with_a_mutex_polling on POLLS, 1 => || beside_a_mutex(notify_all);
    fn a_signal_each_for_a_waiter_without_a_mutex_and_one_with_a_mutex on SLEEPS, 1 =>
        || beside_a_mutex(notify_one_twice);
    /// Two threads wait without a mutex of this crate and are notified together. The last one frees
    /// the condition variable.
    fn waiters_without_a_mutex_are_notified_together on SLEEPS, 1 => two_without_a_mutex;
    /// A thread waits without a mutex of this crate, and is cancelled while one waiter is notified.
    /// Another waiter, which has a mutex, continues, because the cancelled one leaves it the
    /// notification.
    fn a_cancelled_waiter_without_a_mutex_leaves_its_notification_to_another on SLEEPS, 2 =>
        cancelled_without_a_mutex;
    /// A thread waits without a mutex of this crate. It frees the condition variable as soon as it
    /// was notified.
    fn a_waiter_without_a_mutex_frees_the_condition_variable on SLEEPS, 3 => freed_without_a_mutex;
}
