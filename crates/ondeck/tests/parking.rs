//! The table for locks of others.

#[path = "support/keys.rs"]
mod keys;

#[path = "support/rest.rs"]
mod rest;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::parking::{Parked, Requeued};
use ondeck::platform::{Linux, Platform};
use ondeck::{Condvar, Mutex};
use rest::until_at_rest;

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
    until_at_rest(key(&word));
}

#[test]
fn a_deadline_ends_a_sleep() {
    let word = AtomicU32::new(0);
    let deadline = Linux::now().after(Duration::from_millis(2));
    let parked = keys::park::<Linux>(key(&word), || true, || (), Some(deadline));
    assert_eq!(parked, Parked::TimedOut);
    assert!(Linux::now() >= deadline);
    until_at_rest(key(&word));
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

/// Parks at `key`, counted in `parked` once it can be found by others.
fn park_counted(key: usize, parked: &AtomicUsize) -> Parked {
    let found = || _ = parked.fetch_add(1, Ordering::Release);
    keys::park::<Linux>(key, || true, found, None)
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// Many threads are woken by one call, and one that parks after `then` is none of them.
#[test]
fn all_that_are_parked_are_woken_by_one_call_and_none_that_comes_later() {
    const SLEEPERS: usize = 64;
    let (word, parked) = (AtomicU32::new(0), AtomicUsize::new(0));
    let has_unparked = AtomicBool::new(false);
    let key = key(&word);
    thread::scope(|scope| {
        for _ in 0..SLEEPERS {
            scope.spawn(|| assert_eq!(park_counted(key, &parked), Parked::Woken));
        }
        until(|| parked.load(Ordering::Acquire) == SLEEPERS);
        let newcomer = thread::scope(|calls| {
            // It wants the bucket's lock, which `then` is called under.
            let mut newcomer = None;
            let woken = keys::unpark::<Linux>(key, usize::MAX, |count, more| {
                assert_eq!((count, more), (SLEEPERS, false));
                let come = || {
                    let parked = park_counted(key, &parked);
                    assert!(has_unparked.load(Ordering::SeqCst), "it came too late for the first");
                    parked
                };
                newcomer = Some(calls.spawn(come));
                // Until it waits for that lock, most likely.
                thread::sleep(Duration::from_millis(5));
            });
            assert_eq!(woken, SLEEPERS);
            until(|| parked.load(Ordering::Acquire) == SLEEPERS + 1);
            has_unparked.store(true, Ordering::SeqCst);
            assert_eq!(keys::unpark::<Linux>(key, usize::MAX, |_, _| ()), 1);
            newcomer.expect("`then` was called").join().expect("no panic")
        });
        assert_eq!(newcomer, Parked::Woken);
    });
}

#[test]
fn all_that_are_parked_are_moved_by_one_call() {
    const SLEEPERS: usize = 64;
    const WOKEN: usize = 40;
    let (from, to, parked) = (AtomicU32::new(0), AtomicU32::new(0), AtomicUsize::new(0));
    let woken = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..SLEEPERS {
            scope.spawn(|| {
                assert_eq!(park_counted(key(&from), &parked), Parked::Woken);
                woken.fetch_add(1, Ordering::Relaxed);
            });
        }
        until(|| parked.load(Ordering::Acquire) == SLEEPERS);
        let done = keys::requeue::<Linux>(key(&from), key(&to), || true, WOKEN, usize::MAX);
        assert_eq!(done, Requeued { woken: WOKEN, moved: SLEEPERS - WOKEN });
        until(|| woken.load(Ordering::Relaxed) == WOKEN);
        assert_eq!(keys::unpark::<Linux>(key(&from), 1, |_, _| ()), 0);
        assert_eq!(keys::unpark::<Linux>(key(&to), usize::MAX, |_, _| ()), SLEEPERS - WOKEN);
    });
}

/// Keys are in a space of their own: safe code that locks and notifies cannot wake a thread that is
/// parked at the same address, nor the other way round.
#[test]
fn a_key_is_apart_from_the_mutex_and_the_condition_variable_at_its_address() {
    let (mutex, condvar, parked) = (Mutex::new(0), Condvar::new(), AtomicUsize::new(0));
    let addresses = [(&raw const mutex).addr(), (&raw const condvar).addr()];
    let mut guard = mutex.lock();
    thread::scope(|scope| {
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
        // Until those that want the mutex are parked, most likely.
        thread::sleep(Duration::from_millis(5));
        // One thread for each key, whoever waits for the lock.
        for key in addresses {
            let mut counted = 0;
            keys::unpark::<Linux>(key, 0, |count, more| counted = count + usize::from(more));
            assert_eq!(counted, 1, "only the thread of the key is seen");
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
            assert_eq!(keys::unpark::<Linux>(key, usize::MAX, |_, _| ()), 1, "it is parked still");
        }
        assert!(!waiter.is_finished(), "nothing has ended its wait");
        *mutex.lock() = 2;
        // Unless it was on its way from an earlier notification, and has seen that.
        assert!(condvar.notify_all() <= 1);
    });
}
