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
pub extern "C" fn ondeck_preload_mutex_timedlock(
    mutex: &Mutex,
    deadline: Option<&timespec>,
) -> c_int {
    ondeck_preload_mutex_clocklock(mutex, libc::CLOCK_REALTIME, deadline)
}

/// `pthread_mutex_clocklock`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_mutex_clocklock(
    mutex: &Mutex,
    clock: c_int,
    deadline: Option<&timespec>,
) -> c_int {
    if !clock::is_known(clock) {
        return EINVAL;
    }
    let kind = mutex.kind();
    if kind == Kind::Libc {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::mutex_clocklock(mutex, clock, deadline) };
    }
    if let Some(done) = enter_again(mutex, kind, EDEADLK) {
        return done;
    }
    bursts::recorded(Action::Lock, mutex, || clocklock(mutex, clock, deadline))
}

/// Locks a mutex of ours that the calling thread does not own.
#[inline(always)]
fn clocklock(mutex: &Mutex, clock: c_int, deadline: Option<&timespec>) -> c_int {
    if !try_lock(mutex) {
        // Only a call that has to wait checks the time, so an invalid time is no error before that.
        if mode::may_be_asynchronous() {
            return lock_deferred(mutex, clock, deadline);
        }
        return lock_waiting(mutex, clock, deadline, 0);
    }
    if mutex.kind() != Kind::Plain {
        own(mutex);
    }
    0
}
