//! Operations that are recorded one by one, for replays: see `ondeck_record::burst`.
//!
//! While they are, no fast path is taken, and each function comes here. Else the shim is as it was.

use core::arch::naked_asm;
use core::ffi::c_int;
use core::ptr;

use ondeck_record::burst::{Action, Begun, Caller, begin};

use crate::mode;
use crate::mutex::{lock_other, trylock_slow};
use crate::object::Mutex;

/// An operation that has begun, if operations are recorded.
#[inline(always)]
pub(crate) fn begun() -> Option<Begun> {
    mode::has_bursts().then(begin)
}

/// Carries out an operation, which is recorded if it returns 0.
#[inline(always)]
pub(crate) fn recorded<T>(
    action: Action,
    object: *const T,
    operation: impl FnOnce() -> c_int,
) -> c_int {
    recorded_of(action, object, Caller::default(), operation)
}

#[inline(always)]
fn recorded_of<T>(
    action: Action,
    object: *const T,
    caller: Caller,
    operation: impl FnOnce() -> c_int,
) -> c_int {
    let begun = begun();
    let result = operation();
    if let (Some(begun), 0) = (begun, result) {
        begun.end(action, object.addr(), caller);
    }
    result
}

/// [`lock_other`] with the place that the mutex is locked from.
///
/// The fast path ends with a jump to this function, so that the return address is that of the program. If a compiler
/// calls it instead, the place is in the shim, and call sites of the same frame are one.
///
/// # Safety
///
/// As for `ondeck_preload_mutex_lock`.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn lock_from(mutex: *mut Mutex) -> c_int {
    naked_asm!("mov rsi, [rsp]", "lea rdx, [rsp + 8]", "jmp {}", sym lock_recorded)
}

unsafe extern "C" fn lock_recorded(mutex: *mut Mutex, address: usize, frame: usize) -> c_int {
    let caller = Caller { address, frame };
    // SAFETY: as the caller promises.
    recorded_of(Action::Lock, mutex, caller, || unsafe { lock_other(mutex) })
}

/// [`trylock_slow`], as [`lock_from`].
///
/// # Safety
///
/// As for `ondeck_preload_mutex_lock`.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn trylock_from(mutex: *mut Mutex) -> c_int {
    naked_asm!("mov rsi, [rsp]", "lea rdx, [rsp + 8]", "jmp {}", sym trylock_recorded)
}

unsafe extern "C" fn trylock_recorded(mutex: *mut Mutex, address: usize, frame: usize) -> c_int {
    let caller = Caller { address, frame };
    // SAFETY: as the caller promises.
    recorded_of(Action::Lock, mutex, caller, || unsafe { trylock_slow(mutex) })
}

/// A thread that waited for a condition variable has its mutex again, for which it waited so many nanoseconds.
pub(crate) fn waited(begun: Option<Begun>, mutex: &Mutex, nanos: u64) {
    if let Some(begun) = begun {
        begun.end_of_wait(ptr::from_ref(mutex).addr(), nanos);
    }
}
