//! A test in a process of its own, where waiters wait as it says and nobody else uses the table.

#[path = "again.rs"]
mod again;

use std::thread;

use again::{again, is_child};
use ondeck::Mutex;
use ondeck::parking::{self, Parked};
use ondeck::platform::{Host, Linux};
use ondeck::spin::Polling;

/// Runs the calling test alone.
pub fn alone(test: impl FnOnce()) {
    if is_child() {
        return test();
    }
    let output = again(|_| ());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {told}", output.status);
}

/// From now on waiters poll for so many nanoseconds before they sleep.
pub fn poll_for(budget: u32) {
    let mut polling = Polling::default();
    polling.budget = budget;
    polling.install();
}

/// Waits until somebody waits for the mutex; if nobody polls, until it is counted as asleep.
pub fn until_waited_for<T>(mutex: &Mutex<T>) {
    let key = std::ptr::from_ref(mutex).addr();
    while Linux::bucket(key).is_at_rest() {
        thread::yield_now();
    }
    // Who links itself has the bucket's lock until it is done.
    // SAFETY: nothing parks there; the mutex's own threads wait for something of another kind.
    let parked = unsafe { parking::park::<Linux>(key, || false, || (), None) };
    assert_eq!(parked, Parked::Invalid);
}
