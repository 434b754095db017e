//! Operations recorded one by one, for replays: see `ondeck_record::burst`.
//!
//! While they are recorded, no fast path is taken, and each function calls this module. Otherwise
//! the shim is unaffected.

use core::ffi::c_int;
use core::ptr;

use ondeck_record::burst::{Action, Begun, Caller, begin};

use crate::mode;
use crate::object::Mutex;

/// An operation in progress, if operations are recorded.
#[inline(always)]
pub(crate) fn begun() -> Option<Begun> {
    mode::has_bursts().then(begin)
}

/// Runs an operation, and records it if it returns 0.
#[inline(always)]
pub(crate) fn recorded<T>(action: Action, object: &T, operation: impl FnOnce() -> c_int) -> c_int {
    recorded_of(action, object, Caller::default(), operation)
}

/// The same, with the call site.
#[inline(always)]
pub(crate) fn recorded_of<T>(
    action: Action,
    object: &T,
    caller: Caller,
    operation: impl FnOnce() -> c_int,
) -> c_int {
    let begun = begun();
    let result = operation();
    if let (Some(begun), 0) = (begun, result) {
        begun.end(action, ptr::from_ref(object).addr(), caller);
    }
    result
}

/// `sched_yield`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_sched_yield() -> c_int {
    let begun = begun();
    // SAFETY: sched_yield(2) takes no arguments.
    let result = unsafe { libc::syscall(libc::SYS_sched_yield) };
    if let Some(begun) = begun {
        begun.end(Action::Yield, 0, Caller::default());
    }
    result as c_int
}

/// Ends a wait for a condition variable, after which the thread waited `nanos` for its mutex.
pub(crate) fn waited(begun: Option<Begun>, mutex: &Mutex, nanos: u64) {
    if let Some(begun) = begun {
        begun.end_of_wait(ptr::from_ref(mutex).addr(), nanos);
    }
}
