//! Waits that are driven step by step: cancelled, and without a mutex of this crate.
//!
//! A thread that never makes its waiter's sleep may drive several waiters, one after the other. So
//! the test controls the events between a notification and a cancellation.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::mutex::RawMutex;
use ondeck::platform::{FutexWait, Linux, Platform, Timestamp};

use super::hooked_platform::{Calls, Hooked, calls_of, hooks, until};
use super::{unlock, watched};

hooks! {
    /// No thread polls, and none is overdue.
    Stepwise {
        fn ticks_in(nanos: u32) -> usize {
            const EVER: usize = 1 << 40;
            if nanos < 500_000 { Linux::ticks_in(nanos) } else { EVER }
        }
    }
}

type Machine = Hooked<Stepwise>;
type Condvar = RawCondvar<Machine>;

/// The tests share a table.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `test` alone with the table, and checks that the table is at rest afterwards.
fn alone(test: impl FnOnce()) {
    let _watchdog = watched();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    test();
    Machine::until_at_rest();
}

struct Parked(Box<Waiter<Machine>>);

impl Parked {
    /// Without a mutex.
    fn foreign(condvar: &Condvar) -> Self {
        Self::begin(condvar, None, None)
    }

    /// With a mutex, which the caller owns.
    fn with(condvar: &Condvar, mutex: &RawMutex<Machine>) -> Self {
        Self::begin(condvar, Some(mutex), None)
    }

    fn begin(
        condvar: &Condvar,
        mutex: Option<&RawMutex<Machine>>,
        deadline: Option<Timestamp>,
    ) -> Self {
        let waiter = Self(Box::new(Waiter::new(condvar, mutex, deadline)));
        // SAFETY: the waiter is in a box, and each test ends its wait.
        unsafe { waiter.0.begin() };
        assert!(waiter.sleeps(), "it has just begun");
        waiter
    }

    fn step(&self, slept: FutexWait) -> Step<Machine> {
        // SAFETY: no test takes another step after the last one.
        unsafe { self.0.step(slept) }
    }

    /// Returns whether its wait continues.
    fn sleeps(&self) -> bool {
        matches!(self.step(FutexWait::Woken), Step::Sleep { .. })
    }

    /// Ends its wait.
    fn is_notified(&self) -> bool {
        matches!(self.step(FutexWait::Woken), Step::Done { notified: true })
    }

    fn cancel(&self) {
        // SAFETY: no test takes a step after this.
        unsafe { self.0.cancel() };
    }
}

#[test]
fn waiters_without_a_mutex_are_woken() {
    alone(|| {
        let condvar = Condvar::new();
        let waiters = [0; 2].map(|_| Parked::foreign(&condvar));
        let Calls { wakes, .. } = calls_of(|| assert_eq!(condvar.notify_all(), 2));
        assert_eq!(wakes, 2);
        assert!(!condvar.has_waiters());
        assert!(waiters.iter().all(Parked::is_notified));
    });
}

#[test]
fn the_newest_waiter_is_notified_with_or_without_a_mutex() {
    alone(|| {
        let (mutex, condvar) = (RawMutex::new(), Condvar::new());
        let oldest = Parked::foreign(&condvar);
        mutex.lock();
        let middle = Parked::with(&condvar, &mutex);
        let newest = Parked::foreign(&condvar);
        assert_eq!(condvar.notify_one(), 1);
        assert!(newest.is_notified());
        assert_eq!(condvar.notify_one(), 1);
        assert!(oldest.sleeps());
        assert!(middle.is_notified());
        assert!(mutex.is_locked());
        unlock(&mutex);
        assert_eq!(condvar.notify_one(), 1);
        assert!(oldest.is_notified());
        assert!(!condvar.has_waiters());
    });
}

#[test]
fn a_waiter_without_a_mutex_times_out() {
    alone(|| {
        let condvar = Condvar::new();
        let late = Parked::begin(&condvar, None, Some(Machine::now()));
        // A sleep that ended early did not reach the deadline.
        let early = Parked::begin(&condvar, None, Some(Timestamp::from_nanos(u64::MAX)));
        assert!(matches!(late.step(FutexWait::TimedOut), Step::Done { notified: false }));
        assert!(matches!(early.step(FutexWait::TimedOut), Step::Sleep { .. }));
        assert_eq!(condvar.notify_all(), 1);
        assert!(early.is_notified());
    });
}

#[test]
fn a_waiter_without_a_mutex_that_was_notified_at_its_deadline_says_so() {
    alone(|| {
        let condvar = Condvar::new();
        let waiter = Parked::begin(&condvar, None, Some(Machine::now()));
        assert_eq!(condvar.notify_one(), 1);
        assert!(matches!(waiter.step(FutexWait::TimedOut), Step::Done { notified: true }));
    });
}

#[test]
fn a_cancelled_waiter_that_was_not_notified_is_gone_and_has_its_mutex() {
    alone(|| {
        let (mutex, condvar) = (RawMutex::new(), Condvar::new());
        let other = Parked::foreign(&condvar);
        mutex.lock();
        let cancelled = Parked::with(&condvar, &mutex);
        cancelled.cancel();
        assert!(mutex.is_locked());
        unlock(&mutex);
        assert!(condvar.has_waiters(), "there is another");
        assert!(other.sleeps());
        other.cancel();
        assert!(!condvar.has_waiters());
        assert_eq!(condvar.notify_all(), 0);
    });
}

#[test]
fn a_waiter_that_is_cancelled_before_its_first_step_is_gone() {
    alone(|| {
        let (mutex, condvar) = (RawMutex::new(), Condvar::new());
        mutex.lock();
        let waiter = Waiter::<Machine>::new(&condvar, Some(&mutex), None);
        // SAFETY: locked above; the waiter stays here.
        unsafe {
            waiter.begin();
            assert!(!mutex.is_locked());
            waiter.cancel();
        }
        assert!(mutex.is_locked() && !condvar.has_waiters());
        unlock(&mutex);
    });
}

/// A waiter with a mutex is notified while that is locked, and cancelled after `unlocks` has
/// unlocked it. Another waiter, which began before it, gets the notification in the end. If the
/// mutex is free at that time, that waiter is woken at once; otherwise the unlock of the cancelled
/// waiter wakes it.
fn is_passed_on(unlocks: impl FnOnce(&RawMutex<Machine>), is_woken_at_once: bool) {
    alone(|| {
        let (mutex, condvar) = (RawMutex::new(), Condvar::new());
        mutex.lock();
        let heir = Parked::with(&condvar, &mutex);
        mutex.lock();
        let cancelled = Parked::with(&condvar, &mutex);
        mutex.lock();
        assert_eq!(condvar.notify_one(), 1);
        assert!(condvar.has_waiters());
        unlocks(&mutex);
        let Calls { wakes, .. } = calls_of(|| cancelled.cancel());
        assert_eq!(wakes, u32::from(is_woken_at_once));
        assert!(mutex.is_locked());
        assert!(!condvar.has_waiters(), "the notification was passed on");
        thread::scope(|scope| {
            let before = Machine::sleeps();
            let mutex = &mutex;
            if is_woken_at_once {
                // It waits for the mutex in its next step.
                scope.spawn(move || {
                    until(|| Machine::sleeps() > before);
                    unlock(mutex);
                });
            } else {
                assert!(heir.sleeps(), "the cancelled waiter has the mutex");
                unlock(mutex);
            }
            assert!(heir.is_notified());
        });
        unlock(&mutex);
    });
}

#[test]
fn a_waiter_that_is_cancelled_in_flight_passes_its_notification_on() {
    is_passed_on(unlock, true);
}

#[test]
fn a_waiter_that_is_cancelled_with_the_mutex_handed_to_it_passes_its_notification_on() {
    // SAFETY: the test owns it.
    is_passed_on(|mutex| unsafe { mutex.unlock_fair() }, false);
}

#[test]
fn a_waiter_that_is_cancelled_while_parked_for_its_mutex_passes_its_notification_on() {
    alone(|| {
        let (mutex, condvar) = (RawMutex::new(), Condvar::new());
        let heir = Parked::foreign(&condvar);
        mutex.lock();
        let cancelled = Parked::with(&condvar, &mutex);
        mutex.lock();
        assert_eq!(condvar.notify_one(), 1);
        let has_returned = AtomicBool::new(false);
        thread::scope(|scope| {
            let before = Machine::sleeps();
            let (mutex, has_returned) = (&mutex, &has_returned);
            scope.spawn(move || {
                until(|| Machine::sleeps() > before || has_returned.load(Ordering::SeqCst));
                unlock(mutex);
            });
            cancelled.cancel();
            has_returned.store(true, Ordering::SeqCst);
        });
        assert!(mutex.is_locked());
        unlock(&mutex);
        assert!(heir.is_notified());
    });
}

#[test]
fn a_cancelled_waiter_passes_its_notification_to_the_oldest() {
    alone(|| {
        let condvar = Condvar::new();
        let oldest = Parked::foreign(&condvar);
        let cancelled = Parked::foreign(&condvar);
        assert_eq!(condvar.notify_one(), 1);
        let newest = Parked::foreign(&condvar);
        cancelled.cancel();
        assert!(newest.sleeps(), "it came after the notification");
        assert!(oldest.is_notified());
        newest.cancel();
    });
}

#[test]
fn a_notification_that_came_when_no_other_waited_is_not_passed_to_a_later_waiter() {
    alone(|| {
        let condvar = Condvar::new();
        let cancelled = Parked::foreign(&condvar);
        assert_eq!(condvar.notify_one(), 1);
        let later = Parked::foreign(&condvar);
        cancelled.cancel();
        assert!(later.sleeps());
        assert!(condvar.has_waiters());
        later.cancel();
    });
}

#[test]
fn a_cancelled_waiter_notifies_no_waiter_of_a_condition_variable_that_came_to_the_same_address() {
    alone(|| {
        let place = UnsafeCell::new(Condvar::new());
        // SAFETY: no reference to the previous object is used after it was replaced.
        let condvar = || unsafe { &*place.get() };
        let left = Parked::foreign(condvar());
        let cancelled = Parked::foreign(condvar());
        assert_eq!(condvar().notify_one(), 1);
        left.cancel();
        // SAFETY: as above. It no longer has a waiter, so it may be freed.
        unsafe { place.get().write(Condvar::new()) };
        let other = Parked::foreign(condvar());
        cancelled.cancel();
        assert!(other.sleeps());
        assert!(condvar().has_waiters());
        assert_eq!(condvar().notify_one(), 1);
        assert!(other.is_notified());
    });
}
