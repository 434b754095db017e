//! How long waiters poll, as a program sets it, and what they do when that is over.

#[path = "support/rest.rs"]
mod rest;

use std::sync::Mutex as StdMutex;
use std::thread;
use std::time::Duration;

use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;
use ondeck::{Condvar, Mutex, MutexGuard};
use rest::until_at_rest;

/// The setting is the process's.
static ONE_AT_A_TIME: StdMutex<()> = StdMutex::new(());

/// Runs `test` with changed defaults.
fn with(change: impl FnOnce(&mut Polling), test: impl FnOnce()) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut polling = Polling::default();
    change(&mut polling);
    polling.install();
    test();
}

fn bucket_of<T>(value: &T) -> &'static ondeck::parking::Bucket<Linux> {
    Linux::bucket(std::ptr::from_ref(value).addr())
}

/// Until somebody is on deck or asleep.
fn until_waited_for<T>(mutex: &Mutex<T>) {
    while bucket_of(mutex).is_at_rest() {
        thread::yield_now();
    }
}

const FOR_EVER: u32 = u32::MAX;
const A_WHILE: Duration = Duration::from_millis(3);

#[test]
fn what_was_installed_is_in_force() {
    with(
        |polling| (polling.budget, polling.short, polling.long) = (7, 6, 5),
        || {
            let polling = Polling::current();
            if Linux::cpus() == 1 {
                assert_eq!((polling.budget, polling.watch), (0, 0));
            } else {
                assert_eq!((polling.budget, polling.watch), (7, Polling::default().watch));
            }
            assert_eq!((polling.short, polling.long), (5, 5), "in order");
        },
    );
    with(
        |polling| (polling.long, polling.offer) = (FOR_EVER, FOR_EVER),
        || assert_eq!((Polling::current().long, Polling::current().offer), (1_000_000, 1_000_000)),
    );
}

#[test]
fn who_polls_for_ever_finds_the_lock_released() {
    with(
        |polling| polling.budget = FOR_EVER,
        || {
            let mutex = Mutex::new(0);
            thread::scope(|scope| {
                let guard = mutex.lock();
                scope.spawn(|| *mutex.lock() += 1);
                until_waited_for(&mutex);
                thread::sleep(A_WHILE);
                drop(guard);
            });
            assert_eq!(mutex.lock().clone(), 1);
            until_at_rest((&raw const mutex).addr());
        },
    );
}

/// The owner's lock is taken from it by a waiter on deck, while another sleeps. Who takes it so
/// offers the place on deck for a moment: `back` says whether the one before comes back for it.
fn offer(back: bool) {
    let mutex = Mutex::new(0);
    for round in 1..=20 {
        with(
            |polling| polling.budget = 0,
            || {
                thread::scope(|scope| {
                    let guard = mutex.lock();
                    scope.spawn(|| *mutex.lock() += 1);
                    until_waited_for(&mutex);
                    let mut polling = Polling::default();
                    (polling.budget, polling.offer) = (FOR_EVER, 1_000_000);
                    polling.install();
                    scope.spawn(|| *mutex.lock() += 1);
                    // Until it polls, most likely.
                    thread::sleep(A_WHILE);
                    drop(guard);
                    if back {
                        // Until the other has it, or was too fast to be seen.
                        let _ = (0..10_000).any(|_| mutex.is_locked());
                        drop(mutex.lock());
                    }
                });
            },
        );
        assert_eq!(*mutex.lock(), 2 * round);
    }
    until_at_rest((&raw const mutex).addr());
}

#[test]
fn an_offer_that_nobody_takes_is_over_soon() {
    offer(false);
}

#[test]
fn an_offer_is_taken_by_the_owner_before() {
    offer(true);
}

#[test]
fn who_watches_for_ever_sees_its_notification() {
    with(
        |polling| (polling.budget, polling.watch) = (FOR_EVER, FOR_EVER),
        || {
            let (turn, changed) = (Mutex::new(0), Condvar::new());
            thread::scope(|scope| {
                scope.spawn(|| {
                    let mut turn = turn.lock();
                    for mine in 1..100 {
                        changed.wait_while(&mut turn, |turn| *turn < mine);
                    }
                });
                for _ in 1..100 {
                    *turn.lock() += 1;
                    changed.notify_one();
                    MutexGuard::unlock_fair(turn.lock());
                }
            });
            assert!(!changed.notify_one());
        },
    );
}
