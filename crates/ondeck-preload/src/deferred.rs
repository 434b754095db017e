//! Calls into the parking table with cancellation deferred, for processes in which it may be asynchronous: see
//! `asynchronous.c`.
//!
//! Each of these is called in the last place, so that no frame of Rust is there when a cancellation acts.

use core::ffi::{c_int, c_void};
use core::time::Duration;

use libc::timespec;
use ondeck::platform::{Linux, Platform, Timestamp};

use crate::clock::Deadline;
use crate::errno::ETIMEDOUT;

/// A function that waits for an object, until the deadline if there is one. The last argument asks it to come back
/// with [`AGAIN`] after a slice. Else it returns an error number.
pub(crate) type Wait =
    unsafe extern "C" fn(*mut c_void, clock: c_int, *const timespec, in_slices: c_int) -> c_int;
/// A function that gives back what was waited for, or does something else that waits for no other thread.
pub(crate) type Call = unsafe extern "C" fn(*mut c_void) -> c_int;

/// What a wait returns at the end of a slice; as in `asynchronous.c`.
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

/// Without the names `pthread_setcanceltype` is not the shim's either, and nothing is asynchronous.
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
/// As of the function, which does not wait for another thread.
#[inline(always)]
pub(crate) unsafe fn call(function: Call, object: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_deferred(function, object) }
}

/// Calls the function that waits; `undo` gives back what was waited for, if the thread is cancelled before it is
/// told.
///
/// # Safety
///
/// As of the functions.
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

/// The body of a [`Wait`]: attempts until `attempt`, which gives up at the moment it is given, has succeeded or the
/// deadline has passed.
///
/// # Safety
///
/// `deadline` points to a time or nowhere.
pub(crate) unsafe fn attempts(
    clock: c_int,
    deadline: *const timespec,
    in_slices: c_int,
    attempt: impl Fn(Option<Timestamp>) -> bool,
) -> c_int {
    /// Longer than an unlock lets a parked thread wait before it has it compete, and hands it the lock.
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
