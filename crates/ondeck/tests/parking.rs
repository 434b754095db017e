//! The table for locks of others.

#[path = "support/keys.rs"]
mod keys;

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::parking::{Parked, Requeued};
use ondeck::platform::{Host, Linux, Platform};

fn key(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word).addr()
}

fn park(word: &AtomicU32) -> Parked {
    keys::park::<Linux>(key(word), || true, || (), None)
}

/// Unparks until `count` threads were woken: they may still be on their way to sleep.
fn unpark(word: &AtomicU32, count: usize) {
    let mut woken = 0;
    while woken < count {
        woken += keys::unpark::<Linux>(key(word), count - woken, |_, _| ());
        thread::yield_now();
    }
}

#[test]
fn who_is_not_valid_does_not_sleep() {
    let word = AtomicU32::new(0);
    let parked = keys::park::<Linux>(key(&word), || false, || unreachable!(), None);
    assert_eq!(parked, Parked::Invalid);
    assert!(Linux::bucket(key(&word)).is_at_rest());
}

#[test]
fn a_deadline_ends_a_sleep() {
    let word = AtomicU32::new(0);
    let deadline = Linux::now().after(Duration::from_millis(2));
    let parked = keys::park::<Linux>(key(&word), || true, || (), Some(deadline));
    assert_eq!(parked, Parked::TimedOut);
    assert!(Linux::now() >= deadline);
    assert!(Linux::bucket(key(&word)).is_at_rest());
}

#[test]
fn nobody_is_woken_where_nobody_sleeps() {
    let word = AtomicU32::new(0);
    let mut seen = None;
    let woken = keys::unpark::<Linux>(key(&word), 3, |count, more| seen = Some((count, more)));
    assert_eq!((woken, seen), (0, Some((0, false))));
}

#[test]
fn before_sleep_runs_when_the_thread_can_be_found() {
    let word = AtomicU32::new(0);
    let wake = || assert_eq!(keys::unpark::<Linux>(key(&word), 1, |_, _| ()), 1);
    assert_eq!(keys::park::<Linux>(key(&word), || true, wake, None), Parked::Woken);
}

#[test]
fn as_many_are_woken_as_are_wanted() {
    const THREADS: usize = 40;
    let word = AtomicU32::new(0);
    let ended = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                assert_eq!(park(&word), Parked::Woken);
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        // More than one batch.
        unpark(&word, 20);
        while ended.load(Ordering::Relaxed) < 20 {
            thread::yield_now();
        }
        assert_eq!(ended.load(Ordering::Relaxed), 20);
        unpark(&word, THREADS - 20);
    });
}

#[test]
fn more_than_fit_into_one_batch_are_woken_by_one_call() {
    const SLEEPERS: usize = 20;
    let (word, asleep) = (AtomicU32::new(0), AtomicUsize::new(0));
    let sleep = || {
        let linked = || {
            asleep.fetch_add(1, Ordering::Relaxed);
        };
        keys::park::<Linux>(key(&word), || true, linked, None)
    };
    thread::scope(|scope| {
        let sleepers = [0; SLEEPERS].map(|_| scope.spawn(sleep));
        while asleep.load(Ordering::Relaxed) < SLEEPERS {
            thread::yield_now();
        }
        let woken = keys::unpark::<Linux>(key(&word), usize::MAX, |count, more| {
            assert_eq!((count, more), (SLEEPERS, false));
        });
        // Who was forgotten must not sleep on: the scope waits for all.
        let forgotten = keys::unpark::<Linux>(key(&word), usize::MAX, |_, _| ());
        assert_eq!((woken, forgotten), (SLEEPERS, 0));
        assert!(
            sleepers.into_iter().all(|sleeper| sleeper.join().expect("it ends") == Parked::Woken)
        );
    });
}

#[test]
fn sleepers_can_be_moved_to_another_key() {
    let (from, to) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(park(&from), Parked::Woken));
        }
        let mut total = Requeued::default();
        while total.woken + total.moved < 3 {
            let wake = usize::from(total.woken == 0);
            let more = keys::requeue::<Linux>(key(&from), key(&to), || true, wake, 2);
            total.woken += more.woken;
            total.moved += more.moved;
            thread::yield_now();
        }
        assert_eq!(total, Requeued { woken: 1, moved: 2 });
        assert_eq!(keys::unpark::<Linux>(key(&from), 9, |_, _| ()), 0);
        unpark(&to, 2);
    });
}

#[test]
fn a_requeue_that_is_not_valid_does_nothing() {
    let (from, to) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(park(&from), Parked::Woken));
        let nothing = keys::requeue::<Linux>(key(&from), key(&to), || false, 1, 1);
        assert_eq!(nothing, Requeued::default());
        unpark(&from, 1);
    });
}
