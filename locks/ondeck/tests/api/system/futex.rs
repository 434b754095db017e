//! Waits and wakes by address.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::{FutexWait, Native, Platform, Timestamp};

use crate::until::until;
use crate::watchdog::Watchdog;

const LIMIT: Duration = Duration::from_mins(2);

#[test]
fn a_word_that_differs_does_not_sleep() {
    let _watchdog = Watchdog::start("a wait for a word that differs", LIMIT);
    assert_ne!(Native::futex_wait(&AtomicU32::new(1), 0, None), FutexWait::TimedOut);
}

#[test]
fn a_deadline_ends_the_wait_and_not_earlier() {
    let _watchdog = Watchdog::start("a wait until a deadline", LIMIT);
    let word = AtomicU32::new(0);
    let deadline = Native::now().after(Duration::from_millis(5));
    while Native::futex_wait(&word, 0, Some(deadline)) != FutexWait::TimedOut {}
    assert!(Native::now() >= deadline);
    while Native::futex_wait(&word, 0, Some(Timestamp::from_nanos(0))) != FutexWait::TimedOut {}
}

/// Starts `waiters` threads that wait for the word to change, until this deadline; then calls
/// `wake`.
fn all_go(waiters: usize, deadline: Option<Timestamp>, wake: impl Fn(&AtomicU32)) {
    let _watchdog = Watchdog::start("threads that are woken", LIMIT);
    let (word, begun) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..waiters {
            scope.spawn(|| {
                begun.fetch_add(1, Ordering::Relaxed);
                while word.load(Ordering::Acquire) == 0 {
                    assert_ne!(Native::futex_wait(&word, 0, deadline), FutexWait::TimedOut);
                }
            });
        }
        until(|| begun.load(Ordering::Relaxed) >= waiters as u32);
        // Most of them sleep by now. A wake before the sleep is not needed, and a wake after it
        // must not be lost.
        thread::sleep(Duration::from_millis(20));
        word.store(1, Ordering::Release);
        wake(&word);
    });
}

#[test]
fn a_wake_of_all_wakes_all() {
    for deadline in [None, Some(Timestamp::from_nanos(u64::MAX))] {
        all_go(3, deadline, |word| _ = Native::futex_wake(word, u32::MAX));
    }
}

#[test]
fn a_wake_of_one_wakes_one_that_waits_there() {
    all_go(3, None, |word| (0..3).for_each(|_| _ = Native::futex_wake(word, 1)));
}

/// A requeue of threads that then wait for a second word, which is also woken.
#[test]
fn no_thread_that_is_moved_is_left_alone() {
    let other = AtomicU32::new(0);
    all_go(3, None, |word| {
        assert_eq!(Native::futex_requeue(word, 2, 1, &raw const other, u32::MAX), None);
        assert!(Native::futex_requeue(word, 1, 1, &raw const other, u32::MAX).is_some());
        Native::futex_wake(&raw const other, u32::MAX);
    });
}

#[test]
fn a_wake_reads_nothing() {
    let _watchdog = Watchdog::start("wakes of what is not there", LIMIT);
    for address in [std::ptr::null(), std::ptr::without_provenance(1 << 20)] {
        for count in [0, 1, u32::MAX] {
            assert_eq!(Native::futex_wake(address, count), 0);
        }
    }
}

#[test]
fn no_wake_of_a_thousand_is_lost() {
    const TURNS: u32 = 1_000;
    let _watchdog = Watchdog::start("two threads that wake each other", LIMIT);
    let words = [const { AtomicU32::new(0) }; 2];
    thread::scope(|scope| {
        for own in 0..2 {
            let words = &words;
            scope.spawn(move || {
                for turn in 1..=TURNS {
                    words[own].store(turn, Ordering::Release);
                    Native::futex_wake(&raw const words[own], 1);
                    let other = &words[1 - own];
                    while other.load(Ordering::Acquire) < turn {
                        let _ = Native::futex_wait(other, turn - 1, None);
                    }
                }
            });
        }
    });
}
