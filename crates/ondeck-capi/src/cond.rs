//! `ondeck_cond_t`: the functions of C, each over [`RawCondvar`].

use core::cell::UnsafeCell;
use core::ffi::c_int;

use ondeck::condvar::RawCondvar;
use ondeck::platform::Native;

use crate::deadline::Deadline;
use crate::mutex::{Mutex, raw as raw_mutex};
use crate::system;

/// A condition variable for `ondeck_mutex_t`: one byte. It begins as `ONDECK_COND_INIT`, which is
/// zero; so memory that is all zeros has condition variables in it, and a static one needs no
/// initializer. It may be freed when no thread waits, and by a thread that it has notified last.
///
/// It is of one process. Its waiters may use different mutexes, even at the same time. A copy of it
/// is another one.
#[repr(C)]
pub struct Cond {
    /// 0 while no thread waits. For the functions of this header only.
    pub byte: UnsafeCell<u8>,
}

const _: () = assert!(size_of::<Cond>() == 1 && align_of::<Cond>() == 1);
const _: () = assert!(size_of::<Cond>() == size_of::<RawCondvar<Native>>());

/// The condition variable that C means.
///
/// # Safety
///
/// `cond` points to one that lives as long as the borrow is used.
unsafe fn raw<'a>(cond: *const Cond) -> &'a RawCondvar<Native> {
    // SAFETY: both are one byte that is only accessed atomically, 0 or 1; it is there, as the
    // caller promises.
    unsafe { &*cond.cast() }
}

/// Makes a condition variable that no thread waits for, whatever was there before: as an assignment
/// of `ONDECK_COND_INIT`.
///
/// # Safety
///
/// `cond` points to memory for one, which no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_init(cond: *mut Cond) {
    // SAFETY: as the caller promises.
    unsafe { cond.write(Cond { byte: UnsafeCell::new(0) }) };
}

/// Says that a condition variable is not used any more. Returns 0, or EBUSY if a thread waits: then
/// it is still one.
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
/// The caller's condition may have changed again before it has the mutex: wait in a loop that asks
/// for it. No cancellation point.
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
/// second may return 0 after each second although the thread was not notified: so that a clock that
/// is set meanwhile is noticed.
///
/// Returns 0; ETIMEDOUT, and the thread has not used up a notification; or EINVAL if the clock is
/// another one or the nanoseconds of the deadline are not between 0 and 999,999,999: then the mutex
/// was never unlocked. The mutex is the caller's in each case.
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

/// Notifies one waiter, if there is one. Returns 0, always. A load if no thread waits.
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

/// Notifies every waiter. Returns 0, always. A load if no thread waits.
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

/// The rest of an inlined signal, which has found that threads may wait.
///
/// # Safety
///
/// As for `ondeck_cond_signal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_signal_waiters(cond: *mut Cond) {
    // SAFETY: as the caller promises.
    unsafe { raw(cond).notify_one() };
}

/// The rest of an inlined broadcast, which has found that threads may wait.
///
/// # Safety
///
/// As for `ondeck_cond_broadcast`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_cond_broadcast_waiters(cond: *mut Cond) {
    // SAFETY: as the caller promises.
    unsafe { raw(cond).notify_all() };
}
