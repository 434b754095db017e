//! The lock of a bucket on a machine where no thread polls, and for how long threads poll.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::mutex::RawMutex;
use ondeck::parking::Parked;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::{Polling, polling_ticks};

use super::hooked_platform::{Hooked, Hooks, hooks, unpolled, until};
use super::{keys, unlock, watched};

std::thread_local! {
    static PAUSES: Cell<u32> = const { Cell::new(0) };
}

hooks! {
    Unpolled {
        fn pause() {
            PAUSES.set(PAUSES.get() + 1);
            Linux::pause();
        }
        // The heir makes its first attempt immediately.
        fn polling() -> Polling {
            unpolled(0)
        }
    }
}

type Machine = Hooked<Unpolled>;

#[test]
fn a_thread_that_does_not_poll_does_not_poll_a_bucket_either() {
    let _watchdog = watched();
    let mutex = &RawMutex::<Machine>::new();
    let comes = &AtomicBool::new(false);
    let word = 0_u32;
    mutex.lock();
    let pauses = thread::scope(|scope| {
        let mut waits = None;
        let validate = || {
            waits = Some(scope.spawn(|| {
                comes.store(true, Ordering::SeqCst);
                mutex.lock();
                unlock(mutex);
                PAUSES.get()
            }));
            until(|| comes.load(Ordering::SeqCst));
            thread::sleep(Duration::from_millis(20));
            false
        };
        let parked = keys::park::<Machine>((&raw const word).addr(), validate, || (), None);
        assert_eq!(parked, Parked::Invalid);
        Machine::until_sleeps(1);
        unlock(mutex);
        waits.take().expect("spawned").join().expect("no panic")
    });
    assert_eq!(pauses, 0);
}

hooks! { Crowded {} }

/// Six threads sleep for the lock of a bucket. The threads that its unlock wakes acquire it one
/// after the other, and each of them has to wake others.
#[test]
fn all_that_sleep_for_a_bucket_get_it() {
    let _watchdog = watched();
    let words = [0_u32; 7];
    let visit = |word: &u32, validate: &mut dyn FnMut()| {
        let validate = || {
            validate();
            false
        };
        let parked =
            keys::park::<Hooked<Crowded>>(ptr::from_ref(word).addr(), validate, || (), None);
        assert_eq!(parked, Parked::Invalid);
    };
    let (own, others) = words.split_first().expect("seven");
    // In many rounds: a thread that is woken beside another and finds the lock held marks it again,
    // and hides a lost mark.
    for _ in 0..20 {
        thread::scope(|scope| {
            visit(own, &mut || {
                for word in others {
                    scope.spawn(move || visit(word, &mut || ()));
                }
                // Waits until they sleep, which the table does not count for its own futexes.
                thread::sleep(Duration::from_millis(20));
            });
        });
    }
}

static CPUS: AtomicUsize = AtomicUsize::new(2);

hooks! {
    Polled {
        fn polling() -> Polling {
            let mut polling = unpolled(0);
            polling.budget = 7_000;
            polling
        }
        fn cpus() -> usize {
            CPUS.load(Ordering::SeqCst)
        }
    }
}

#[test]
fn a_thread_polls_for_the_budget_except_on_the_only_cpu() {
    assert_eq!(polling_ticks::<Hooked<Polled>>(), Polled::ticks_in(7_000));
    CPUS.store(1, Ordering::SeqCst);
    assert_eq!(polling_ticks::<Hooked<Polled>>(), 0);
}
