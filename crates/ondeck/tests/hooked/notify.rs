//! Notifications: which system calls they make, and what they do not bring about.

use std::thread;

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::spin::Polling;

use super::hooked_platform::{Calls, Hooked, calls_of, hooks};
use super::{no_polling, unlock, watched};

hooks! {
    Asleep {
        fn polling() -> Polling {
            no_polling()
        }
    }
}

type Machine = Hooked<Asleep>;

/// Threads that are parked at the condition variable.
const WAITERS: usize = 5;

fn waits(mutex: &RawMutex<Machine>, condvar: &RawCondvar<Machine>) {
    mutex.lock();
    // SAFETY: locked above.
    assert!(unsafe { condvar.wait(mutex, None) });
    unlock(mutex);
}

#[test]
fn a_notification_makes_no_system_call_while_the_mutex_is_locked_and_one_if_it_is_free() {
    let _watchdog = watched();
    // First with the bucket as it is at the start, then with unlocks that have no fences.
    for is_locked in [true, false, true, false] {
        let (mutex, condvar) = (RawMutex::<Machine>::new(), RawCondvar::<Machine>::new());
        thread::scope(|scope| {
            for _ in 0..WAITERS {
                let before = Machine::sleeps();
                scope.spawn(|| waits(&mutex, &condvar));
                Machine::until_sleeps(before + 1);
            }
            mutex.lock();
            if !is_locked {
                unlock(&mutex);
            }
            // The woken thread stays in flight until the other has notified.
            let calls =
                calls_of(|| assert_eq!(condvar.notify_one() + condvar.notify_all(), WAITERS));
            let Calls { wakes, heavy_fences, .. } = calls;
            assert_eq!(heavy_fences, 0);
            if is_locked {
                assert_eq!(wakes, 0);
                unlock(&mutex);
            } else {
                // There are two calls if the first waiter has had the mutex before the second notification.
                assert!((1..=2).contains(&wakes), "{wakes}");
            }
        });
        Machine::until_at_rest();
    }
}
