//! What a thread does while it waits, by every operation that blocks: when its sleeps end, and how
//! much of a CPU it takes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use ondeck::barrier::Barrier;
use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::fair::RawFairMutex;
use ondeck::latch::Latch;
use ondeck::mutex::RawMutex;
use ondeck::once::Once;
use ondeck::parking::Parked;
use ondeck::platform::{FutexWait, Platform, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::semaphore::Semaphore;

use super::hooked_platform::until;
use super::timed::{IDLE, Machine, SLICED, UNSLICED, wait, watch_in_vain};
use super::{keys, unlock, watched};

/// Starts a thread that runs `work`, and waits until it sleeps.
fn beside<'scope>(scope: &'scope thread::Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    Machine::until_it_sleeps(|| scope.spawn(work));
}

fn mutexes() {
    let mutex = &RawMutex::<Machine>::new();
    let lock = |until: Option<Timestamp>| {
        let owner = until.map_or_else(|| (mutex.lock(), true).1, |end| mutex.try_lock_until(end));
        if owner {
            unlock(mutex);
        }
        owner
    };
    mutex.lock();
    wait("a mutex, as the heir", SLICED, lock, || unlock(mutex));
    mutex.lock();
    thread::scope(|scope| {
        beside(scope, || _ = lock(None));
        wait("a mutex", SLICED, lock, || unlock(mutex));
    });

    let fair = &RawFairMutex::<Machine>::new();
    // SAFETY: a thread unlocks what it has locked.
    let unlock_fair = || unsafe { fair.unlock() };
    let lock = |until: Option<Timestamp>| {
        let owner = until.map_or_else(|| (fair.lock(), true).1, |end| fair.try_lock_until(end));
        if owner {
            unlock_fair();
        }
        owner
    };
    fair.lock();
    wait("a fair mutex", UNSLICED, lock, unlock_fair);
}

fn reader_writer_locks() {
    let lock = &RawRwLock::<Machine>::new();
    // SAFETY: a thread unlocks what it has locked.
    let unwrite = || unsafe { lock.unlock_exclusive() };
    // SAFETY: as above.
    let unread = || unsafe { lock.unlock_shared_counted() };
    // SAFETY: as above.
    let unlock_upgradable = || unsafe { lock.unlock_upgradable() };
    let write = |until: Option<Timestamp>| {
        let owner = until.map_or_else(
            || (lock.lock_exclusive(), true).1,
            |end| lock.try_lock_exclusive_until(end),
        );
        if owner {
            unwrite();
        }
        owner
    };
    let read = |until: Option<Timestamp>| {
        let held = match until {
            None => (lock.lock_shared_counted(), true).1,
            Some(end) => lock.try_lock_shared_counted_until(end),
        };
        if held {
            unread();
        }
        held
    };
    let read_recursively = |until: Option<Timestamp>| {
        let held = match until {
            None => (lock.lock_shared_recursive_counted(), true).1,
            Some(end) => lock.try_lock_shared_recursive_counted_until(end),
        };
        if held {
            unread();
        }
        held
    };
    let read_upgradably = |until: Option<Timestamp>| {
        let held = match until {
            None => (lock.lock_upgradable(), true).1,
            Some(end) => lock.try_lock_upgradable_until(end),
        };
        if held {
            unlock_upgradable();
        }
        held
    };
    let upgrade = |until: Option<Timestamp>| {
        lock.lock_upgradable();
        let owner = match until {
            // SAFETY: this thread has the upgradable read.
            None => unsafe { (lock.upgrade(), true).1 },
            // SAFETY: as above.
            Some(end) => unsafe { lock.try_upgrade_until(end) },
        };
        if owner {
            unwrite();
        } else {
            unlock_upgradable();
        }
        owner
    };
    lock.lock_exclusive();
    wait("a write", SLICED, write, unwrite);
    lock.lock_exclusive();
    wait("a read", SLICED, read, unwrite);
    lock.lock_exclusive();
    wait("a recursive read", SLICED, read_recursively, unwrite);
    lock.lock_exclusive();
    wait("an upgradable read", SLICED, read_upgradably, unwrite);
    lock.lock_shared_counted();
    wait("a write beside a reader", UNSLICED, write, unread);
    lock.lock_shared_counted();
    wait("an upgrade beside a reader", UNSLICED, upgrade, unread);
    assert!(!lock.is_locked());
}

fn condition_variables() {
    let (mutex, condvar) = (&RawMutex::<Machine>::new(), &RawCondvar::<Machine>::new());
    let waits = |until| {
        mutex.lock();
        // SAFETY: locked above.
        let notified = unsafe { condvar.wait(mutex, until) };
        unlock(mutex);
        notified
    };
    let notify = || assert_eq!(condvar.notify_one(), 1);
    watch_in_vain(|deadline| waits(Some(deadline)));
    wait("a condition variable", IDLE, waits, notify);
    let waits = |until| {
        let waiter = Box::new(Waiter::new(condvar, None, until));
        // SAFETY: the waiter is in a box until its wait is over.
        unsafe { waiter.begin() };
        let mut slept = FutexWait::Woken;
        loop {
            // SAFETY: the wait has begun, and is not over.
            match unsafe { waiter.step(slept) } {
                // SAFETY: a word of the waiter.
                Step::Sleep { word, expected, until } => unsafe {
                    slept = Machine::futex_wait(&*word, expected, until);
                },
                Step::Done { notified } => return notified,
            }
        }
    };
    wait("a condition variable without a mutex", UNSLICED, waits, notify);
}

fn others() {
    let semaphores =
        [(Semaphore::<Machine>::on_platform(0), IDLE), (Semaphore::fair_on_platform(0), UNSLICED)];
    for (semaphore, longest) in semaphores {
        let acquire = |until: Option<Timestamp>| {
            until.map_or_else(|| (semaphore.acquire(), true).1, |end| semaphore.try_acquire_by(end))
        };
        wait("a semaphore", longest, acquire, || semaphore.release(1));
    }
    let latch = Latch::<Machine>::on_platform(1);
    let waits = |until: Option<Timestamp>| {
        until.map_or_else(|| (latch.wait(), true).1, |end| latch.wait_by(end))
    };
    wait("a latch", UNSLICED, waits, || latch.count_down());
    let barrier = Barrier::<Machine>::on_platform(2);
    let waits = |until: Option<Timestamp>| match until {
        None => (barrier.wait(), true).1,
        Some(end) => barrier.wait_by(end).is_some(),
    };
    wait("a barrier", UNSLICED, waits, || _ = barrier.wait());
    let word = 0_u32;
    let key = (&raw const word).addr();
    let park = |until| keys::park::<Machine>(key, || true, || (), until) != Parked::TimedOut;
    wait("a key", UNSLICED, park, || {
        assert_eq!(keys::unpark::<Machine>(key, 1, |_, _| ()), 1);
    });

    let once = &Once::<Machine>::on_platform();
    let (begun, begins) = mpsc::channel();
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        let closure = move || {
            begun.send(()).unwrap();
            until(|| is_over.load(Ordering::SeqCst));
        };
        scope.spawn(|| once.call_once(closure));
        begins.recv().unwrap();
        let waits = |until: Option<Timestamp>| {
            until.map_or_else(|| (once.wait(), true).1, |end| once.wait_by(end))
        };
        wait("a once", UNSLICED, waits, || is_over.store(true, Ordering::SeqCst));
    });
}

/// All in one test, because the waits share the clock.
#[test]
fn a_waiting_thread_sleeps_until_its_deadline_and_burns_no_cpu() {
    let _watchdog = watched();
    condition_variables();
    mutexes();
    reader_writer_locks();
    others();
}
