//! Waiters are moved between two buckets, in either order of the table, or within one.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::mutex::RawMutex;
use ondeck::parking::{Parked, bucket_of};
use ondeck::platform::{FutexWait, Linux};
use ondeck::{Condvar, Mutex};

use crate::asleep;
use crate::hold::Hold;
use crate::keys;
use crate::rest::until_at_rest;
use crate::until::until;

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
            until(|| from.load(Ordering::Acquire) == number + 1);
        }
        let until = |count| {
            until(|| woken.load(Ordering::Acquire) == count);
        };
        let done = keys::requeue::<Linux>(key(from), key(to), || true, 1, 2);
        assert_eq!(done, (1, 2));
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

/// A condition variable, and mutexes with other buckets.
struct Places<C, M> {
    condvars: Vec<C>,
    mutexes: Vec<M>,
}

impl<C: Default, M: Default> Places<C, M> {
    fn new() -> Self {
        Self {
            condvars: (0..4_096).map(|_| C::default()).collect(),
            mutexes: (0..64).map(|_| M::default()).collect(),
        }
    }

    fn condvar(&self) -> &C {
        self.condvars.iter().max_by_key(|condvar| place(*condvar)).expect("some")
    }

    /// Returns two mutexes of different buckets, neither of which is the condition variable's.
    fn mutexes(&self) -> (&M, &M) {
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
    until(|| *mutex.lock());
}

/// A notifier that waits for the bucket of its waiter's mutex has locked no other bucket.
#[test]
fn a_notifier_that_waits_for_a_bucket_keeps_no_other_notifier_waiting() {
    let places = Places::<Condvar, Mutex<bool>>::new();
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
        name.store(0, Ordering::Relaxed);
        let notifier = scope.spawn(|| {
            name.store(asleep::name(), Ordering::Relaxed);
            condvar.notify_one()
        });
        until(|| name.load(Ordering::Relaxed) != 0);
        // For the held bucket.
        asleep::until_asleep(name.load(Ordering::Relaxed));
        let newest = scope.spawn(|| wait(condvar, other));
        until_waited(other);
        assert!(condvar.notify_one());
        newest.join().expect("no panic");
        assert!(!first.is_finished() && !notifier.is_finished());
        hold.let_go();
        assert!(notifier.join().expect("no panic"));
        first.join().expect("no panic");
    });
    assert!(!condvar.notify_one());
    until_at_rest(condvar);
}

/// A waiter that this thread drives. It sleeps.
fn begun(condvar: &RawCondvar<Linux>, mutex: Option<&RawMutex<Linux>>) -> Box<Waiter<Linux>> {
    let waiter = Box::new(Waiter::new(condvar, mutex, None));
    if let Some(mutex) = mutex {
        mutex.lock();
    }
    // SAFETY: the mutex is locked, and the test ends the wait.
    let step = unsafe {
        waiter.begin();
        waiter.step(FutexWait::Woken)
    };
    assert!(matches!(step, Step::Sleep { .. }), "it has just begun");
    waiter
}

#[test]
fn a_cancelled_waiter_passes_its_notification_to_the_waiter_of_another_mutex() {
    let places = Places::<RawCondvar<Linux>, RawMutex<Linux>>::new();
    let (condvar, (one, other)) = (places.condvar(), places.mutexes());
    let hold = Hold::default();
    let (name, is_notified) = (AtomicU32::new(0), AtomicBool::new(false));
    watchdog::scope(|scope| {
        let cancelled = scope.spawn(|| {
            let waiter = begun(condvar, None);
            name.store(asleep::name(), Ordering::Release);
            until(|| is_notified.load(Ordering::Acquire));
            // SAFETY: it has begun, and takes no step after this.
            unsafe { waiter.cancel() };
        });
        until(|| name.load(Ordering::Acquire) != 0);
        let oldest = begun(condvar, Some(one));
        let next = begun(condvar, Some(other));
        // The cancelled waiter is overdue.
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert_eq!(condvar.notify_one(), 1);
        scope.spawn(|| hold.hold(std::ptr::from_ref(one).addr()));
        hold.wait();
        is_notified.store(true, Ordering::Release);
        // For the held bucket of the oldest waiter's mutex.
        asleep::until_asleep(name.load(Ordering::Relaxed));
        let own = asleep::name();
        let hold = &hold;
        scope.spawn(move || {
            // Until the oldest waiter, which has passed its notification on, waits to be moved.
            asleep::until_asleep(own);
            hold.let_go();
        });
        // SAFETY: it has begun, and takes no step after this.
        unsafe { oldest.cancel() };
        cancelled.join().expect("no panic");
        // SAFETY: the wait has begun. If it is over, it takes no step after this.
        let step = unsafe { next.step(FutexWait::Woken) };
        let is_notified = matches!(step, Step::Done { notified: true });
        if !is_notified {
            // A panic would free a waiter that others still see.
            // SAFETY: the wait is not over.
            unsafe { next.cancel() };
        }
        assert!(is_notified);
        for mutex in [one, other] {
            // SAFETY: the waits have locked them again.
            unsafe { mutex.unlock() };
        }
    });
    until_at_rest(condvar);
}
