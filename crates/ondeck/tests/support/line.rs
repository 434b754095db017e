//! Detects threads that wait for a lock that keeps them at its own address.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use std::thread;

use ondeck::parking;
use ondeck::platform::Native;

/// Waits until this number of threads wait at `place`, as a key of the parking table.
pub fn until_waiting<T>(place: *const T, count: usize) {
    while parking::waiting::<Native>(place.addr()) != count {
        thread::yield_now();
    }
}
