//! The parking table as other libraries' locks use it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::parking::{self, Parked, bucket_of};
use ondeck::platform::{Host, Native, Platform};
use ondeck::{Condvar, Mutex};

use crate::hold::Hold;
use crate::keys;
use crate::rest::until_at_rest;
use crate::until::until;

use super::watchdog::{self, Watchdog};

fn key(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word).addr()
}

fn park(word: &AtomicU32) -> Parked {
    keys::park::<Native>(key(word), || true, || (), None)
}

/// Unparks until `count` threads were woken: they may not have parked yet.
fn unpark(word: &AtomicU32, count: usize) {
    let mut woken = 0;
    while woken < count {
        woken += keys::unpark::<Native>(key(word), count - woken, |_, _| ());
        thread::yield_now();
    }
}

#[test]
fn a_thread_that_is_not_valid_does_not_park() {
    let word = AtomicU32::new(0);
    let parked = keys::park::<Native>(key(&word), || false, || unreachable!(), None);
    assert_eq!(parked, Parked::Invalid);
    until_at_rest(&raw const word);
}

#[test]
fn a_deadline_ends_a_sleep() {
    let word = AtomicU32::new(0);
    let deadline = Native::now().after(Duration::from_millis(2));
    let parked = keys::park::<Native>(key(&word), || true, || (), Some(deadline));
    assert_eq!(parked, Parked::TimedOut);
    assert!(Native::now() >= deadline);
    until_at_rest(&raw const word);
}

#[test]
fn no_thread_is_woken_where_none_is_parked() {
    let word = AtomicU32::new(0);
    let mut seen = None;
    let woken = keys::unpark::<Native>(key(&word), 3, |count, more| seen = Some((count, more)));
    assert_eq!((woken, seen), (0, Some((0, false))));
}

#[test]
fn before_sleep_runs_when_the_thread_can_be_found() {
    let _watchdog = Watchdog::start("a thread that wakes itself", Duration::from_mins(1));
    let word = AtomicU32::new(0);
    let wake = || assert_eq!(keys::unpark::<Native>(key(&word), 1, |_, _| ()), 1);
    assert_eq!(keys::park::<Native>(key(&word), || true, wake, None), Parked::Woken);
}

#[test]
fn as_many_are_woken_as_are_wanted() {
    const THREADS: usize = 40;
    let word = AtomicU32::new(0);
    let ended = AtomicU32::new(0);
    watchdog::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                assert_eq!(park(&word), Parked::Woken);
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        // More than one batch.
        unpark(&word, 20);
        until(|| ended.load(Ordering::Relaxed) >= 20);
        assert_eq!(ended.load(Ordering::Relaxed), 20);
        unpark(&word, THREADS - 20);
    });
}

#[test]
fn a_requeue_that_is_not_valid_does_nothing() {
    let (from, to) = (AtomicU32::new(0), AtomicU32::new(0));
    watchdog::scope(|scope| {
        scope.spawn(|| assert_eq!(park(&from), Parked::Woken));
        let nothing = keys::requeue::<Native>(key(&from), key(&to), || false, 1, 1);
        assert_eq!(nothing, (0, 0));
        unpark(&from, 1);
    });
}

/// Parks at `key`, and is counted in `parked` once other threads can find it.
fn park_counted(key: usize, parked: &AtomicUsize) -> Parked {
    let found = || _ = parked.fetch_add(1, Ordering::Release);
    keys::park::<Native>(key, || true, found, None)
}

/// One call wakes many threads, but none that parks after `then`.
#[test]
fn all_that_are_parked_are_woken_by_one_call_and_none_that_comes_later() {
    const WAITERS: usize = 64;
    let (word, parked) = (AtomicU32::new(0), AtomicUsize::new(0));
    let has_unparked = AtomicBool::new(false);
    let key = key(&word);
    watchdog::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| assert_eq!(park_counted(key, &parked), Parked::Woken));
        }
        until(|| parked.load(Ordering::Acquire) == WAITERS);
        let late = watchdog::scope(|calls| {
            // It waits for the bucket's lock, under which `then` is called.
            let mut late = None;
            let woken = keys::unpark::<Native>(key, usize::MAX, |count, more| {
                assert_eq!((count, more), (WAITERS, false));
                let come = || {
                    let parked = park_counted(key, &parked);
                    assert!(
                        has_unparked.load(Ordering::SeqCst),
                        "it parked too late for the first unpark"
                    );
                    parked
                };
                late = Some(calls.spawn(come));
                // Long enough for it to wait for that lock, most likely.
                thread::sleep(Duration::from_millis(5));
            });
            assert_eq!(woken, WAITERS);
            until(|| parked.load(Ordering::Acquire) == WAITERS + 1);
            has_unparked.store(true, Ordering::SeqCst);
            assert_eq!(keys::unpark::<Native>(key, usize::MAX, |_, _| ()), 1);
            late.expect("`then` was called").join().expect("no panic")
        });
        assert_eq!(late, Parked::Woken);
    });
}

#[test]
fn all_that_are_parked_are_moved_by_one_call() {
    const WAITERS: usize = 64;
    const WOKEN: usize = 40;
    let (from, to, parked) = (AtomicU32::new(0), AtomicU32::new(0), AtomicUsize::new(0));
    let woken = AtomicUsize::new(0);
    watchdog::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| {
                assert_eq!(park_counted(key(&from), &parked), Parked::Woken);
                woken.fetch_add(1, Ordering::Relaxed);
            });
        }
        until(|| parked.load(Ordering::Acquire) == WAITERS);
        let done = keys::requeue::<Native>(key(&from), key(&to), || true, WOKEN, usize::MAX);
        assert_eq!(done, (WOKEN, WAITERS - WOKEN));
        until(|| woken.load(Ordering::Relaxed) == WOKEN);
        assert_eq!(keys::unpark::<Native>(key(&from), 1, |_, _| ()), 0);
        assert_eq!(keys::unpark::<Native>(key(&to), usize::MAX, |_, _| ()), WAITERS - WOKEN);
    });
}

/// Keys are in a separate space: safe code that locks and notifies cannot wake a thread that is
/// parked at the same address, and an unpark cannot wake a waiter of a lock.
#[test]
fn a_key_is_apart_from_the_mutex_and_the_condition_variable_at_its_address() {
    let (mutex, condvar, parked) = (Mutex::new(0), Condvar::new(), AtomicUsize::new(0));
    let addresses = [(&raw const mutex).addr(), (&raw const condvar).addr()];
    let mut guard = mutex.lock();
    watchdog::scope(|scope| {
        for key in addresses {
            let parked = &parked;
            scope.spawn(move || assert_eq!(park_counted(key, parked), Parked::Woken));
        }
        let waiter = scope.spawn(|| {
            let mut waits = mutex.lock();
            *waits = 1;
            condvar.wait_while(&mut waits, |waits| *waits == 1);
        });
        let locker = scope.spawn(|| drop(mutex.lock()));
        until(|| parked.load(Ordering::Acquire) == 2);
        // Long enough for the threads that want the mutex to park, most likely.
        thread::sleep(Duration::from_millis(5));
        // There is one thread for each key, however many wait for the lock.
        for key in addresses {
            let mut counted = 0;
            keys::unpark::<Native>(key, 0, |count, more| counted = count + usize::from(more));
            assert_eq!(counted, 1, "only the thread of the key is counted");
        }
        for _ in 0..100 {
            drop(guard);
            condvar.notify_all();
            guard = mutex.lock();
        }
        drop(guard);
        locker.join().expect("no panic");
        until(|| *mutex.lock() == 1);
        for key in addresses {
            assert_eq!(keys::unpark::<Native>(key, usize::MAX, |_, _| ()), 1, "it is still parked");
        }
        assert!(!waiter.is_finished(), "nothing has ended its wait");
        *mutex.lock() = 2;
        // It may have been woken by an earlier notification, and have counted that.
        assert!(condvar.notify_all() <= 1);
    });
}

#[test]
fn no_thread_is_moved_to_where_it_is() {
    let (word, parked) = (AtomicU32::new(0), AtomicUsize::new(0));
    let key = key(&word);
    watchdog::scope(|scope| {
        scope.spawn(|| assert_eq!(park_counted(key, &parked), Parked::Woken));
        until(|| parked.load(Ordering::Acquire) == 1);
        let nothing = keys::requeue::<Native>(key, key, || true, 0, 1);
        assert_eq!(nothing, (0, 0));
        unpark(&word, 1);
    });
}

#[test]
fn a_bucket_that_is_locked_or_has_a_parked_thread_is_not_at_rest() {
    let word = AtomicU32::new(0);
    let key = key(&word);
    let bucket = Native::bucket(key);
    let (hold, parked) = (Hold::default(), AtomicUsize::new(0));
    watchdog::scope(|scope| {
        scope.spawn(|| hold.hold(key));
        hold.wait();
        assert!(!bucket.is_at_rest());
        hold.let_go();
    });
    until_at_rest(&raw const word);
    watchdog::scope(|scope| {
        scope.spawn(|| assert_eq!(park_counted(key, &parked), Parked::Woken));
        until(|| parked.load(Ordering::Acquire) == 1);
        assert!(!bucket.is_at_rest());
        assert_eq!(keys::unpark::<Native>(key, 1, |_, _| ()), 1);
    });
    until_at_rest(&raw const word);
}

#[test]
fn addresses_that_lie_together_get_buckets_that_do_not() {
    let buckets: std::collections::BTreeSet<_> =
        (0..64).map(|byte| bucket_of(0x1000 + byte)).collect();
    assert_eq!(buckets.len(), 64);
    assert!(buckets.iter().all(|&bucket| bucket < parking::BUCKETS));
}
