//! What a lock costs depends on its own waiters. However many other threads are in the same bucket, the
//! lock's unlocks do not take the bucket's lock for them, and do not go through their queues.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Scope};

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::parking::Parked;
use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

use super::hooked_platform::{Hooked, Hooks, calls_of, hooks, until};
use super::{keys, no_polling, unlock, watched};

/// A thread that parks for a mutex, which is locked.
fn park<'scope, H: Hooks>(scope: &'scope Scope<'scope, '_>, mutex: &'scope RawMutex<Hooked<H>>) {
    assert!(mutex.is_locked());
    let before = Hooked::<H>::sleeps();
    scope.spawn(|| {
        mutex.lock();
        unlock(mutex);
    });
    Hooked::<H>::until_sleeps(before + 1);
}

/// Does `work` while the bucket's lock is held: a thread that wants that lock would hang.
fn with_the_bucket_locked<H: Hooks>(work: impl FnOnce()) {
    let state = AtomicU32::new(0);
    let key = (&raw const state).addr();
    let validate = || {
        work();
        false
    };
    assert_eq!(keys::park::<Hooked<H>>(key, validate, || (), None), Parked::Invalid);
}

mod beside {
    use super::*;

    hooks! {
        Beside {
            fn polling() -> Polling {
                no_polling()
            }
            // Each call is chosen.
            fn once_in(_: u32) -> bool {
                true
            }
        }
    }

    type Mutex = RawMutex<Hooked<Beside>>;

    /// Threads are parked for one lock, then for two. Another lock, for which no thread waits, is unlocked.
    #[test]
    fn an_unlock_that_no_thread_waits_for_takes_no_lock_of_the_bucket() {
        let _watchdog = watched();
        let [one, two, other] = [0; 3].map(|_| Mutex::new());
        let unlocks = || {
            let calls = calls_of(|| {
                with_the_bucket_locked::<Beside>(|| {
                    for _ in 0..10_000 {
                        other.lock();
                        unlock(&other);
                    }
                });
            });
            assert_eq!((calls.wakes, calls.heavy_fences), (0, 0));
        };
        unlocks();
        other.lock();
        unlock(&other);
        unlocks();
        thread::scope(|scope| {
            for mutex in [&one, &two] {
                mutex.lock();
                park(scope, mutex);
                unlocks();
            }
            unlock(&one);
            unlock(&two);
        });
        Hooked::<Beside>::until_at_rest();
    }
}

mod polled {
    use super::*;

    static POLLS: AtomicBool = AtomicBool::new(false);
    static PAUSES: AtomicU32 = AtomicU32::new(0);
    /// Whether the poller is to stay where it is, between two polls; and whether it does.
    static STAYS: AtomicBool = AtomicBool::new(false);
    static STAYED: AtomicBool = AtomicBool::new(false);

    hooks! {
        Polled {
            fn polling() -> Polling {
                let mut polling = no_polling();
                if POLLS.load(Ordering::SeqCst) {
                    // Longer than any of these tests takes.
                    polling.budget = u32::MAX - 1;
                }
                polling
            }
            fn pause() {
                PAUSES.fetch_add(1, Ordering::SeqCst);
                while STAYS.load(Ordering::SeqCst) {
                    STAYED.store(true, Ordering::SeqCst);
                    Linux::pause();
                }
            }
            // No thread is ever overdue; otherwise the poller would ask the owner to hand the lock over.
            fn ticks_in(nanos: u32) -> usize {
                if nanos >= 500_000 { usize::MAX / 4 } else { Linux::ticks_in(nanos) }
            }
        }
    }

    /// Threads are parked for the lock, and one polls.
    #[test]
    fn an_unlock_that_a_poller_waits_for_takes_no_lock_of_the_bucket() {
        let _watchdog = watched();
        let mutex = RawMutex::<Hooked<Polled>>::new();
        mutex.lock();
        thread::scope(|scope| {
            park(scope, &mutex);
            park(scope, &mutex);
            POLLS.store(true, Ordering::SeqCst);
            scope.spawn(|| {
                mutex.lock();
                unlock(&mutex);
            });
            // Fewer may be those of a thread that reads the lock before it polls.
            until(|| PAUSES.load(Ordering::SeqCst) > 1_000);
            // If it had the lock before the unlock looks, that would be for the unlock to wake another.
            STAYS.store(true, Ordering::SeqCst);
            until(|| STAYED.load(Ordering::SeqCst));
            let calls = calls_of(|| with_the_bucket_locked::<Polled>(|| unlock(&mutex)));
            STAYS.store(false, Ordering::SeqCst);
            assert_eq!(calls.wakes, 0);
        });
        Hooked::<Polled>::until_at_rest();
    }
}

mod pinned {
    use super::*;

    /// Whether threads that were woken do not run yet; and how many those are.
    static IS_LATE: AtomicBool = AtomicBool::new(false);
    static LATE: AtomicU32 = AtomicU32::new(0);

    hooks! {
        Pinned {
            fn polling() -> Polling {
                no_polling()
            }
            fn woke() {
                LATE.fetch_add(1, Ordering::SeqCst);
                until(|| !IS_LATE.load(Ordering::SeqCst));
            }
        }
    }

    type Machine = Hooked<Pinned>;

    /// Threads wait at condition variables, for as many mutexes as a bucket has records. Threads are parked for
    /// another lock: it has a record of its own, in which one of them is marked as in flight.
    #[test]
    fn idle_waiters_of_other_mutexes_take_no_record_from_a_contended_lock() {
        let _watchdog = watched();
        let idle = &[0; 2].map(|_| (RawMutex::<Machine>::new(), RawCondvar::<Machine>::new()));
        let mutex = &RawMutex::<Machine>::new();
        thread::scope(|scope| {
            for (its_mutex, condvar) in idle {
                let before = Machine::sleeps();
                scope.spawn(move || {
                    its_mutex.lock();
                    // SAFETY: locked above.
                    assert!(unsafe { condvar.wait(its_mutex, None) });
                    unlock(its_mutex);
                });
                Machine::until_sleeps(before + 1);
            }
            mutex.lock();
            park(scope, mutex);
            park(scope, mutex);
            IS_LATE.store(true, Ordering::SeqCst);
            unlock(mutex);
            until(|| LATE.load(Ordering::SeqCst) == 1);
            mutex.lock();
            let calls = calls_of(|| unlock(mutex));
            IS_LATE.store(false, Ordering::SeqCst);
            assert_eq!(calls.wakes, 0, "a thread is in flight");
            for (_, condvar) in idle {
                assert_eq!(condvar.notify_one(), 1);
            }
        });
        Machine::until_at_rest();
    }
}

mod queues {
    use super::*;

    hooks! {
        Queues {
            fn polling() -> Polling {
                no_polling()
            }
        }
    }

    /// Many threads are parked, for the lock itself or in other queues of its bucket.
    #[test]
    fn an_unlock_and_a_notification_go_through_no_queue() {
        /// Far fewer than there are threads in a queue, and more than a wake reads.
        const FEW: u32 = 40;
        const MANY: u32 = 100;
        let _watchdog = watched();
        let [mutex, other] = [0; 2].map(|_| RawMutex::<Hooked<Queues>>::new());
        let (condvar, key) = (RawCondvar::<Hooked<Queues>>::new(), AtomicU32::new(0));
        let key = (&raw const key).addr();
        mutex.lock();
        other.lock();
        thread::scope(|scope| {
            for _ in 0..MANY {
                park(scope, &mutex);
                let before = Hooked::<Queues>::sleeps();
                scope.spawn(|| {
                    let parked = keys::park::<Hooked<Queues>>(key, || true, || (), None);
                    assert_eq!(parked, Parked::Woken);
                });
                Hooked::<Queues>::until_sleeps(before + 1);
            }
            park(scope, &other);
            let calls = calls_of(|| unlock(&other));
            assert!(calls.wakes == 1 && calls.pointers < FEW, "{calls:?}");
            let before = Hooked::<Queues>::sleeps();
            scope.spawn(|| {
                let mutex = RawMutex::new();
                mutex.lock();
                // SAFETY: locked above.
                assert!(unsafe { condvar.wait(&mutex, None) });
                unlock(&mutex);
            });
            Hooked::<Queues>::until_sleeps(before + 1);
            let calls = calls_of(|| assert_eq!(condvar.notify_one(), 1));
            assert!(calls.wakes == 1 && calls.pointers < FEW, "{calls:?}");
            let calls = calls_of(|| unlock(&mutex));
            assert!(calls.wakes == 1 && calls.pointers < FEW, "{calls:?}");
            let woken = keys::unpark::<Hooked<Queues>>(key, usize::MAX, |_, _| ());
            assert_eq!(woken, MANY as usize);
        });
        Hooked::<Queues>::until_at_rest();
    }
}
