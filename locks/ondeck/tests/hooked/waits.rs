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

/// Acquires something, until a deadline if there is one, and gives it back. Returns whether it had
/// it.
fn has(
    until: Option<Timestamp>,
    acquire: impl FnOnce(),
    acquire_until: impl FnOnce(Timestamp) -> bool,
    give_back: impl FnOnce(),
) -> bool {
    let has_it = until.map_or_else(|| (acquire(), true).1, acquire_until);
    if has_it {
        give_back();
    }
    has_it
}

fn mutexes() {
    let mutex = &RawMutex::<Machine>::new();
    let lock =
        |until| has(until, || mutex.lock(), |end| mutex.try_lock_until(end), || unlock(mutex));
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
    let lock = |until| has(until, || fair.lock(), |end| fair.try_lock_until(end), unlock_fair);
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
    let write = |until| {
        has(until, || lock.lock_exclusive(), |end| lock.try_lock_exclusive_until(end), unwrite)
    };
    let read = |until| {
        let acquire_until = |end| lock.try_lock_shared_counted_until(end);
        has(until, || lock.lock_shared_counted(), acquire_until, unread)
    };
    let read_recursively = |until| {
        let acquire_until = |end| lock.try_lock_shared_recursive_counted_until(end);
        has(until, || lock.lock_shared_recursive_counted(), acquire_until, unread)
    };
    let read_upgradably = |until| {
        let acquire_until = |end| lock.try_lock_upgradable_until(end);
        has(until, || lock.lock_upgradable(), acquire_until, unlock_upgradable)
    };
    let upgrade = |until| {
        lock.lock_upgradable();
        // SAFETY: this thread has the upgradable read.
        let upgrade = || unsafe { lock.upgrade() };
        // SAFETY: as above.
        let upgrade_until = |end| unsafe { lock.try_upgrade_until(end) };
        let is_writer = has(until, upgrade, upgrade_until, unwrite);
        if !is_writer {
            unlock_upgradable();
        }
        is_writer
    };
    for (what, read) in [
        ("a write", &write as &(dyn Fn(_) -> _ + Sync)),
        ("a read", &read),
        ("a recursive read", &read_recursively),
        ("an upgradable read", &read_upgradably),
    ] {
        lock.lock_exclusive();
        wait(what, SLICED, read, unwrite);
    }
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
        let by = |end| semaphore.try_acquire_by(end);
        let acquire = |until| has(until, || semaphore.acquire(), by, || ());
        wait("a semaphore", longest, acquire, || semaphore.release(1));
    }
    let latch = Latch::<Machine>::on_platform(1);
    let waits = |until| has(until, || latch.wait(), |end| latch.wait_by(end), || ());
    wait("a latch", UNSLICED, waits, || latch.count_down());
    let barrier = Barrier::<Machine>::on_platform(2);
    let by = |end| barrier.wait_by(end).is_some();
    let waits = |until| has(until, || _ = barrier.wait(), by, || ());
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
        let waits = |until| has(until, || once.wait(), |end| once.wait_by(end), || ());
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
