//! Calls into the parking table with cancellation deferred, for processes in which it may be asynchronous: see
//! `asynchronous.c`.
//!
//! Each function here is called as a tail call, so that no frame of Rust is on the stack when a cancellation acts.

use core::ffi::{c_int, c_void};
use core::time::Duration;

use libc::timespec;
use ondeck::platform::{Linux, Platform, Timestamp};

use crate::clock::Deadline;
use crate::errno::ETIMEDOUT;

/// A function that waits for an object, until the deadline if there is one. If the last argument is set, it returns
/// [`AGAIN`] after a slice. Otherwise it returns an error number.
pub(crate) type Wait =
    unsafe extern "C" fn(*mut c_void, clock: c_int, *const timespec, in_slices: c_int) -> c_int;
/// A function that undoes an acquisition, or does something else without waiting for another thread.
pub(crate) type Call = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The result of a wait at the end of a slice; as in `asynchronous.c`.
const AGAIN: c_int = -1;

#[cfg(feature = "names")]
unsafe extern "C" {
    fn ondeck_preload_deferred(call: Call, object: *mut c_void) -> c_int;
    fn ondeck_preload_wait_deferred(
        wait: Wait,
        undo: Call,
        object: *mut c_void,
        clock: c_int,
        deadline: *const timespec,
    ) -> c_int;
}

/// Without the exported names `pthread_setcanceltype` is not interposed either, and no cancellation is
/// asynchronous.
#[cfg(not(feature = "names"))]
unsafe fn ondeck_preload_deferred(call: Call, object: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { call(object) }
}

#[cfg(not(feature = "names"))]
unsafe fn ondeck_preload_wait_deferred(
    wait: Wait,
    _undo: Call,
    object: *mut c_void,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { wait(object, clock, deadline, 0) }
}

/// Calls the function with the object.
///
/// # Safety
///
/// As for the function, which must not wait for another thread.
#[inline(always)]
pub(crate) unsafe fn call(function: Call, object: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_deferred(function, object) }
}

/// Calls the function that waits; `undo` undoes the acquisition if the thread is cancelled before the call returns.
///
/// # Safety
///
/// As for the functions.
#[inline(always)]
pub(crate) unsafe fn wait(
    wait: Wait,
    undo: Call,
    object: *mut c_void,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_wait_deferred(wait, undo, object, clock, deadline) }
}

/// The body of a [`Wait`]: calls `attempt`, which gives up at the moment that it is given, until it has succeeded
/// or the deadline has passed.
///
/// # Safety
///
/// `deadline` points to a time or is null.
pub(crate) unsafe fn attempts(
    clock: c_int,
    deadline: *const timespec,
    in_slices: c_int,
    attempt: impl Fn(Option<Timestamp>) -> bool,
) -> c_int {
    /// Longer than the time after which an unlock wakes a parked thread to compete, and then hands it the lock.
    const SLICE: Duration = Duration::from_millis(5);
    let deadline = if deadline.is_null() {
        None
    } else {
        // SAFETY: as the caller promises.
        match unsafe { Deadline::new(clock, deadline) } {
            Ok(deadline) => Some(deadline),
            Err(error) => return error,
        }
    };
    let slice = (in_slices != 0).then(|| Linux::now().after(SLICE));
    loop {
        let until = match deadline.map(Deadline::until) {
            None => slice,
            Some(None) => return ETIMEDOUT,
            Some(Some(until)) => Some(slice.map_or(until, |slice| until.min(slice))),
        };
        if attempt(until) {
            return 0;
        }
        if slice.is_some_and(|slice| Linux::now() >= slice) {
            return AGAIN;
        }
    }
}
