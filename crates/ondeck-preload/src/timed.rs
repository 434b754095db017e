//! Locking with a deadline.

use core::ffi::c_int;

use libc::timespec;

use crate::clock::{self, Deadline};
use crate::errno::{EDEADLK, EINVAL, ETIMEDOUT};
use crate::mode;
use crate::mutex::{enter_again, own, try_lock, try_lock_until};
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
        // SAFETY: as the caller promises.
        let deadline = match unsafe { Deadline::new(clock, deadline) } {
            Ok(deadline) => deadline,
            Err(error) => return error,
        };
        loop {
            let Some(until) = deadline.until() else { return ETIMEDOUT };
            if try_lock_until(shared, until) {
                break;
            }
        }
    }
    if kind != Kind::Plain {
        own(shared);
    }
    0
}
