//! Waiters are moved between two buckets, in either order of the table, or within one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::parking::{Parked, Requeued, bucket_of};
use ondeck::platform::Linux;
use ondeck::{Condvar, Mutex};

use crate::asleep;
use crate::hold::Hold;
use crate::keys;
use crate::rest::until_at_rest;

use super::watchdog;

fn place<T>(value: &T) -> usize {
    bucket_of(std::ptr::from_ref(value).addr())
}

/// Enough words that two of them share a bucket.
fn words() -> Vec<AtomicU32> {
    (0..4_096).map(|_| AtomicU32::new(0)).collect()
}

fn key(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word).addr()
}

/// Moves parked threads from one word to the other and wakes some, in the order of their arrival.
fn move_in_order(from: &AtomicU32, to: &AtomicU32) {
    let woken = AtomicU32::new(0);
    watchdog::scope(|scope| {
        for number in 0..5 {
            let woken = &woken;
            scope.spawn(move || {
                let found = || _ = from.fetch_add(1, Ordering::Release);
                assert_eq!(keys::park::<Linux>(key(from), || true, found, None), Parked::Woken);
                let before = woken.fetch_add(1, Ordering::Release);
                assert_eq!(before, number, "woken before its turn");
            });
            while from.load(Ordering::Acquire) != number + 1 {
                thread::yield_now();
            }
        }
        let until = |count| {
            while woken.load(Ordering::Acquire) != count {
                thread::yield_now();
            }
        };
        let done = keys::requeue::<Linux>(key(from), key(to), || true, 1, 2);
        assert_eq!(done, Requeued { woken: 1, moved: 2 });
        until(1);
        for count in 2..4 {
            let mut more = None;
            let then = |_, others| more = Some(others);
            assert_eq!(keys::unpark::<Linux>(key(to), 1, then), 1);
            assert_eq!(more, Some(count == 2), "whether others remain");
            until(count);
        }
        assert_eq!(keys::unpark::<Linux>(key(to), 1, |_, _| ()), 0);
        // These threads were not moved.
        for count in 4..6 {
            assert_eq!(keys::unpark::<Linux>(key(from), 1, |_, _| ()), 1);
            until(count);
        }
    });
    for word in [from, to] {
        until_at_rest(word);
    }
}

#[test]
fn parked_threads_are_moved_within_one_bucket() {
    let words = words();
    let other = words[1..].iter().find(|word| place(*word) == place(&words[0]));
    move_in_order(&words[0], other.expect("there are more words than buckets"));
}

/// A condition variable, and mutexes whose buckets come before its own: a notifier that has locked the
/// condition variable's bucket must unlock it before it waits for the mutex's.
struct Places {
    condvars: Vec<Condvar>,
    mutexes: Vec<Mutex<bool>>,
}

impl Places {
    fn new() -> Self {
        Self {
            condvars: (0..4_096).map(|_| Condvar::new()).collect(),
            mutexes: (0..64).map(|_| Mutex::new(false)).collect(),
        }
    }

    fn condvar(&self) -> &Condvar {
        self.condvars.iter().max_by_key(|condvar| place(*condvar)).expect("some")
    }

    /// Returns two mutexes of different buckets, neither of which is the condition variable's.
    fn mutexes(&self) -> (&Mutex<bool>, &Mutex<bool>) {
        let last = place(self.condvar());
        let mut before = self.mutexes.iter().filter(|mutex| place(*mutex) < last);
        let one = before.next().expect("some");
        (one, before.find(|mutex| place(*mutex) != place(one)).expect("another"))
    }
}

/// Sets the flag in `mutex`, and waits at the condition variable.
fn wait(condvar: &Condvar, mutex: &Mutex<bool>) {
    let mut waiting = mutex.lock();
    *waiting = true;
    condvar.wait(&mut waiting);
}

/// Waits until a thread that uses `mutex` waits.
fn until_waited(mutex: &Mutex<bool>) {
    while !*mutex.lock() {
        thread::yield_now();
    }
}

#[test]
fn a_notifier_follows_the_newest_waiter_to_another_mutex() {
    let places = Places::new();
    let (condvar, (one, other)) = (places.condvar(), places.mutexes());
    let hold = Hold::default();
    let name = AtomicU32::new(0);
    watchdog::scope(|scope| {
        let first = scope.spawn(|| {
            name.store(asleep::name(), Ordering::Relaxed);
            wait(condvar, one);
        });
        until_waited(one);
        // While the waiter watches for a notification, it can be notified without the held bucket.
        asleep::until_asleep(name.load(Ordering::Relaxed));
        scope.spawn(|| hold.hold(std::ptr::from_ref(one).addr()));
        hold.wait();
        let notifier = scope.spawn(|| condvar.notify_one());
        // Most likely long enough for it to wait for the held bucket.
        thread::sleep(Duration::from_millis(5));
        let newest = scope.spawn(|| wait(condvar, other));
        until_waited(other);
        hold.let_go();
        assert!(notifier.join().expect("no panic"));
        newest.join().expect("no panic");
        assert!(!first.is_finished(), "one was notified");
        assert!(condvar.notify_one());
        first.join().expect("no panic");
    });
    assert!(!condvar.notify_one());
    until_at_rest(condvar);
}
