//! Locking with a deadline.

use core::ffi::c_int;

use libc::timespec;
use ondeck_record::burst::Action;

use crate::bursts;
use crate::clock;
use crate::errno::{EDEADLK, EINVAL};
use crate::mode;
use crate::mutex::{enter_again, lock_deferred, lock_waiting, own, try_lock};
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
    // SAFETY: as the caller promises; it was asked whether it owns the mutex.
    bursts::recorded(Action::Lock, mutex, || unsafe { clocklock(mutex, clock, deadline) })
}

/// Locks a mutex that is ours and not the calling thread's.
///
/// # Safety
///
/// As of [`ondeck_preload_mutex_clocklock`].
#[inline(always)]
unsafe fn clocklock(mutex: *mut Mutex, clock: c_int, deadline: *const timespec) -> c_int {
    // SAFETY: the caller's mutex is there.
    let shared = unsafe { &*mutex };
    if !try_lock(shared) {
        // Only a call that has to wait looks at the time, so that a wrong one is no error before.
        if mode::may_be_asynchronous() {
            // SAFETY: as the caller promises; it was asked whether it owns the mutex.
            return unsafe { lock_deferred(mutex, clock, deadline) };
        }
        // SAFETY: as above.
        return unsafe { lock_waiting(mutex.cast(), clock, deadline, 0) };
    }
    if shared.kind() != Kind::Plain {
        own(shared);
    }
    0
}
