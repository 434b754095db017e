//! The C functions of `ondeck_cond_t`, each a wrapper of [`RawCondvar`].

use core::cell::UnsafeCell;
use core::ffi::c_int;

use ondeck::condvar::RawCondvar;
use ondeck::platform::Native;

use crate::deadline::Deadline;
use crate::mutex::{Mutex, raw as raw_mutex};
use crate::system;

/// A condition variable for `ondeck_mutex_t`: one byte. Its initial value is `ONDECK_COND_INIT`,
/// which is zero, so zeroed memory is a valid condition variable and a static one needs no
/// initializer. It may be freed when no thread waits, also by the thread that it notified last.
///
/// It must not be shared between processes. Its waiters may use different mutexes, even at the same
/// time. A copy of it is another condition variable.
#[repr(C)]
pub struct Cond {
    /// 0 while no thread waits. Private to the functions of this header.
    pub byte: UnsafeCell<u8>,
}

const _: () = assert!(size_of::<Cond>() == 1 && align_of::<Cond>() == 1);
const _: () = assert!(size_of::<Cond>() == size_of::<RawCondvar<Native>>());

/// Converts C's pointer to the condition variable.
///
/// # Safety
///
/// `cond` points to a condition variable that outlives the use of the borrow.
unsafe fn raw<'a>(cond: *const Cond) -> &'a RawCondvar<Native> {
    // SAFETY: both types are one byte, 0 or 1, that is only accessed atomically. The caller
    // promises that it is alive.
    unsafe { &*cond.cast() }
}

/// Initializes a condition variable without waiters, regardless of the previous contents: the same
/// as assigning `ONDECK_COND_INIT`.
///
/// # Safety
///
/// `cond` points to memory for a condition variable, which no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_init(cond: *mut Cond) {
    // SAFETY: as the caller promises.
    unsafe { cond.write(Cond { byte: UnsafeCell::new(0) }) };
}

/// Ends the use of a condition variable. Returns 0, or EBUSY if a thread waits: the condition
/// variable then stays usable.
///
/// # Safety
///
/// `cond` points to a condition variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_destroy(cond: *mut Cond) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { raw(cond) }.has_waiters() { libc::EBUSY } else { 0 }
}

/// Unlocks the mutex, sleeps until the thread is notified, and locks the mutex again. Returns 0,
/// always.
///
/// The condition may have changed again before the caller has locked the mutex, so wait in a loop
/// that tests it. Not a cancellation point.
///
/// # Safety
///
/// `cond` points to a condition variable, `mutex` to a mutex that the calling thread has locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_wait(cond: *mut Cond, mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw(cond).wait(raw_mutex(mutex), None) };
    0
}

/// As `ondeck_cond_clockwait` with `CLOCK_REALTIME`.
///
/// # Safety
///
/// As for `ondeck_cond_clockwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_timedwait(
    cond: *mut Cond,
    mutex: *mut Mutex,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_cond_clockwait(cond, mutex, system::REALTIME, deadline) }
}

/// Unlocks the mutex, sleeps until the thread is notified or the clock is at `deadline`, an
/// absolute time, and locks the mutex again, however long that takes.
///
/// `clock` is `CLOCK_MONOTONIC` or `CLOCK_REALTIME`. A wait by `CLOCK_REALTIME` for more than a
/// second may return 0 after each second although the thread was not notified. This lets it notice
/// that the clock was set during the wait.
///
/// Returns 0; ETIMEDOUT, in which case the thread has consumed no notification; or EINVAL if the
/// clock is another one or the nanoseconds of the deadline are not between 0 and 999,999,999, in
/// which case the mutex was never unlocked. The caller holds the mutex in each case.
///
/// # Safety
///
/// As for `ondeck_cond_wait`; `deadline` points to a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_clockwait(
    cond: *mut Cond,
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    let Some(deadline) = Deadline::new(clock, unsafe { &*deadline }) else { return libc::EINVAL };
    // SAFETY: as the caller promises.
    let notified = unsafe { raw(cond).wait(raw_mutex(mutex), Some(deadline.next_look())) };
    if notified || !deadline.has_come() { 0 } else { libc::ETIMEDOUT }
}

/// Notifies one waiter, if there is one. Returns 0, always. Only a load if no thread waits.
///
/// # Safety
///
/// `cond` points to a condition variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_signal(cond: *mut Cond) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw(cond).notify_one() };
    0
}

/// Notifies every waiter. Returns 0, always. Only a load if no thread waits.
///
/// # Safety
///
/// `cond` points to a condition variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_broadcast(cond: *mut Cond) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw(cond).notify_all() };
    0
}

/// Completes an inlined signal that has found that threads may wait.
///
/// # Safety
///
/// As for `ondeck_cond_signal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_signal_waiters(cond: *mut Cond) {
    // SAFETY: as the caller promises.
    unsafe { raw(cond).notify_one() };
}

/// Completes an inlined broadcast that has found that threads may wait.
///
/// # Safety
///
/// As for `ondeck_cond_broadcast`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_broadcast_waiters(cond: *mut Cond) {
    // SAFETY: as the caller promises.
    unsafe { raw(cond).notify_all() };
}
