//! Calls into the parking table with cancellation deferred, for processes in which it may be
//! asynchronous: see `asynchronous.c`.
//!
//! Each function here is called as a tail call, so that no frame of Rust is on the stack when a
//! cancellation acts.

use core::ffi::c_int;
use core::time::Duration;
#[cfg(feature = "names")]
use core::{ffi::c_void, mem, ptr};

use libc::timespec;
use ondeck::platform::{Linux, Platform, Timestamp};

use crate::clock::Deadline;
use crate::errno::ETIMEDOUT;

/// A function that waits for an object, until the deadline if there is one. If the last argument is
/// set, it returns [`AGAIN`] after a slice. Otherwise it returns an error number.
pub(crate) type Wait<T> =
    extern "C" fn(&T, clock: c_int, Option<&timespec>, in_slices: c_int) -> c_int;
/// A function that undoes an acquisition, or does something else without waiting for another
/// thread.
pub(crate) type Call<T> = unsafe extern "C" fn(&T) -> c_int;

/// The result of a wait at the end of a slice; as in `asynchronous.c`.
const AGAIN: c_int = -1;

#[cfg(feature = "names")]
unsafe extern "C" {
    fn ondeck_preload_deferred(call: Call<c_void>, object: *const c_void) -> c_int;
    fn ondeck_preload_wait_deferred(
        wait: Wait<c_void>,
        undo: Call<c_void>,
        object: *const c_void,
        clock: c_int,
        deadline: Option<&timespec>,
    ) -> c_int;
}

/// Calls the function with the object. Without the exported names `pthread_setcanceltype` is not
/// interposed either, and no cancellation is asynchronous.
///
/// # Safety
///
/// As for the function, which must not wait for another thread.
#[inline(always)]
pub(crate) unsafe fn call<T>(function: Call<T>, object: &T) -> c_int {
    #[cfg(not(feature = "names"))]
    // SAFETY: as the caller promises.
    return unsafe { function(object) };
    #[cfg(feature = "names")]
    // SAFETY: as the caller promises; a reference is passed as a pointer is.
    unsafe {
        let function = mem::transmute::<Call<T>, Call<c_void>>(function);
        ondeck_preload_deferred(function, ptr::from_ref(object).cast())
    }
}

/// Calls the function that waits; `undo` undoes the acquisition if the thread is cancelled before
/// the call returns.
///
/// # Safety
///
/// As for `undo`, after an acquisition.
#[inline(always)]
pub(crate) unsafe fn wait<T>(
    wait: Wait<T>,
    undo: Call<T>,
    object: &T,
    clock: c_int,
    deadline: Option<&timespec>,
) -> c_int {
    #[cfg(not(feature = "names"))]
    return {
        let _ = undo;
        wait(object, clock, deadline, 0)
    };
    #[cfg(feature = "names")]
    // SAFETY: as the caller promises; a reference is passed as a pointer is.
    unsafe {
        let wait = mem::transmute::<Wait<T>, Wait<c_void>>(wait);
        let undo = mem::transmute::<Call<T>, Call<c_void>>(undo);
        ondeck_preload_wait_deferred(wait, undo, ptr::from_ref(object).cast(), clock, deadline)
    }
}

/// The body of a [`Wait`]: calls `attempt`, which gives up at the moment that it is given, until it
/// has succeeded or the deadline has passed.
pub(crate) fn attempts(
    clock: c_int,
    deadline: Option<&timespec>,
    in_slices: c_int,
    attempt: impl Fn(Option<Timestamp>) -> bool,
) -> c_int {
    /// Longer than the time after which an unlock wakes a parked thread to compete, and then hands
    /// it the lock.
    const SLICE: Duration = Duration::from_millis(5);
    let deadline = match deadline.map(|time| Deadline::new(clock, *time)).transpose() {
        Ok(deadline) => deadline,
        Err(error) => return error,
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
