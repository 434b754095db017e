//! Notifications: the number of waiters that they reach. The test drives the waiters.

use ondeck::condvar::{RawCondvar, Step, Waiter};
use ondeck::platform::FutexWait;

use super::hooked_platform::{Hooked, hooks};
use super::watched;

hooks! {
    /// No time passes, so that no waiter is overdue.
    Notified {
        fn ticks() -> u64 {
            0
        }
        fn ticks_in(nanos: u32) -> usize {
            nanos as usize
        }
    }
}

type Condvar = RawCondvar<Hooked<Notified>>;

struct Waits(Box<Waiter<Hooked<Notified>>>);

impl Waits {
    /// Begins a wait without a mutex: the waiter is near.
    fn near(condvar: &Condvar) -> Self {
        let waiter = Self(Box::new(Waiter::new(condvar, None, None)));
        // SAFETY: the waiter is in a box, and each test ends its wait.
        unsafe { waiter.0.begin() };
        waiter
    }

    /// Parks the waiter, or ends its wait. Returns whether it was notified.
    fn is_notified(&self) -> bool {
        // SAFETY: it has begun, and no test takes a step after the last one.
        matches!(unsafe { self.0.step(FutexWait::Woken) }, Step::Done { .. })
    }
}

#[test]
fn a_notification_of_one_reaches_one() {
    let _watchdog = watched();
    for are_parked in [false, true] {
        let condvar = Condvar::new();
        let waits = [0; 3].map(|_| Waits::near(&condvar));
        assert!(!are_parked || !waits.iter().any(Waits::is_notified));
        assert_eq!(condvar.notify_one(), 1);
        assert_eq!(waits.each_ref().map(Waits::is_notified), [false, false, true]);
        assert!(condvar.has_waiters());
        assert_eq!(condvar.notify_all(), 2);
        assert!(waits[..2].iter().all(Waits::is_notified));
        assert!(!condvar.has_waiters());
    }
}
