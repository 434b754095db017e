//! Detects threads that wait for a lock that keeps them at its own address.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use ondeck::parking;
use ondeck::platform::Native;

use crate::until::until;

/// Waits until this number of threads wait at keys of the parking table within the lock: a word for
/// its name may come before its state.
pub fn until_waiting<T>(lock: *const T, count: usize) {
    let keys = || lock.addr()..lock.addr() + size_of::<T>();
    until(|| keys().map(parking::waiting::<Native>).sum::<usize>() == count);
}
