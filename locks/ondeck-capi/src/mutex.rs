//! The C functions of `ondeck_mutex_t`, each a wrapper of [`RawMutex`].

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::AtomicU8;

use ondeck::mutex::RawMutex;
use ondeck::platform::Native;
use ondeck::stats::LockKind;

use crate::deadline::acquire;
use crate::{names, system};

/// A mutex: one byte. Its initial value is `ONDECK_MUTEX_INIT`, which is zero, so zeroed memory is
/// a free mutex and a static one needs no initializer. It has no other resources: it may be freed
/// without `ondeck_mutex_destroy` while no thread uses it, also by a thread that has just unlocked
/// it.
///
/// It must not be shared between processes. It is not recursive: a thread that locks it twice waits
/// forever. Only the thread that locked it may unlock it. A copy of it is another mutex.
#[repr(C)]
pub struct Mutex {
    /// 0 while it is free. Private to the functions of this header.
    pub byte: UnsafeCell<u8>,
}

const _: () = assert!(size_of::<Mutex>() == 1 && align_of::<Mutex>() == 1);
const _: () = assert!(size_of::<Mutex>() == size_of::<RawMutex<Native>>());

/// Converts C's pointer to the mutex.
///
/// # Safety
///
/// `mutex` points to a mutex that outlives the use of the borrow.
pub(crate) unsafe fn raw<'a>(mutex: *const Mutex) -> &'a RawMutex<Native> {
    // SAFETY: both types are one byte, 0 or 1, that is only accessed atomically. The caller
    // promises that it is alive.
    unsafe { &*mutex.cast() }
}

/// Initializes a free mutex, regardless of the previous contents.
///
/// The same as assigning `ONDECK_MUTEX_INIT`, but also informs ThreadSanitizer, which has to know
/// when memory is reused.
///
/// # Safety
///
/// `mutex` points to memory for a mutex, which no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_init(mutex: *mut Mutex) {
    // SAFETY: as the caller promises.
    unsafe { mutex.write(Mutex { byte: UnsafeCell::new(0) }) };
    names::set(mutex.addr(), ptr::null());
}

/// Ends the use of a mutex. Returns 0, or EBUSY if it is locked: the mutex then stays usable.
///
/// Frees nothing, because a mutex consists of its byte only. Its name is taken away.
///
/// # Safety
///
/// `mutex` points to a mutex.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_destroy(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { raw(mutex) }.is_locked() {
        return libc::EBUSY;
    }
    names::set(mutex.addr(), ptr::null());
    0
}

/// Locks the mutex, waiting until it is free. Returns 0, always.
///
/// Everything before an unlock happens before everything after the next lock. Not a cancellation
/// point. A signal handler that runs during the wait does not end it.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread has not locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_lock(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    if !unsafe { raw(mutex) }.try_lock() {
        // SAFETY: as above.
        unsafe { ondeck_mutex_lock_contended(mutex) };
    }
    0
}

/// Locks the mutex if it is free. Returns 0, or EBUSY if it is locked.
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

/// Locks the mutex, waiting until it is free or until the clock reaches `deadline`, an absolute
/// time.
///
/// `clock` is `CLOCK_MONOTONIC` or `CLOCK_REALTIME`. A free mutex is locked even if the deadline
/// has passed. If the real time is set during the wait, the thread notices within a second.
///
/// Returns 0; ETIMEDOUT; or EINVAL if the clock is another one, or if the mutex is not free and the
/// nanoseconds of the deadline are not between 0 and 999,999,999. The caller holds the mutex only
/// after a 0.
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
    let of = Some((mutex.addr(), LockKind::Mutex));
    // SAFETY: as the caller promises.
    let mutex = unsafe { raw(mutex) };
    let until = |time| mutex.lock_after_attempt(Some(time));
    // SAFETY: as the caller promises.
    unsafe { acquire(of, clock, deadline, || mutex.try_lock(), until) }
}

/// Unlocks the mutex. Returns 0, always.
///
/// The mutex is not accessed after another thread may have locked it: that thread may unlock and
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

/// Completes an inlined lock that has found the mutex locked.
///
/// # Safety
///
/// As for `ondeck_mutex_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_lock_contended(mutex: *mut Mutex) {
    names::wait((mutex.addr(), LockKind::Mutex), || {
        // SAFETY: as the caller promises.
        unsafe { raw(mutex) }.lock_after_attempt(None)
    });
}

/// Unlocks the mutex for an inlined unlock that has found an unlock mode other than
/// `ONDECK_UNLOCK_QUIET`, and has not stored yet.
///
/// # Safety
///
/// As for `ondeck_mutex_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_mutex_unlock_contended(mutex: *mut Mutex) {
    // SAFETY: as the caller promises.
    unsafe { raw(mutex).unlock_when_asked() };
}

/// Completes an inlined unlock that has stored 0 and then found an unlock mode other than
/// `ONDECK_UNLOCK_QUIET`. The mutex may be freed already: `mutex` is only an address.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_mutex_unlocked(mutex: *const Mutex) {
    RawMutex::<Native>::look_after_store(mutex.cast::<AtomicU8>());
}
