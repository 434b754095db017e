//! How waiters wait, as a test with a process of its own sets it, and how it knows that they do.

use std::thread;

use ondeck::Mutex;
use ondeck::parking::{self, Parked};
use ondeck::platform::{Host, Native};
use ondeck::spin::Polling;

/// From now on waiters poll for so many nanoseconds before they park.
pub fn poll_for(budget: u32) {
    let mut polling = Polling::default();
    polling.budget = budget;
    polling.install();
}

/// Waits until a thread waits for the mutex. If threads do not poll, waits until it is counted as parked.
pub fn until_waited_for<T>(mutex: &Mutex<T>) {
    let key = std::ptr::from_ref(mutex).addr();
    while Native::bucket(key).is_at_rest() {
        thread::yield_now();
    }
    // A thread that links its node holds the bucket's lock until it is counted.
    // SAFETY: no thread parks at this key; the mutex's own waiters are of another kind.
    let parked = unsafe { parking::park::<Native>(key, || false, || (), None) };
    assert_eq!(parked, Parked::Invalid);
}
