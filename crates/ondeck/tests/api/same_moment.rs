//! A wake, a move and a deadline at the same moment. The bucket's lock is held until the deadline has passed,
//! so that the parked thread learns under that lock what has become of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::parking::{Parked, Requeued};
use ondeck::platform::{Native, Platform};

use crate::keys;
use crate::rest::until_at_rest;

use super::watchdog;

/// How many threads are woken while the bucket is locked once.
const FIRST: u32 = 16;

const LIMIT: Duration = Duration::from_millis(5);

fn key(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word).addr()
}

/// Parks at `word` for at most `LIMIT`, and counts itself in `word` once other threads can find it.
fn park(word: &AtomicU32) -> Parked {
    let deadline = Some(Native::now().after(LIMIT));
    let found = || _ = word.fetch_add(1, Ordering::Release);
    keys::park::<Native>(key(word), || true, found, deadline)
}

/// The same as `park`, without a deadline.
fn park_for_ever(word: &AtomicU32) -> Parked {
    let found = || _ = word.fetch_add(1, Ordering::Release);
    keys::park::<Native>(key(word), || true, found, None)
}

fn until(word: &AtomicU32, waiters: u32) {
    while word.load(Ordering::Acquire) != waiters {
        thread::yield_now();
    }
}

/// Waits until the deadline of the parked threads has passed, and they want the bucket's lock.
fn overslept() {
    thread::sleep(LIMIT * 3);
}

#[test]
fn a_thread_that_was_chosen_before_its_deadline_is_woken() {
    let word = AtomicU32::new(0);
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| park(&word));
        until(&word, 1);
        let woken = keys::unpark::<Native>(key(&word), 1, |_, _| overslept());
        let expected = if woken == 1 { Parked::Woken } else { Parked::TimedOut };
        assert_eq!(waiter.join().expect("no panic"), expected);
    });
    until_at_rest(key(&word));
}

#[test]
fn a_thread_that_was_moved_before_its_deadline_times_out_where_it_is_now() {
    let (from, to) = (AtomicU32::new(0), AtomicU32::new(0));
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| park(&from));
        until(&from, 1);
        let late = || {
            overslept();
            true
        };
        let moved = keys::requeue::<Native>(key(&from), key(&to), late, 0, 9);
        assert!(moved.moved <= 1 && moved.woken == 0);
        assert_eq!(waiter.join().expect("no panic"), Parked::TimedOut);
    });
    for word in [&from, &to] {
        assert_eq!(keys::unpark::<Native>(key(word), 9, |_, _| ()), 0);
        until_at_rest(key(word));
    }
}

/// As many threads as are woken at once, and one more that may time out before it is woken.
#[test]
fn a_thread_that_times_out_while_others_are_woken_is_not_counted() {
    let word = AtomicU32::new(0);
    watchdog::scope(|scope| {
        for number in 0..FIRST {
            scope.spawn(|| assert_eq!(park_for_ever(&word), Parked::Woken));
            until(&word, number + 1);
        }
        let last = scope.spawn(|| park(&word));
        until(&word, FIRST + 1);
        let woken = keys::unpark::<Native>(key(&word), usize::MAX, |_, _| overslept());
        let last = last.join().expect("no panic");
        let counted = woken as u32 - FIRST;
        assert_eq!(
            (last, counted),
            if counted == 1 { (Parked::Woken, 1) } else { (Parked::TimedOut, 0) }
        );
    });
    until_at_rest(key(&word));
}

#[test]
fn as_many_are_woken_as_are_woken_at_once() {
    let word = AtomicU32::new(0);
    watchdog::scope(|scope| {
        for _ in 0..FIRST {
            scope.spawn(|| assert_eq!(park_for_ever(&word), Parked::Woken));
        }
        until(&word, FIRST);
        let woken = keys::unpark::<Native>(key(&word), usize::MAX, |_, _| ());
        assert_eq!(woken, FIRST as usize);
    });
    until_at_rest(key(&word));
}

#[test]
fn no_thread_is_moved_to_where_it_is() {
    let word = AtomicU32::new(0);
    watchdog::scope(|scope| {
        let waiter = scope.spawn(|| park(&word));
        until(&word, 1);
        let nothing = keys::requeue::<Native>(key(&word), key(&word), || true, 0, 1);
        assert_eq!(nothing, Requeued::default());
        assert_eq!(waiter.join().expect("no panic"), Parked::TimedOut);
    });
}
