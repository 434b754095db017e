//! The C functions of `ondeck_sem_t`, each a wrapper of [`Semaphore`].

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_uint};

use libc::{EAGAIN, EINVAL, EOVERFLOW};
use ondeck::Semaphore;
use ondeck::semaphore::MOST_PERMITS;
use ondeck::stats::LockKind;

use crate::abi::ONDECK_SEM_PERMIT;
use crate::deadline::acquire;
use crate::names;

/// A counting semaphore: four bytes. Its initial value is `ONDECK_SEM_INIT(permits)`. It has no
/// other resources, and may be freed by a thread that has acquired, if no other uses it.
///
/// It must not be shared between processes. It has `ONDECK_SEM_MOST` permits at most.
#[repr(C)]
pub struct Sem {
    /// Private to the functions of this header.
    pub word: UnsafeCell<u32>,
}

const _: () = assert!(size_of::<Sem>() == size_of::<Semaphore>());
const _: () = assert!(align_of::<Sem>() == align_of::<Semaphore>());

/// Converts C's pointer to the semaphore.
///
/// # Safety
///
/// `sem` points to a semaphore that outlives the use of the borrow.
unsafe fn raw<'a>(sem: *const Sem) -> &'a Semaphore {
    // SAFETY: both types are one word that is only accessed atomically. The caller promises that it
    // is alive.
    unsafe { &*sem.cast() }
}

/// Initializes a semaphore, regardless of the previous contents. Returns 0, or EINVAL if there are
/// too many permits.
///
/// # Safety
///
/// `sem` points to memory for a semaphore, which no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_sem_init(sem: *mut Sem, permits: c_uint) -> c_int {
    if permits > MOST_PERMITS {
        return EINVAL;
    }
    // SAFETY: as the caller promises.
    unsafe { sem.write(Sem { word: UnsafeCell::new(permits * ONDECK_SEM_PERMIT) }) };
    names::set(sem.addr(), core::ptr::null());
    0
}

/// Waits for a permit. Returns 0, always.
///
/// # Safety
///
/// `sem` points to a semaphore.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_sem_wait(sem: *mut Sem) -> c_int {
    // SAFETY: as the caller promises.
    let raw = unsafe { raw(sem) };
    let of = (sem.addr(), LockKind::Semaphore);
    names::acquire(of, || raw.try_acquire(), || raw.acquire());
    0
}

/// Acquires a permit if there is one. Returns 0, or EAGAIN as sem_trywait(3) does.
///
/// # Safety
///
/// `sem` points to a semaphore.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_sem_trywait(sem: *mut Sem) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { raw(sem) }.try_acquire() { 0 } else { EAGAIN }
}

/// As `ondeck_sem_wait`, until a deadline as that of `ondeck_mutex_clocklock`. Returns 0, ETIMEDOUT
/// or EINVAL.
///
/// # Safety
///
/// `sem` points to a semaphore, `deadline` to a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_sem_clockwait(
    sem: *mut Sem,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    let of = Some((sem.addr(), LockKind::Semaphore));
    // SAFETY: as the caller promises.
    let sem = unsafe { raw(sem) };
    // SAFETY: as the caller promises.
    unsafe { acquire(of, clock, deadline, || sem.try_acquire(), |time| sem.try_acquire_by(time)) }
}

/// Releases a permit. Returns 0, or EOVERFLOW if there are `ONDECK_SEM_MOST` free ones. Everything
/// before it happens before what follows an acquisition of that permit. The semaphore is not
/// accessed after another thread may have acquired the permit.
///
/// # Safety
///
/// `sem` points to a semaphore.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_sem_post(sem: *mut Sem) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ondeck_sem_post_many(sem, 1) }
}

/// As `ondeck_sem_post`, for several permits in one step: all or, if they are too many, none.
///
/// # Safety
///
/// `sem` points to a semaphore.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_sem_post_many(sem: *mut Sem, permits: c_uint) -> c_int {
    // SAFETY: as the caller promises.
    let fits = permits <= MOST_PERMITS && unsafe { raw(sem) }.try_release(permits).is_ok();
    if fits { 0 } else { EOVERFLOW }
}
