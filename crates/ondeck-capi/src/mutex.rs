//! `ondeck_mutex_t`: the functions of C, each over [`RawMutex`].

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::sync::atomic::AtomicU8;

use ondeck::mutex::RawMutex;
use ondeck::platform::Native;

use crate::deadline::{Deadline, is_clock};
use crate::system;

/// A mutex: one byte. It begins as `ONDECK_MUTEX_INIT`, which is zero; so memory that is all zeros
/// has free mutexes in it, and a static one needs no initializer. It has no other resources: it may
/// be freed without `ondeck_mutex_destroy` while no thread uses it, and by a thread that has just
/// unlocked it.
///
/// It is of one process, and not recursive: a thread that locks it twice waits for ever. The thread
/// that has locked it unlocks it. A copy of it is another mutex.
#[repr(C)]
pub struct Mutex {
    /// 0 while it is free. For the functions of this header only.
    pub byte: UnsafeCell<u8>,
}

const _: () = assert!(size_of::<Mutex>() == 1 && align_of::<Mutex>() == 1);
const _: () = assert!(size_of::<Mutex>() == size_of::<RawMutex<Native>>());

/// The mutex that C means.
///
/// # Safety
///
/// `mutex` points to one that lives as long as the borrow is used.
pub(crate) unsafe fn raw<'a>(mutex: *const Mutex) -> &'a RawMutex<Native> {
    // SAFETY: both are one byte that is only accessed atomically, 0 or 1; it is there, as the
    // caller promises.
    unsafe { &*mutex.cast() }
}

/// Makes a mutex free, whatever was there before.
///
/// As an assignment of `ONDECK_MUTEX_INIT`; for memory that is used again under ThreadSanitizer,
/// which is told so.
///
/// # Safety
///
/// `mutex` points to memory for one, which no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_init(mutex: *mut Mutex) {
    // SAFETY: as the caller promises.
    unsafe { mutex.write(Mutex { byte: UnsafeCell::new(0) }) };
}

/// Says that a mutex is not used any more. Returns 0, or EBUSY if it is locked: then it is still a
/// mutex.
///
/// Frees nothing, because a mutex has nothing but its byte.
///
/// # Safety
///
/// `mutex` points to a mutex.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_destroy(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { raw(mutex) }.is_locked() { libc::EBUSY } else { 0 }
}

/// Waits until the mutex is the calling thread's. Returns 0, always.
///
/// Everything before an unlock happens before what follows the next lock. Not a cancellation point;
/// a signal that the thread handles does not end it.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread has not locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_lock(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    let mutex = unsafe { raw(mutex) };
    if !mutex.try_lock() {
        mutex.lock_after_attempt(None);
    }
    0
}

/// Locks the mutex if it is free. Returns 0, or EBUSY if a thread has it.
///
/// # Safety
///
/// `mutex` points to a mutex.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_mutex_trylock(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { raw(mutex) }.try_lock() { 0 } else { libc::EBUSY }
}

/// As `ondeck_mutex_clocklock` with `CLOCK_REALTIME`.
///
/// # Safety
///
/// As for `ondeck_mutex_clocklock`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_mutex_timedlock(
    mutex: *mut Mutex,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_mutex_clocklock(mutex, system::REALTIME, deadline) }
}

/// Waits until the mutex is the calling thread's, or until the clock is at `deadline`, an absolute
/// time.
///
/// `clock` is `CLOCK_MONOTONIC` or `CLOCK_REALTIME`. A free mutex is locked even if the deadline
/// has passed. If the real time is set while the thread waits, it notices within a second.
///
/// Returns 0; ETIMEDOUT; or EINVAL if the clock is another one, or if the mutex is not free and the
/// nanoseconds of the deadline are not between 0 and 999,999,999. The mutex is the caller's after a
/// 0 only.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread has not locked, `deadline` to a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_mutex_clocklock(
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    if !is_clock(clock) {
        return libc::EINVAL;
    }
    // SAFETY: as the caller promises.
    let (mutex, deadline) = unsafe { (raw(mutex), &*deadline) };
    if mutex.try_lock() {
        return 0;
    }
    let Some(deadline) = Deadline::new(clock, deadline) else { return libc::EINVAL };
    loop {
        if mutex.lock_after_attempt(Some(deadline.next_look())) {
            return 0;
        }
        if deadline.has_come() {
            return libc::ETIMEDOUT;
        }
    }
}

/// Unlocks the mutex. Returns 0, always.
///
/// The mutex is not touched after another thread can have locked it: that thread may unlock and
/// free it.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread has locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_unlock(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises. `raw` is not used after the unlock.
    unsafe { raw(mutex).unlock() };
    0
}

/// The rest of an inlined lock, which has found the mutex locked.
///
/// # Safety
///
/// As for `ondeck_mutex_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_lock_contended(mutex: *mut Mutex) {
    // SAFETY: as the caller promises.
    unsafe { raw(mutex) }.lock_after_attempt(None);
}

/// The whole of an unlock, for an inlined one that has found another unlock mode than
/// `ONDECK_UNLOCK_QUIET`.
///
/// # Safety
///
/// As for `ondeck_mutex_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_unlock_contended(mutex: *mut Mutex) {
    // SAFETY: as the caller promises.
    unsafe { raw(mutex).unlock_when_asked() };
}

/// The rest of an inlined unlock, which has stored 0 and then found another unlock mode than
/// `ONDECK_UNLOCK_QUIET`. The mutex may be gone by now: `mutex` is an address.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_mutex_unlocked(mutex: *const Mutex) {
    RawMutex::<Native>::look_after_store(mutex.cast::<AtomicU8>());
}
