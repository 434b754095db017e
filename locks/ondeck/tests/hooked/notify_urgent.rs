//! Waiters of a real-time scheduling class: a notification chooses among them by priority.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::mutex::RawMutex;
use ondeck::platform::FutexWait;

use super::hooked_platform::{Hooked, hooks, until};
use super::{unlock, watched};

std::thread_local! {
    static PRIORITY: Cell<u32> = const { Cell::new(0) };
}

static SEEN: AtomicBool = AtomicBool::new(false);

hooks! {
    Urgent {
        // No waiter is overdue.
        fn ticks_in(nanos: u32) -> usize {
            if nanos == 1_000_000 { usize::MAX / 4 } else { nanos as usize }
        }
        fn priority() -> u32 {
            PRIORITY.get()
        }
        fn has_real_time_threads() -> bool {
            SEEN.load(Ordering::Relaxed)
        }
    }
}

type Machine = Hooked<Urgent>;

/// Waiters of these priorities arrive one after the other. Returns the order in which notifications
/// chose them.
fn order_of_notifications(priorities: &[u32]) -> Vec<u32> {
    let (mutex, condvar) = (RawMutex::<Machine>::new(), RawCondvar::<Machine>::new());
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for &priority in priorities {
            let (mutex, condvar, order) = (&mutex, &condvar, &order);
            Machine::until_it_sleeps(|| {
                scope.spawn(move || {
                    PRIORITY.set(priority);
                    mutex.lock();
                    // SAFETY: locked above.
                    assert!(unsafe { condvar.wait(mutex, None) });
                    order.lock().expect("no panic").push(priority);
                    unlock(mutex);
                })
            });
        }
        for notified in 1..=priorities.len() {
            assert_eq!(condvar.notify_one(), 1);
            until(|| order.lock().expect("no panic").len() >= notified);
        }
        assert_eq!(condvar.notify_one(), 0);
    });
    Machine::until_at_rest();
    order.into_inner().expect("no panic")
}

/// A waiter of the class sleeps, and a newer waiter has not yet parked.
fn a_near_waiter_comes_later() {
    let (mutex, condvar) = (RawMutex::<Machine>::new(), RawCondvar::<Machine>::new());
    thread::scope(|scope| {
        let urgent = Machine::until_it_sleeps(|| {
            scope.spawn(|| {
                PRIORITY.set(1);
                mutex.lock();
                // SAFETY: locked above.
                assert!(unsafe { condvar.wait(&mutex, None) });
                unlock(&mutex);
            })
        });
        mutex.lock();
        let near = Box::new(Waiter::new(&condvar, Some(&mutex), None));
        // SAFETY: the mutex is locked, and the wait is over before the box is freed.
        unsafe { near.begin() };
        assert_eq!(condvar.notify_one(), 1);
        // SAFETY: the wait has begun, and is not over.
        let step = unsafe { near.step(FutexWait::Woken) };
        assert!(matches!(step, Step::Sleep { .. }), "the other was notified");
        urgent.join().expect("no panic");
        // SAFETY: as above, and it takes no step after this.
        unsafe { near.cancel() };
        unlock(&mutex);
    });
    Machine::until_at_rest();
}

#[test]
fn the_highest_priority_is_notified_first() {
    let _watchdog = watched();
    assert_eq!(order_of_notifications(&[0; 3]), [0; 3]);
    // Ordinary threads come last, the newest of them first, as always.
    SEEN.store(true, Ordering::Relaxed);
    assert_eq!(order_of_notifications(&[1, 50, 0, 20, 51]), [51, 50, 20, 1, 0]);
    a_near_waiter_comes_later();
}
