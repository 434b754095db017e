//! Detects threads that wait for a lock that keeps them at its own address.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use ondeck::parking;
use ondeck::platform::Native;

use crate::until::until;

/// Waits until this number of threads wait at `place`, as a key of the parking table.
pub fn until_waiting<T>(place: *const T, count: usize) {
    until(|| parking::waiting::<Native>(place.addr()) == count);
}
