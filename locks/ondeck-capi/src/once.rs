//! The C functions of `ondeck_once_t`: the two halves of a call of [`Raw`].
//!
//! The library never calls the initialization itself: an exception in it, or its thread's
//! cancellation, would have to unwind through the library.

use core::cell::UnsafeCell;
use core::ffi::c_int;

use ondeck::Once as Raw;

/// An initialization that runs once: one byte. Its initial value is `ONDECK_ONCE_INIT`, which is
/// zero, so a static one needs no initializer. It must not be shared between processes.
#[repr(C)]
pub struct Once {
    /// Private to the functions of this header.
    pub byte: UnsafeCell<u8>,
}

const _: () = assert!(size_of::<Once>() == 1 && size_of::<Raw>() == 1);

/// Converts C's pointer to the once.
///
/// # Safety
///
/// `once` points to a once that outlives the use of the borrow.
unsafe fn raw<'a>(once: *const Once) -> &'a Raw {
    // SAFETY: both types are one byte that is only accessed atomically. The caller promises that it
    // is alive.
    unsafe { &*once.cast() }
}

/// Returns 1 if the caller is to run the initialization, and then to call `ondeck_once_end` or
/// `ondeck_once_abandon`. Returns 0 if it is done: everything before its end then happened before.
/// Waits while another thread runs it.
///
/// # Safety
///
/// `once` points to a once, whose initialization the calling thread does not run.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_once_begin(once: *mut Once) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw(once) }.begin().into()
}

/// Ends the initialization: it is done, for ever.
///
/// # Safety
///
/// `ondeck_once_begin` has returned 1, and the initialization has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_once_end(once: *mut Once) {
    // SAFETY: as the caller promises.
    unsafe { raw(once).end(true) };
}

/// Gives the initialization up: the next caller of `ondeck_once_begin`, or one that waits, is to
/// run it.
///
/// # Safety
///
/// As for `ondeck_once_end`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_once_abandon(once: *mut Once) {
    // SAFETY: as the caller promises.
    unsafe { raw(once).end(false) };
}
