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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_timedlock(
    mutex: *mut Mutex,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_preload_mutex_clocklock(mutex, libc::CLOCK_REALTIME, deadline) }
}

/// `pthread_mutex_clocklock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_clocklock(
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    if !clock::is_known(clock) {
        return EINVAL;
    }
    // SAFETY: the caller's mutex is valid.
    let shared = unsafe { &*mutex };
    let kind = shared.kind();
    if kind == Kind::Libc {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::mutex_clocklock(mutex, clock, deadline) };
    }
    if let Some(done) = enter_again(shared, kind, EDEADLK) {
        return done;
    }
    // SAFETY: as the caller promises; ownership by the calling thread was checked.
    bursts::recorded(Action::Lock, mutex, || unsafe { clocklock(mutex, clock, deadline) })
}

/// Locks a mutex of ours that the calling thread does not own.
#[inline(always)]
unsafe fn clocklock(mutex: *mut Mutex, clock: c_int, deadline: *const timespec) -> c_int {
    // SAFETY: the caller's mutex is valid.
    let shared = unsafe { &*mutex };
    if !try_lock(shared) {
        // Only a call that has to wait checks the time, so an invalid time is no error before that.
        if mode::may_be_asynchronous() {
            // SAFETY: as the caller promises; ownership by the calling thread was checked.
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
