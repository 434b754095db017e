//! How long waiters poll, as a program or its environment sets it, and what they do when that time is over.
//! The setting is for the whole process, so each test has a process of its own.

use std::os::unix::process::ExitStatusExt;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ondeck::platform::{Host, Linux, Platform};
use ondeck::spin::{MEASURED, Polling};
use ondeck::{Condvar, Mutex, MutexGuard};

use crate::again::{again, is_child, passes};
use crate::refuse::refuse_waits;
use crate::rest::until_at_rest;

/// Runs the calling test in a process with this in its environment.
fn alone_with(environment: &str, test: impl FnOnce()) {
    if is_child() {
        return test();
    }
    passes(|child| _ = child.env("ONDECK_SPIN", environment));
}

fn alone(test: impl FnOnce()) {
    alone_with("", test);
}

/// Installs the defaults with a change.
fn install(change: impl FnOnce(&mut Polling)) {
    let mut polling = Polling::default();
    change(&mut polling);
    polling.install();
}

/// Waits until a thread polls or is parked.
fn until_waited_for<T>(mutex: &Mutex<T>) {
    while Linux::bucket(std::ptr::from_ref(mutex).addr()).is_at_rest() {
        thread::yield_now();
    }
}

/// Four seconds: longer than any of these tests takes, and not [`MEASURED`].
const FOR_EVER: u32 = u32::MAX - 1;
const A_WHILE: Duration = Duration::from_millis(3);

/// The fields of the setting that is in force.
fn in_force() -> [u32; 6] {
    let Polling { budget, short, long, offer, watch, near, .. } = Polling::current();
    [budget, short, long, offer, watch, near]
}

#[test]
fn what_was_installed_is_in_force() {
    alone(|| {
        assert_eq!(in_force(), [MEASURED; 6]);
        install(|polling| (polling.budget, polling.short, polling.near) = (7, 6, 0));
        assert_eq!(in_force(), [7, 6, MEASURED, MEASURED, MEASURED, 0]);
        install(|polling| (polling.long, polling.offer, polling.watch) = (FOR_EVER, 4, 3));
        assert_eq!(in_force(), [MEASURED, MEASURED, FOR_EVER, 4, 3, MEASURED]);
    });
}

#[test]
fn the_environment_is_in_force_until_something_is_installed() {
    alone_with("1, 2,3,4,,6", || {
        assert_eq!(in_force(), [1, 2, 3, 4, MEASURED, 6]);
        install(|_| ());
        assert_eq!(in_force(), [MEASURED; 6]);
    });
}

#[test]
fn what_was_installed_first_hides_the_environment() {
    alone_with("1,2,3,4,5,6", || {
        install(|polling| polling.budget = 9);
        assert_eq!(in_force(), [9, MEASURED, MEASURED, MEASURED, MEASURED, MEASURED]);
    });
}

static MUTEX: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// A thread that waits for `MUTEX`, and that the kernel does not let sleep: an attempt to sleep ends the
/// process.
fn locks_without_sleep() -> JoinHandle<()> {
    thread::spawn(|| {
        refuse_waits();
        *MUTEX.lock() += 1;
    })
}

/// A thread that waits for `CHANGED` likewise.
fn waits_without_sleep() -> JoinHandle<()> {
    thread::spawn(|| {
        refuse_waits();
        let mut count = MUTEX.lock();
        *count = 1;
        CHANGED.wait_while(&mut count, |count| *count == 1);
    })
}

#[test]
fn a_thread_that_polls_for_ever_finds_the_lock_unlocked() {
    alone(|| {
        if Linux::cpus() == 1 {
            println!("skipped: needs two CPUs");
            return;
        }
        install(|polling| polling.budget = FOR_EVER);
        for _ in 0..10 {
            let guard = MUTEX.lock();
            let waiter = locks_without_sleep();
            until_waited_for(&MUTEX);
            thread::sleep(A_WHILE);
            drop(guard);
            waiter.join().expect("no panic");
        }
        assert_eq!(*MUTEX.lock(), 10);
        until_at_rest((&raw const MUTEX).addr());
    });
}

#[test]
fn a_waiter_that_watches_for_ever_finds_itself_notified() {
    alone(|| {
        if Linux::cpus() == 1 {
            println!("skipped: needs two CPUs");
            return;
        }
        install(|polling| (polling.budget, polling.watch) = (FOR_EVER, FOR_EVER));
        for inside in [true, false].repeat(5) {
            *MUTEX.lock() = 0;
            let waiter = waits_without_sleep();
            while *MUTEX.lock() == 0 {
                thread::yield_now();
            }
            thread::sleep(A_WHILE);
            let mut count = MUTEX.lock();
            *count = 2;
            if inside {
                assert!(CHANGED.notify_one());
                thread::sleep(A_WHILE);
                drop(count);
            } else {
                drop(count);
                assert!(CHANGED.notify_one());
            }
            waiter.join().expect("no panic");
        }
        until_at_rest((&raw const MUTEX).addr());
    });
}

/// The calling test, run in a process of its own, tries to sleep.
fn sleeps(test: impl FnOnce()) {
    if is_child() {
        return test();
    }
    let output = again(|_| ());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{told}");
    assert!(told.contains("ondeck: futex wait failed"), "{told}");
}

#[test]
fn a_thread_that_never_polls_sleeps() {
    sleeps(|| {
        install(|polling| polling.budget = 0);
        let _guard = MUTEX.lock();
        let _ = locks_without_sleep().join();
    });
}

#[test]
fn a_thread_that_has_polled_for_long_sleeps() {
    sleeps(|| {
        install(|polling| polling.budget = 1_000_000);
        let _guard = MUTEX.lock();
        let _ = locks_without_sleep().join();
    });
}

#[test]
fn a_waiter_that_never_watches_sleeps() {
    sleeps(|| {
        install(|polling| (polling.budget, polling.watch) = (FOR_EVER, 0));
        let _ = waits_without_sleep().join();
    });
}

#[test]
fn a_waiter_that_has_watched_for_long_sleeps() {
    sleeps(|| {
        install(|polling| (polling.budget, polling.watch) = (FOR_EVER, 1_000_000));
        let _ = waits_without_sleep().join();
    });
}

/// The poller takes the lock after the owner's unlock, while another thread is parked. The new owner then
/// leaves the place of the poller open for a moment: `back` says whether the owner before takes it.
fn offer(back: bool) {
    let mutex = Mutex::new(0);
    for round in 1..=20 {
        install(|polling| polling.budget = 0);
        thread::scope(|scope| {
            let guard = mutex.lock();
            scope.spawn(|| *mutex.lock() += 1);
            until_waited_for(&mutex);
            install(|polling| (polling.budget, polling.offer) = (FOR_EVER, 1_000_000));
            scope.spawn(|| *mutex.lock() += 1);
            // Long enough for it to poll, most likely.
            thread::sleep(A_WHILE);
            drop(guard);
            if back {
                // Until the other thread has the lock, or has already unlocked it.
                let _ = (0..10_000).any(|_| mutex.is_locked());
                drop(mutex.lock());
            }
        });
        assert_eq!(*mutex.lock(), 2 * round);
    }
    until_at_rest((&raw const mutex).addr());
}

#[test]
fn an_offer_that_no_thread_takes_is_over_soon() {
    alone(|| offer(false));
}

#[test]
fn an_offer_is_taken_by_the_owner_before() {
    alone(|| offer(true));
}

#[test]
fn a_waiter_that_watches_for_ever_sees_its_notification() {
    alone(|| {
        install(|polling| (polling.budget, polling.watch) = (FOR_EVER, FOR_EVER));
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
    });
}
