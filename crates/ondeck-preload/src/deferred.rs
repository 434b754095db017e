//! Calls into the parking table with cancellation deferred, for processes in which it may be asynchronous: see
//! `asynchronous.c`.
//!
//! Each of these is called in the last place, so that no frame of Rust is there when a cancellation acts.

use core::ffi::{c_int, c_void};

use libc::timespec;

use crate::object::Mutex;

#[cfg(feature = "names")]
unsafe extern "C" {
    fn ondeck_preload_deferred(
        call: unsafe extern "C" fn(*mut c_void) -> c_int,
        object: *mut c_void,
    ) -> c_int;
    fn ondeck_preload_lock_deferred(
        mutex: *mut Mutex,
        clock: c_int,
        deadline: *const timespec,
    ) -> c_int;
}

/// Without the names `pthread_setcanceltype` is not the shim's either, and nothing is asynchronous.
#[cfg(not(feature = "names"))]
unsafe fn ondeck_preload_deferred(
    call: unsafe extern "C" fn(*mut c_void) -> c_int,
    object: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { call(object) }
}

#[cfg(not(feature = "names"))]
unsafe fn ondeck_preload_lock_deferred(
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // By its name, as `asynchronous.c` calls it, because `timed.rs` needs this module.
    unsafe extern "C" {
        fn ondeck_preload_lock_waiting(
            mutex: *mut Mutex,
            clock: c_int,
            deadline: *const timespec,
            in_slices: c_int,
        ) -> c_int;
    }
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_lock_waiting(mutex, clock, deadline, 0) }
}

/// Calls the function with the object.
///
/// # Safety
///
/// As of the function, which does not wait for another thread.
#[inline(always)]
pub(crate) unsafe fn call(
    function: unsafe extern "C" fn(*mut c_void) -> c_int,
    object: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_deferred(function, object) }
}

/// Waits for a mutex that is ours, until the deadline if there is one; returns what the C library's function does.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread does not own, `deadline` to a time or nowhere.
#[inline(always)]
pub(crate) unsafe fn lock(mutex: *mut Mutex, clock: c_int, deadline: *const timespec) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_lock_deferred(mutex, clock, deadline) }
}
