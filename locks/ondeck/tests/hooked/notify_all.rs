//! Waiters that a notifier has taken off their condition variable, before it has notified them, and
//! the work of a notifier under the lock of a bucket, which other locks share.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::mutex::RawMutex;
use ondeck::platform::{FutexWait, Host, Platform, Timestamp};

use super::hooked_platform::{Gate, Hooked, Write, calls_of, hooks, written};
use super::watchdog::Watchdog;
use super::{unlock, watched};

/// The time, in ticks of a nanosecond.
static NOW: AtomicU64 = AtomicU64::new(1 << 40);
/// The gate of a notifier that has taken its waiters, and has yet to notify them.
static HAS_TAKEN: Gate = Gate::new();

std::thread_local! {
    static PRIORITY: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Taken {
        fn ticks() -> u64 {
            NOW.load(Ordering::SeqCst)
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
        fn now() -> Timestamp {
            Timestamp::from_nanos(NOW.load(Ordering::SeqCst))
        }
        fn has_slices() -> bool {
            true
        }
        fn pause() {
            // A thread that polls may do so at any time.
            NOW.fetch_add(100, Ordering::SeqCst);
        }
        fn cpus() -> usize {
            HAS_TAKEN.pass();
            4
        }
        fn priority() -> u32 {
            PRIORITY.get()
        }
        fn has_real_time_threads() -> bool {
            true
        }
    }
}

type Machine = Hooked<Taken>;
type Lock = RawMutex<Machine>;
type Condvar = RawCondvar<Machine>;

/// A second, in ticks.
const SECOND: u64 = 1_000_000_000;

/// The tests share a table and a clock.
fn alone() -> (Watchdog, MutexGuard<'static, ()>) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    (watched(), alone)
}

/// Locks, waits until the deadline, and unlocks. Returns whether it was notified.
fn wait(mutex: &Lock, condvar: &Condvar, deadline: Option<Timestamp>) -> bool {
    mutex.lock();
    // SAFETY: locked above.
    let notified = unsafe { condvar.wait(mutex, deadline) };
    unlock(mutex);
    notified
}

/// A waiter sleeps until `deadline`, at most. `while_taken` runs while a notifier has taken it and
/// is stopped. Returns whether the waiter was notified.
fn is_notified_after(deadline: Option<u64>, while_taken: impl FnOnce(&Lock, &Condvar)) -> bool {
    let (_alone, mutex, condvar) = (alone(), Lock::new(), Condvar::new());
    let deadline = deadline.map(|after| Machine::now().after(Duration::from_nanos(after)));
    let notified = thread::scope(|scope| {
        let waiter = Machine::until_it_sleeps(|| scope.spawn(|| wait(&mutex, &condvar, deadline)));
        let notifier = scope.spawn(|| {
            HAS_TAKEN.stop_me();
            condvar.notify_all()
        });
        HAS_TAKEN.until_reached();
        while_taken(&mutex, &condvar);
        HAS_TAKEN.open();
        assert_eq!(notifier.join().expect("no panic"), 1);
        waiter.join().expect("no panic")
    });
    Machine::until_at_rest();
    notified
}

#[test]
fn a_waiter_that_was_taken_waits_until_it_is_linked() {
    let notified = is_notified_after(None, |mutex, condvar| {
        assert!(!condvar.has_waiters());
        // Slices end. The mutex is free, but the waiter is not linked there yet.
        for _ in 0..4 {
            NOW.fetch_add(SECOND, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!mutex.is_locked());
    });
    assert!(notified);
}

#[test]
fn a_waiter_that_was_taken_before_its_deadline_is_notified() {
    let notified = is_notified_after(Some(2 * SECOND), |mutex, condvar| {
        NOW.fetch_add(3 * SECOND, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(5));
        assert!(!condvar.has_waiters() && !mutex.is_locked());
    });
    assert!(notified);
}

/// A notification after that finds no waiter, or only one that came later.
#[test]
fn a_waiter_that_was_taken_is_taken_once() {
    let notified = is_notified_after(None, |mutex, condvar| {
        assert_eq!(condvar.notify_all(), 0);
        thread::scope(|scope| {
            let later = Machine::until_it_sleeps(|| scope.spawn(|| wait(mutex, condvar, None)));
            assert_eq!(condvar.notify_one(), 1);
            assert!(later.join().expect("no panic"));
        });
        assert_eq!(condvar.notify_one(), 0);
    });
    assert!(notified);
}

/// A waiter that has not parked before it is taken parks all the same.
#[test]
fn a_waiter_that_parks_after_it_was_taken_is_moved() {
    let (_alone, mutex, condvar) = (alone(), Lock::new(), Condvar::new());
    mutex.lock();
    let waiter = Waiter::<Machine>::new(&condvar, Some(&mutex), None);
    thread::scope(|scope| {
        // SAFETY: locked above; the waiter stays here until its last step.
        unsafe { waiter.begin() };
        let notifier = scope.spawn(|| {
            HAS_TAKEN.stop_me();
            condvar.notify_one()
        });
        HAS_TAKEN.until_reached();
        // SAFETY: it has begun, and is not over.
        assert!(matches!(unsafe { waiter.step(FutexWait::Woken) }, Step::Sleep { .. }));
        HAS_TAKEN.open();
        assert_eq!(notifier.join().expect("no panic"), 1);
        // SAFETY: as above.
        let step = unsafe { waiter.step(FutexWait::Woken) };
        assert!(matches!(step, Step::Done { notified: true }) && mutex.is_locked());
    });
    unlock(&mutex);
    Machine::until_at_rest();
}

/// The numbers of writes of the calling thread in `work` while it held the lock of the bucket.
fn holds(work: impl FnOnce()) -> Vec<usize> {
    let lock = Machine::bucket(0).lock_word();
    let written = written(work);
    let changes_of_lock = |&(write, word): &(Write, usize)| write == Write::Change && word == lock;
    let parts: Vec<_> = written.split(changes_of_lock).map(<[_]>::len).collect();
    // Before the first hold, in it, before the second, and so on.
    parts.into_iter().skip(1).step_by(2).collect()
}

/// Many waiters of real-time priorities or without one, in `batches` of sixteen.
fn longest_hold(batches: u32, priority: u32) -> usize {
    let (mutex, condvar) = (Lock::new(), Condvar::new());
    let count = 16 * batches;
    thread::scope(|scope| {
        for _ in 0..count {
            let sleeps = Machine::sleeps();
            let waiter = || {
                PRIORITY.set(priority);
                let calls = calls_of(|| assert!(wait(&mutex, &condvar, None)));
                // A few for each section of a bucket's lock, of which there are some.
                assert!(calls.pointers < 200, "{calls:?} of {count} waiters");
            };
            scope.spawn(waiter);
            Machine::until_sleeps(sleeps + 1);
        }
        mutex.lock();
        let mut longest = 0;
        let calls = calls_of(|| {
            let holds = holds(|| assert_eq!(condvar.notify_all(), count as usize));
            longest = holds.into_iter().max().expect("some");
        });
        assert!(calls.pointers < 30 * count, "{calls:?}");
        unlock(&mutex);
        longest
    })
}

#[test]
fn a_notification_of_all_holds_no_lock_for_many_steps() {
    let _alone = alone();
    for priority in [0, 1] {
        let [few, many] = [2, 8].map(|batches| longest_hold(batches, priority));
        assert!(many <= few, "{few} and {many} writes");
        Machine::until_at_rest();
    }
}
