//! No thread sleeps beyond its deadline, whether it is in the first slice of its sleep or in a later one. Time passes
//! only while a thread sleeps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ondeck::barrier::Barrier;
use ondeck::biased::RawBiasedMutex;
use ondeck::condvar::RawCondvar;
use ondeck::event::Event;
use ondeck::fair::RawFairMutex;
use ondeck::latch::Latch;
use ondeck::mutex::RawMutex;
use ondeck::once::Once;
use ondeck::parker::RawParker;
use ondeck::parking::{self, Parked};
use ondeck::platform::{FutexWait, Platform, Timestamp};
use ondeck::rwlock::RawRwLock;
use ondeck::semaphore::Semaphore;

use super::hooked_platform::{Hooked, hooks};
use super::{unlock, watched};

/// The time, in nanoseconds.
static NOW: AtomicU64 = AtomicU64::new(0);

hooks! {
    Timed {
        fn now() -> Timestamp {
            Timestamp::from_nanos(NOW.load(Ordering::SeqCst))
        }
        fn sleep(until: Option<Timestamp>) -> Option<FutexWait> {
            let until = until.expect("no thread sleeps for ever");
            NOW.store(until.as_nanos(), Ordering::SeqCst);
            Some(FutexWait::TimedOut)
        }
    }
}

type Machine = Hooked<Timed>;

/// Each wait fails at its deadline, and no later.
fn ends_in_time(waits: &[(&str, &dyn Fn(Timestamp) -> bool)]) {
    for (what, wait) in waits {
        for milliseconds in [0, 5, 50, 5_000] {
            let deadline = Machine::now().after(Duration::from_millis(milliseconds));
            assert!(!wait(deadline), "{what}: there is nothing to be had");
            assert_eq!(Machine::now(), deadline, "{what}: {milliseconds} ms");
        }
    }
}

/// All in one test, because the waits share the clock.
#[test]
fn no_thread_sleeps_beyond_its_deadline() {
    let _watchdog = watched();
    let (mutex, condvar) = (RawMutex::<Machine>::new(), RawCondvar::<Machine>::new());
    let (written, read) = (RawRwLock::<Machine>::new(), RawRwLock::<Machine>::new());
    let semaphore = Semaphore::<Machine>::on_platform(0);
    let waited_with = RawMutex::<Machine>::new();
    mutex.lock();
    waited_with.lock();
    written.lock_exclusive();
    read.lock_shared_counted();
    read.lock_upgradable();
    // SAFETY: no other code uses the address of a local variable as a key.
    let park = |until| unsafe {
        parking::park::<Machine>((&raw const mutex).addr(), || true, || (), Some(until))
    };
    ends_in_time(&[
        ("a mutex", &|until| mutex.try_lock_until(until)),
        // SAFETY: locked above.
        ("a condition variable", &|until| unsafe { condvar.wait(&waited_with, Some(until)) }),
        ("a read", &|until| written.try_lock_shared_until(until).is_some()),
        ("a recursive read", &|until| written.try_lock_shared_recursive_until(until).is_some()),
        ("an upgradable read", &|until| written.try_lock_upgradable_until(until)),
        ("a write", &|until| written.try_lock_exclusive_until(until)),
        // SAFETY: this thread has the upgradable read.
        ("an upgrade beside a reader", &|until| unsafe { read.try_upgrade_until(until) }),
        ("a semaphore", &|until| semaphore.try_acquire_by(until)),
        ("a key", &|until| park(until) != Parked::TimedOut),
    ]);
    // SAFETY: locked above.
    unsafe {
        read.unlock_upgradable();
        ends_in_time(&[("a write beside a reader", &|until| read.try_lock_exclusive_until(until))]);
        read.unlock_shared_counted();
        written.unlock_exclusive();
    }
    unlock(&mutex);
    unlock(&waited_with);
    assert!(!written.is_locked() && !read.is_locked() && !mutex.is_locked());

    let (fair, biased) = (RawFairMutex::<Machine>::new(), RawBiasedMutex::<Machine>::new());
    let (event, latch) = (Event::<Machine>::on_platform(), Latch::<Machine>::on_platform(1));
    let (barrier, parker) = (Barrier::<Machine>::on_platform(2), RawParker::<Machine>::new());
    fair.lock();
    let held = biased.lock();
    ends_in_time(&[
        ("a fair mutex", &|until| fair.try_lock_until(until)),
        ("a biased mutex", &|until| biased.try_lock_until(until).is_some()),
        ("an event", &|until| event.wait_by(until)),
        ("a latch", &|until| latch.wait_by(until)),
        ("a barrier", &|until| barrier.wait_by(until).is_some()),
        // SAFETY: no other thread parks there.
        ("a parker", &|until| unsafe { parker.park(Some(until)) }),
    ]);
    // SAFETY: both are locked above.
    unsafe {
        fair.unlock();
        biased.unlock(held);
    }

    let once = Once::<Machine>::on_platform();
    let ((begun, begins), (end, ends)) = (mpsc::channel(), mpsc::channel());
    thread::scope(|scope| {
        let closure = move || {
            begun.send(()).unwrap();
            ends.recv().unwrap();
        };
        scope.spawn(|| once.call_once(closure));
        begins.recv().unwrap();
        ends_in_time(&[("a once", &|until| once.wait_by(until))]);
        end.send(()).unwrap();
    });
}
