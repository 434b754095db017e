//! Locking with a deadline.

use core::ffi::c_int;
use core::time::Duration;

use libc::timespec;
use ondeck::platform::{Linux, Platform};

use crate::clock::{self, Deadline};
use crate::deferred;
use crate::errno::{EDEADLK, EINVAL, ETIMEDOUT};
use crate::mode;
use crate::mutex::{enter_again, lock, own, try_lock, try_lock_until};
use crate::object::{Kind, Mutex};
use crate::real;

/// `pthread_mutex_timedlock`.
///
/// # Safety
///
/// As of the C library's function: `mutex` points to a mutex, `deadline` to a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_timedlock(
    mutex: *mut Mutex,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_mutex_clocklock(mutex, libc::CLOCK_REALTIME, deadline) }
}

/// `pthread_mutex_clocklock`.
///
/// # Safety
///
/// As of the C library's function: `mutex` points to a mutex, `deadline` to a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_clocklock(
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    mode::decide();
    if !clock::is_known(clock) {
        return EINVAL;
    }
    // SAFETY: the caller's mutex is there.
    let shared = unsafe { &*mutex };
    let kind = shared.kind();
    if kind == Kind::Libc {
        // SAFETY: the C library's function, with what its caller gave.
        return unsafe { real::mutex_clocklock(mutex, clock, deadline) };
    }
    if let Some(done) = enter_again(shared, kind, EDEADLK) {
        return done;
    }
    if !try_lock(shared) {
        // Only a call that has to wait looks at the time, so that a wrong one is no error before.
        if mode::may_be_asynchronous() {
            // SAFETY: as the caller promises; it was asked whether it owns the mutex.
            return unsafe { deferred::lock(mutex, clock, deadline) };
        }
        // SAFETY: as above.
        return unsafe { ondeck_preload_lock_waiting(mutex, clock, deadline, 0) };
    }
    if kind != Kind::Plain {
        own(shared);
    }
    0
}

/// Waits for a mutex that is ours, until the deadline if there is one. If `in_slices`, it comes back after some
/// milliseconds: see `asynchronous.c`. Returns an error number, or `AGAIN` then.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread does not own, `deadline` to a time or nowhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_lock_waiting(
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const timespec,
    in_slices: c_int,
) -> c_int {
    /// As in `asynchronous.c`.
    const AGAIN: c_int = -1;
    /// Longer than an unlock lets a parked thread wait before it has it compete, and hands it the lock.
    const SLICE: Duration = Duration::from_millis(5);
    // SAFETY: the caller's mutex is there.
    let shared = unsafe { &*mutex };
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
        let Some(until) = until else {
            lock(shared);
            break;
        };
        if try_lock_until(shared, until) {
            break;
        }
        if slice.is_some_and(|slice| Linux::now() >= slice) {
            return AGAIN;
        }
    }
    if shared.kind() != Kind::Plain {
        own(shared);
    }
    0
}
